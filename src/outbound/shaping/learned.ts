import type { Read, Tx } from '../../store/index.js'
import { lasts } from './lasting.js'
import type { ThreadShare } from './policy.js'
import type { Learned } from './site.js'

/** What one thread knows about one site from one source address. */
export interface LearnedRow {
  readonly site: string
  readonly source: string
  readonly learned: Learned
}

/** Writes what has changed of one thread's knowledge; `gone` are sites that are as usual again. */
export async function saveLearned(
  tx: Tx,
  changes: { changed: readonly LearnedRow[]; gone: readonly Omit<LearnedRow, 'learned'>[] },
  { thread, now }: { thread: number; now: number },
): Promise<void> {
  for (const { site, source } of changes.gone) {
    await tx
      .deleteFrom('site_states')
      .where('site', '=', site)
      .where('source', '=', source)
      .where('thread', '=', thread)
      .execute()
  }
  for (const { site, source, learned } of changes.changed) {
    const values = { learned: JSON.stringify(learned), updated_at: now }
    await tx
      .insertInto('site_states')
      .values({ site, source, thread, ...values })
      .onConflict((conflict) => conflict.columns(['site', 'source', 'thread']).doUpdateSet(values))
      .execute()
  }
}

/**
 * What any thread knew: a suspension that one thread learned of counts for all threads that start. A broken row is
 * left out, and its knowledge is learned again.
 */
export async function readLearned(read: Read, site?: string): Promise<StoredLearned[]> {
  const rows = await read
    .selectFrom('site_states')
    .selectAll()
    .$if(site !== undefined, (query) => query.where('site', '=', site ?? ''))
    .orderBy('site')
    .orderBy('source')
    .orderBy('thread')
    .execute()
  return rows.flatMap(({ site: key, source, thread, updated_at: updatedAt, ...row }) => {
    const learned = parsed(row.learned)
    return learned === undefined ? [] : [{ site: key, source, thread, learned, updatedAt }]
  })
}

/** What a row says; undefined for one that is broken. */
function parsed(learned: string): Learned | undefined {
  try {
    // Only `saveLearned` writes it.
    return JSON.parse(learned) as Learned
  } catch {
    return undefined
  }
}

/** Without what is over; a suspension that is over is tried with one message. */
export function asOf({ suspension, active, connections }: Learned, now: number): Learned {
  const isOver = suspension !== null && !lasts(suspension, now)
  return {
    connections,
    suspension: isOver ? { ...suspension, until: Math.min(suspension.until, now) } : suspension,
    active: active.filter((one) => lasts(one, now)),
  }
}

/** A row, and which thread wrote it when. */
export interface StoredLearned extends LearnedRow {
  readonly thread: number
  readonly updatedAt: number
}

/**
 * Deletes the rows at a new start; what is still in force is written again in the same transaction. The first thread
 * also deletes the rows of threads that are no more, which would otherwise stay for ever.
 */
export async function forgetLearned(
  tx: Tx,
  { thread, threads, of }: ThreadShare & { of: { first: number; end: number } },
): Promise<void> {
  const { first, end } = of
  await tx
    .deleteFrom('site_states')
    .where('thread', '>=', first)
    .where('thread', '<', end)
    .where(({ eb, or }) =>
      or([
        eb('thread', '=', first + thread),
        ...(thread === 0 ? [eb('thread', '>=', first + threads)] : []),
      ]),
    )
    .execute()
}
