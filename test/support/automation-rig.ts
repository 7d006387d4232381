import type { Test } from 'tap'
import { createAccount } from '../../src/accounts/index.js'
import {
  acceptEvents,
  createAutomation,
  disableAutomation,
  drawnEnds,
  type EngineDeps,
  type EventInput,
  editAutomation,
  enableAutomation,
  endKindOf,
  findAutomation,
  findRun,
  makeEngineMemory,
  makeFollowAutomations,
  runAutomations,
} from '../../src/automations/index.js'
import { readBilling, setMarketingPlan } from '../../src/billing/index.js'
import { loadConfig, makeApplianceKey } from '../../src/config/index.js'
import { addContact, createList } from '../../src/contacts/index.js'
import { joinBacklog, makeBacklogMemory, type StreamDue } from '../../src/deliveries/index.js'
import { addDomain } from '../../src/domains/index.js'
import { makeLandEvents } from '../../src/events/index.js'
import { silentLog } from '../../src/log/index.js'
import { makeTally } from '../../src/metrics/index.js'
import type { Store } from '../../src/store/index.js'
import { suppressFailing } from '../../src/suppression/index.js'
import { openRenderer, putTemplate } from '../../src/templates/index.js'
import { plans } from './campaigns.js'
import { FakeClock } from './clock.js'
import { openTestStore } from './store.js'
import { rsaPair } from './template.js'

export type Steps = readonly object[]
export interface Graph {
  connections?: object[]
  settings?: object
}

export const trigger = (eventName = 'signup', more: object = {}) => ({
  key: 'start',
  type: 'trigger',
  config: { eventName, ...more },
})
export const send = (key: string, more: object = {}) => ({
  key,
  type: 'send_email',
  config: { template: 'hello', from: 'Us <us@sender.test>', ...more },
})
export const delay = (key: string, duration: string) => ({
  key,
  type: 'delay',
  config: { duration },
})
export const exit = (key = 'end') => ({ key, type: 'exit' })
export const wait = (key: string, eventName: string, more: object = {}) => ({
  key,
  type: 'wait_for_event',
  config: { eventName, ...more },
})

/** Connections from each step to the next: from a wait where the event came, from a condition where it is met. */
export function inARow(steps: Steps): object[] {
  const named = steps as readonly { key: string; type: string }[]
  return named.slice(1).map(({ key: to }, place) => {
    const { key: from = '', type = '' } = named[place] ?? {}
    return { from, to, type: mainEnds[type] ?? 'default' }
  })
}

const mainEnds: Record<string, string> = {
  wait_for_event: 'event_received',
  condition: 'condition_met',
}

