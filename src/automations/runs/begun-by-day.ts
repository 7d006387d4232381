import { nextTurn } from '../../bounded/index.js'
import { dayMs } from '../../clock/index.js'
import { firstUuidAt, prepared, type Read } from '../../store/index.js'

/** The runs of an automation that began on a day, by what became of them: still in it, at the end, or gone before. */
export interface BegunDay {
  /** When the day begins, UTC. */
  at: number
  live: number
  completed: number
  left: number
}

/**
 * The last days, the oldest first; ids rise with the beginning of runs, so each day is a stretch of two indexes. A day
 * takes a few milliseconds for each ten thousand runs, with turns for others between days.
 */
export async function begunByDay(
  read: Read,
  automationId: string,
  { days, now }: { days: number; now: number },
): Promise<BegunDay[]> {
  const today = now - (now % dayMs)
  const found: BegunDay[] = []
  for (let back = days - 1; back >= 0; back--) {
    const at = today - back * dayMs
    const stretch = { automationId, from: firstUuidAt(at), to: firstUuidAt(at + dayMs) }
    const [live] = await liveBetween(read, stretch)
    const ended = await endedBetween(read, stretch)
    const sum = (isIt: (status: string) => boolean) =>
      ended.reduce((all, { status, runs }) => all + (isIt(status) ? runs : 0), 0)
    found.push({
      at,
      live: live?.runs ?? 0,
      completed: sum((status) => status === 'completed'),
      left: sum((status) => status !== 'completed'),
    })
    await nextTurn()
  }
  return found
}

interface Stretch {
  automationId: string
  from: string
  to: string
}

const liveBetween = prepared<Stretch, { runs: number }>((db, { automationId, from, to }) =>
  db
    .selectFrom('automation_live')
    .select((eb) => eb.fn.countAll<number>().as('runs'))
    .where('automation_id', '=', automationId)
    .where('id', '>=', from)
    .where('id', '<', to),
)

const endedBetween = prepared<Stretch, { status: string; runs: number }>(
  (db, { automationId, from, to }) =>
    db
      .selectFrom('automation_runs')
      .select('status')
      .select((eb) => eb.fn.countAll<number>().as('runs'))
      .where('automation_id', '=', automationId)
      .where('id', '>=', from)
      .where('id', '<', to)
      .groupBy('status'),
)
