import { type Clock, isDueBy, pause } from '../clock/index.js'
import { idsIn, type Read, type Store, unindexed } from '../store/index.js'
import { never } from './hold.js'

const rowsPerLook = 500
// The main thread looks: each slice takes it a millisecond or two.
const restMs = 20

interface SetBackDeps {
  store: Pick<Store, 'read' | 'write' | 'node'>
  clock: Clock
  /** No mail is put off for longer: if it would have to wait even longer, a clock that was ahead has put it off. */
  longestMs: number
}

/**
 * Makes due at once what a clock that was ahead has put off, after it was set back: otherwise mail would wait for as
 * long as the clock was wrong. A time that somebody has chosen stays. Resolves with how many deliveries it changed.
 */
export async function dueAfterSetBack(
  { store, clock, longestMs }: SetBackDeps,
  signal: AbortSignal,
): Promise<number> {
  let changed = 0
  for (let after = -1; !signal.aborted; ) {
    const now = clock.now()
    const rows = await rowsAfter(store, after)
    const last = rows.at(-1)
    if (last === undefined) break
    after = last.id
    const ahead = await putOffAhead(store.read, rows, { now, longestMs })
    if (ahead.length > 0) {
      const { numUpdatedRows } = await store.write((tx) =>
        tx
          .updateTable('queue')
          // A held delivery stays held; it is due when it is released.
          .set((eb) => ({
            due_at: eb.case().when('held_at', 'is', null).then(now).else(eb.ref('due_at')).end(),
            held_due_at: eb.case().when('held_at', 'is', null).then(null).else(now).end(),
          }))
          .where('id', 'in', idsIn(ahead, 'integer'))
          .where('lease', 'is', null)
          .where((eb) => eb(eb.fn.coalesce('held_due_at', 'due_at'), '>', now))
          .executeTakeFirstOrThrow(),
      )
      changed += Number(numUpdatedRows)
    }
    await pause(clock, restMs, signal)
  }
  return changed
}

type Row = Awaited<ReturnType<typeof rowsAfter>>[number]

/** Rows of this appliance, as each has a clock of its own. */
const rowsAfter = ({ read, node }: Pick<Store, 'read' | 'node'>, after: number) =>
  read
    .selectFrom('queue')
    .select(['id', 'email_id', 'attempts', 'lease', 'last_attempt_at'])
    .select((eb) => eb.fn.coalesce('held_due_at', 'due_at').as('due_at'))
    .where('id', '>', after)
    .where(unindexed<number>('node'), '=', node.number)
    .orderBy('id')
    .limit(rowsPerLook)
    .execute()

/** Deliveries whose last attempt lies in the future, and untried ones for which nobody has chosen a later time. */
async function putOffAhead(
  read: Read,
  rows: readonly Row[],
  { now, longestMs }: { now: number; longestMs: number },
): Promise<number[]> {
  const waiting = rows.filter((row) => row.lease === null && row.due_at > now && row.due_at < never)
  const tried = waiting.filter(
    ({ attempts, due_at, last_attempt_at: at }) =>
      attempts > 0 && ((at ?? 0) > now || isDueBy(due_at, now, longestMs)),
  )
  // An untried one is due when it is accepted, when it is released, or at a time that somebody has chosen.
  const untried = waiting.filter(({ attempts }) => attempts === 0)
  const emails = await read
    .selectFrom('emails')
    .select('id')
    .where(
      'id',
      'in',
      idsIn(
        untried.map(({ email_id: id }) => id),
        'text',
      ),
    )
    .where((eb) => eb.or([eb('scheduled_at', 'is', null), eb('scheduled_at', '<=', now)]))
    .execute()
  const unscheduled = new Set(emails.map(({ id }) => id))
  return [...tried, ...untried.filter(({ email_id: id }) => unscheduled.has(id))].map(
    ({ id }) => id,
  )
}