/** The engine over a real store with a clock of the test's own, an account and the template `hello`. */
export async function openEngine(
  t: Test,
  {
    clock = new FakeClock(),
    ...place
  }: { clock?: FakeClock; store?: Store; accountId?: string } = {},
) {
  const store = place.store ?? (await openTestStore(t, { clock }))
  const accountId = place.accountId ?? (await createAccount({ store, clock }, 'City')).id
  const key = makeApplianceKey(Buffer.alloc(32, 7))
  const domain = await addDomain({ store, clock, key }, accountId, 'sender.test', {
    trust: true,
    rsaPair: await rsaPair(),
  })
  const pro = plans.marketing.find(({ name }) => name === 'Marketing Pro') ?? null
  await store.write((tx) => setMarketingPlan(tx, accountId, pro))
  const renderer = openRenderer({ log: silentLog, clock })
  t.teardown(() => renderer.close())
  const saveTemplate = (slug: string, more: { subject?: string; html?: string } = {}) =>
    putTemplate({ store, clock, renderer }, accountId, {
      slug,
      subject: 'Hello',
      html: '<p>Hello</p>',
      ...more,
    })
  await saveTemplate('hello')
  const { id: listId } = await createList({ store, clock }, accountId, 'Readers')
  const rung: StreamDue[] = []
  const { retry } = loadConfig({ env: {} }).outbound
  const memory = makeEngineMemory()
  const tally = makeTally()
  const deps: EngineDeps = {
    store,
    clock,
    log: silentLog,
    plans,
    retry,
    surges: { minimum: 0, times: 10 },
    renderer,
    ...memory,
    backlog: joinBacklog(makeBacklogMemory()),
    maxQueued: 1_000,
    meter: tally,
    ring: (due) => rung.push(...due),
  }
  const accepting = {
    store,
    clock,
    plans,
    versions: memory.versions,
    meter: tally,
    automate: () => {},
    automateIfDue: () => {},
    isFull: async () => false,
  }
  const billing = () => readBilling(store.read, plans, accountId)
  const rig = {
    clock,
    store,
    accountId,
    deps,
    domainId: domain.id,
    renderer,
    rung,
    listId,
    memory,
    saveTemplate,
    billing,
    accepting,
    tally,
    land: makeLandEvents([suppressFailing, makeFollowAutomations(async () => false)]),
    create: async (steps: Steps, { connections, settings }: Graph = {}, name = 'Welcome') =>
      (
        await createAutomation(deps, await billing(), {
          name,
          steps,
          connections: connections ?? inARow(steps),
          settings,
        })
      ).id,
    async enabled(steps: Steps, graph: Graph = {}, name = 'Welcome'): Promise<string> {
      const id = await rig.create(steps, graph, name)
      await enableAutomation(deps, await billing(), id)
      return id
    },
    /** Enables the automation in a new version. */
    revise: async (id: string, steps: Steps, { connections, settings }: Graph = {}) => {
      await disableAutomation(deps, accountId, id)
      const changes = { steps, connections: connections ?? inARow(steps), settings }
      await editAutomation(deps, await billing(), id, changes)
      await enableAutomation(deps, await billing(), id)
    },
    add: async (email: string, more: object = {}) =>
      (await addContact({ store, clock }, accountId, { email, ...more }, { listId })).contact,
    /** Takes in one event; `signup` of ann@example.com by default. */
    event: async (input: Partial<EventInput> = {}) => {
      const whom = input.contactId === undefined ? { email: 'ann@example.com' } : {}
      const given = { event: 'signup', ...whom, ...input }
      const [accepted] = await acceptEvents(accepting, await billing(), [given])
      if (accepted === undefined) throw new Error('Nothing was accepted')
      return accepted
    },
    /** Starts a run and resolves with its id. */
    start: async (input: Partial<EventInput> = {}): Promise<string> => {
      const { automations } = await rig.event(input)
      const id = automations[0]?.runId
      if (id == null) throw new Error(`No run: ${JSON.stringify(automations)}`)
      return id
    },
    /** Runs what is due until nothing is. */
    work: async (more: Partial<EngineDeps> = {}): Promise<void> => {
      const done = new AbortController()
      await runAutomations({ ...deps, ...more }, done.signal, async () => done.abort())
    },
    /** Moves the clock, then works. */
    pass: async (ms: number): Promise<void> => {
      await clock.advance(ms)
      await rig.work()
    },
    run: (id: string) => findRun(store.read, accountId, id),
    /** The results of a run so far: `key result` in a row. */
    story: async (id: string): Promise<string> => {
      const { history } = await rig.run(id)
      return history.map(({ step, result }) => `${step} ${result}`).join(', ')
    },
    automation: (id: string) => findAutomation(store.read, accountId, id),
    mails: () =>
      store.read
        .selectFrom('emails')
        .innerJoin('queue', 'queue.email_id', 'emails.id')
        .select(['emails.id', 'to_list', 'subject', 'type', 'class', 'automation_step_id'])
        .orderBy('emails.id')
        .execute(),
    /** Checks that the counters match the rows, whatever has happened. */
    counted: async (id: string): Promise<void> => {
      const live = await store.read
        .selectFrom('automation_live')
        .select('status')
        .where('automation_id', '=', id)
        .execute()
      const ended = await store.read
        .selectFrom('automation_runs')
        .select(['status', 'step_id', 'reason'])
        .where('automation_id', '=', id)
        .execute()
      const exits = new Set(await drawnEnds(store.read, id))
      const kinds = ended.map((row) => endKindOf(row, exits))
      const rows = [...live, ...ended].map(({ status }) => status)
      const automation = await rig.automation(id)
      for (const status of [
        'running',
        'waiting',
        'completed',
        'exited',
        'failed',
        'cancelled',
      ] as const) {
        t.equal(
          automation[status],
          rows.filter((one) => one === status).length,
          `${status} counted`,
        )
      }
      for (const kind of ['step', 'event', 'goal'] as const) {
        const meant = kinds.filter((one) => one === kind).length
        t.equal(automation[`by_${kind}`], meant, `ended by a ${kind}, counted`)
      }
    },
  }
  return rig
}

export const minuteMs = 60_000
export const hourMs = 60 * minuteMs
export const dayMs = 24 * hourMs

/** Moves the clock on while the work rests between writes. */
export async function passing<T>(clock: FakeClock, work: Promise<T>): Promise<T> {
  let done = false
  const settled = work.finally(() => {
    done = true
  })
  while (!done) await clock.advance(20)
  return await settled
}
