import { type Clock, type Repeating, repeat } from '../clock/index.js'
import type { Log } from '../log/index.js'
import { holds } from '../nodes/index.js'
import { isPassing, type Read, type Store, sinceCommit } from '../store/index.js'
import { addFigures } from './add-figures.js'
import { addCampaigns, countBefore } from './campaigns/count.js'
import { noteMailed } from './campaigns/mailed.js'
import { type Cursors, readCursors, renumber, rowsBehind } from './cursors.js'
import { addEngagement, engageBefore } from './engagement.js'
import { readLogs } from './read-logs.js'
import { tally } from './tally.js'

/** What the loop needs. */
interface RollUpDeps {
  store: Store
  clock: Clock
  log: Log
}

// Some milliseconds to read, and fewer to write.
const rowsASlice = 500
// The pause while there is nothing new; a question itself adds what has come since.
const everyMs = 1_000
// Between slices others have their turn, also with the disk and the processor.
const restMs = 20
// A row that cannot be counted is logged twice a minute, until somebody mends it.
const afterFaultMs = 30_000

/**
 * Counts the next rows of the logs in the figures, with the cursors in the same transaction: each row counts once,
 * wherever the process dies. Resolves with whether there may be more. Only one thread may call it.
 */
export async function rollUp(store: Store, limit = rowsASlice): Promise<boolean> {
  const from = await readCursors(store.read)
  const { happenings, engaged, told, next, more } = await readLogs(store.read, from, { limit })
  if (same(from, next)) return false
  const rows = tally(happenings)
  await store.byRow(async (tx) => {
    const { numUpdatedRows } = await tx
      .updateTable('figure_cursors')
      .set(next)
      // A predecessor that was given up may have come this far: then the slice is read again from there.
      .where('event_id', '=', from.event_id)
      .where('consent_id', '=', from.consent_id)
      .where('mail_number', '=', from.mail_number)
      .executeTakeFirstOrThrow()
    if (numUpdatedRows !== 1n) return
    await addFigures(tx, rows)
    await addEngagement(tx, engaged)
    await addCampaigns(tx, { happenings, told })
  })
  return more
}

/** Whether the figures have all that the logs have. */
export const allRolledUp = async (read: Read): Promise<boolean> =>
  (await rowsBehind(read, await readCursors(read))) === 0

/** Whether nothing new was found. */
const same = (a: Cursors, b: Cursors) =>
  a.event_id === b.event_id && a.consent_id === b.consent_id && a.mail_number === b.mail_number

/** Keeps the figures up to date, slice by slice. For a thread that nobody waits for. */
export function startRollUp({ store, clock, log }: RollUpDeps): Repeating {
  let numbered = false
  let isBefore = true
  const rollUpNew = sinceCommit(store, async () => {
    const noting = await noteMailed(store, rowsASlice)
    return (await rollUp(store)) || noting
  })
  return repeat(clock, async () => {
    if (!holds(store.node, 'figures')) return everyMs
    try {
      if (!numbered) await renumber(store)
      numbered = true
      const more = await rollUpNew()
      if (isBefore) {
        const engaging = await engageBefore(store, rowsASlice)
        isBefore = (await countBefore(store, rowsASlice)) || engaging
      }
      return more || isBefore ? restMs : everyMs
    } catch (error) {
      if (isPassing(error)) return everyMs
      log.error({ error }, 'Figures over time stand still: a slice of the log cannot be counted')
      return afterFaultMs
    }
  })
}
