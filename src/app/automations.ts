import {
  blockedReasons,
  cancelArchived,
  finishReleases,
  liveFigures,
  nextDueAt,
  runBackfills,
  type Versions,
  wakeBlocked,
} from '../automations/index.js'
import type { Plans } from '../billing/index.js'
import { type Clock, pause } from '../clock/index.js'
import type { Log } from '../log/index.js'
import type { Meter } from '../metrics/index.js'
import { holdsPart } from '../nodes/index.js'
import { forgetMore, hasForgotten } from '../runs/index.js'
import { type Store, sinceCommit } from '../store/index.js'
import type { Chore } from './housekeeping.js'

// Runs that fall due sooner than the next look have an alarm of their own.
const lookMs = 5_000
// An operator who has unpaused an account looks whether its mail leaves.
const wakeMs = 2_000
// Between writes others have their turn.
const restMs = 20

/** Starts the engine when a step falls due, and finishes what an archiving has left half done. */
export function automationChores({
  store,
  clock,
  log,
  plans,
  versions,
  isFull,
  meter,
  automate,
  automateHere,
}: {
  store: Store
  clock: Clock
  log: Log
  plans: Plans
  versions: Versions
  isFull: () => Promise<boolean>
  meter: Meter
  automate: () => void
  /** The same for this node's part alone. */
  automateHere: () => void
}): Chore[] {
  const isOurs = (accountId: string) => holdsPart(store.node, 'automate', accountId)
  const nextDue = sinceCommit(store, () => nextDueAt(store.read, isOurs))
  return [
    {
      name: 'automations that are due',
      of: 'automate',
      everyMs: lookMs,
      async run(signal) {
        const dueAt = await nextDue()
        const inMs = dueAt === undefined ? lookMs : dueAt - clock.now()
        if (inMs <= 0) automateHere()
        // By the looks alone a delay of an hour would be up to five seconds longer.
        else if (inMs < lookMs) {
          const cancel = clock.after(inMs, () => {
            signal.removeEventListener('abort', cancel)
            automateHere()
          })
          signal.addEventListener('abort', cancel, { once: true })
        }
      },
    },
    {
      // Looked at only after commits: only a write can have ended what blocks a run.
      name: 'runs whose account may go on',
      of: 'chores',
      everyMs: wakeMs,
      run: sinceCommit(store, (signal) => wakeBlocked({ store, clock, automate }, signal)),
    },
    {
      name: 'automations that are started over lists',
      of: 'chores',
      everyMs: lookMs,
      rests: true,
      run: (signal) => runBackfills({ store, clock, plans, versions, isFull, automate }, signal),
    },
    {
      name: 'gauges of automations',
      of: 'node',
      everyMs: 15_000,
      rests: true,
      run: () => showFigures({ store, clock, meter }),
    },
    {
      name: 'resumes of automations that were broken off',
      of: 'chores',
      everyMs: lookMs,
      rests: true,
      run: async (signal) =>
        (await finishReleases({ store, clock, log }, signal)) ? clock.now() : undefined,
    },
    {
      name: 'runs of archived automations',
      of: 'chores',
      everyMs: 30_000,
      rests: true,
      run: (signal) => cancelArchived({ store, clock }, signal),
    },
    {
      name: 'events of deleted contacts',
      of: 'chores',
      everyMs: 5_000,
      run: sinceCommit(store, async (signal) => {
        // Asked first: nearly always there is nothing, and then nobody loses their turn to write.
        while (!signal.aborted && (await hasForgotten(store.read))) {
          await store.write((tx) => forgetMore(tx))
          await pause(clock, restMs, signal)
        }
      }),
    },
  ]
}

/** Counts by queries, and so only now and then. Resolves with from when on something is late. */
export async function showFigures({
  store: { read },
  clock,
  meter,
}: {
  store: Store
  clock: Clock
  meter: Meter
}): Promise<number | undefined> {
  const { running, waiting, blocked } = await liveFigures(read)
  meter.gauge('posthorn_automation_live', { status: 'running' }, running)
  meter.gauge('posthorn_automation_live', { status: 'waiting' }, waiting)
  // A reason that blocks no run any more is set to 0, or its gauge would stay as it was.
  for (const reason of [...blockedReasons, 'held'] as const) {
    meter.gauge('posthorn_automation_blocked', { reason }, blocked.get(reason) ?? 0)
  }
  const dueAt = await nextDueAt(read)
  const lateMs = dueAt === undefined ? 0 : Math.max(0, clock.now() - dueAt)
  meter.gauge('posthorn_automation_oldest_due_seconds', {}, lateMs / 1_000)
  return dueAt
}
