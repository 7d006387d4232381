import { isPassing } from './fault.js'
import type { Tx, Write } from './writing.js'

/** What happened to items that were to be written together. */
export interface WrittenApart<T, R = unknown> {
  written: T[]
  /** The results of `work`, one for each transaction. */
  results: R[]
  /** The items that cannot be written, each for a reason of its own. */
  faults: { item: T; error: unknown }[]
  /** The items that were not written, for a reason that passes (`cause`): they are to be written later. */
  left: T[]
  cause?: unknown
}

/**
 * Writes items in one transaction; when one of them undoes it, each in a transaction of its own, so that the others
 * are written. Never rejects.
 */
export async function writeApart<T, R>(
  write: Write,
  items: readonly T[],
  work: (tx: Tx, items: readonly T[]) => Promise<R>,
): Promise<WrittenApart<T, R>> {
  const outcome: WrittenApart<T, R> = { written: [], results: [], faults: [], left: [] }
  const attempt = async (some: readonly T[]): Promise<void> => {
    try {
      outcome.results.push(await write((tx) => work(tx, some)))
      outcome.written.push(...some)
    } catch (error) {
      const [item, ...others] = some
      if (isPassing(error)) {
        outcome.left.push(...some)
        outcome.cause = error
      } else if (others.length > 0) await Promise.all(some.map((one) => attempt([one])))
      else if (item !== undefined) outcome.faults.push({ item, error })
    }
  }
  if (items.length > 0) await attempt(items)
  return outcome
}

/**
 * Does `work` for one item after another: an item's own fault is told to `onFault`, and the others go on. Rejects
 * with a fault that passes, and then leaves out the rest.
 */
export async function eachApart<T>(
  items: Iterable<T>,
  work: (item: T) => Promise<void>,
  onFault: (item: T, error: unknown) => Promise<void> | void,
): Promise<void> {
  for (const item of items) {
    try {
      await work(item)
    } catch (error) {
      if (isPassing(error)) throw error
      await onFault(item, error)
    }
  }
}
