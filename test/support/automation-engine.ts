import type { Test } from 'tap'
import { acceptEvents, type EventInput } from '../../src/automations/accept.js'
import type { AutomationDefinition } from '../../src/automations/definition.js'
import {
  type EngineDeps,
  makeEngineMemory,
  nextDueAt,
  runSome,
} from '../../src/automations/engine.js'
import { endStatuses, listRuns, liveStatuses, type Run } from '../../src/automations/runs.js'
import {
  archiveAutomation,
  createAutomation,
  enableAutomation,
} from '../../src/automations/state.js'
import { readBilling, setPlan } from '../../src/billing/index.js'
import { loadConfig } from '../../src/config/index.js'
import { addContact } from '../../src/contacts/index.js'
import { putTemplate } from '../../src/templates/index.js'
import { openCampaigns, plans } from './campaigns.js'
import { FakeClock } from './clock.js'

/**
 * The real engine over a real store, in this thread: events come in as over HTTP, but for the HTTP;
 * time passes only as the test says, and the engine runs only then.
 */
export async function openEngine(t: Test, start?: number) {
  const clock = new FakeClock(start)
  const { store, log, accountId, backlog, renderer } = await openCampaigns(t, { clock })
  const endless = plans.email.find((plan) => plan.monthlyLimit === null)
  if (endless === undefined) throw new Error('No plan is without a limit')
  await store.write((tx) => setPlan(tx, accountId, endless))
  const { retry, maxQueued } = loadConfig({ env: {} }).outbound
  const deps: EngineDeps = {
    ...{ store, clock, log, plans, backlog, maxQueued, retry, renderer },
    ring: () => {},
    ...makeEngineMemory(),
  }
  const billing = () => readBilling(store.read, plans, accountId)

  /** Runs all that is due now. */
  const settle = async (): Promise<void> => {
    while (await runSome(deps, accountId));
  }
  const rig = {
    ...{ store, clock, accountId, deps, billing, settle },
    template: (slug: string, subject: string, html = '<p>Hello</p>') =>
      putTemplate({ store, clock, renderer }, accountId, { slug, subject, html }),
    enable: async (definition: AutomationDefinition): Promise<string> => {
      const { id } = await createAutomation(deps, await billing(), { name: 'Any', ...definition })
      await enableAutomation(deps, await billing(), id)
      return id
    },
    archive: (id: string) => archiveAutomation(deps, accountId, id),
    contact: async (email: string, more: { firstName?: string; metadata?: object } = {}) =>
      (await addContact({ store, clock }, accountId, { email, ...more } as never)).contact,
    accept: async (...events: EventInput[]) =>
      await acceptEvents({ ...deps, automate: () => {} }, await billing(), events),
    /** Lets the engine run what falls due before then, each at its time; it is that time afterwards. */
    passUntil: async (at: number): Promise<void> => {
      for (;;) {
        const due = await nextDueAt(store.read)
        if (due === undefined || due >= at) break
        await clock.advance(Math.max(0, due - clock.now()))
        await rig.step()
      }
      await clock.advance(at - clock.now())
    },
    /** What `passUntil` does at each due time; tests may put more into it. */
    step: settle,
    /** All runs of the automation, the oldest first. */
    runs: async (automationId: string): Promise<Run[]> => {
      const statuses = [...liveStatuses, ...endStatuses]
      return (await listRuns(store.read, automationId, { statuses, limit: 1_000 })).reverse()
    },
  }
  return rig
}
