import type { Test } from 'tap'
import type { AutomationDefinition } from '../../src/automations/definition/definition.js'
import { runSome } from '../../src/automations/engine/engine.js'
import { acceptEvents, archiveAutomation, type EventInput } from '../../src/automations/index.js'
import { listRuns, type Run } from '../../src/automations/runs/runs.js'
import { runStatuses } from '../../src/automations/runs/status.js'
import { prepared } from '../../src/store/index.js'
import { suppress } from '../../src/suppression/index.js'
import { openEngine } from './automation-rig.js'

/** The rig of an engine whose time jumps from one due step to the next, as in a simulation. */
export async function openTimeline(t: Test) {
  const rig = await openEngine(t)
  const { store, clock, accountId } = rig
  // Nothing takes mails out of the queue.
  const deps = { ...rig.deps, maxQueued: Number.MAX_SAFE_INTEGER }
  const timeline = {
    store,
    clock,
    accountId,
    deps,
    counted: rig.counted,
    saveTemplate: rig.saveTemplate,
    enable: ({ steps, connections, settings }: AutomationDefinition): Promise<string> =>
      rig.enabled(steps, { connections, ...(settings === undefined ? {} : { settings }) }),
    archive: (id: string) => archiveAutomation(deps, accountId, id),
    contact: rig.add,
    /** The contact unsubscribes, or their mail bounces. */
    depart: (email: string, reason: 'unsubscribe' | 'bounce') =>
      store.write((tx) => suppress(tx, accountId, { email, reason }, clock.now())),
    /** Events in one batch. */
    accept: async (...events: EventInput[]) =>
      await acceptEvents(rig.accepting, await rig.billing(), events),
    /** Runs all that is due now. */
    settle: async (): Promise<void> => {
      while (await runSome(deps, accountId));
    },
    /** What `passUntil` does at each time at which something is due; a test may replace it. */
    step: async (): Promise<void> => await timeline.settle(),
    /** Lets the engine run everything that is due before `at`, each at its time; afterwards the clock shows `at`. */
    passUntil: async (at: number): Promise<void> => {
      for (;;) {
        const [next] = await nextDue(store.read, {})
        if (next?.dueAt == null || next.dueAt >= at) break
        await clock.advance(Math.max(0, next.dueAt - clock.now()))
        await timeline.step()
      }
      await clock.advance(at - clock.now())
    },
    /** All runs of the automation, the oldest first. */
    runs: async (automationId: string): Promise<Run[]> => {
      const asked = { statuses: runStatuses, limit: 1_000 }
      const { runs } = await listRuns(store.read, automationId, asked)
      return runs.reverse()
    },
  }
  return timeline
}

const nextDue = prepared<object, { dueAt: number | null }>((db) =>
  db.selectFrom('automation_live').select((eb) => eb.fn.min('due_at').as('dueAt')),
)
