import type { Read } from '../store/index.js'

/**
 * How many deliveries wait, known to all threads without asking the database: the bound of the queue
 * is checked on every send. Close rather than exact; `recount` makes it true again.
 */
export interface Backlog {
  readonly size: number
  /** How many came since the start, all threads together; it begins anew at 2^31. */
  readonly accepted: number
  /** After the commit: `by` rows came (or, below zero, went). */
  change(by: number): void
  /** The number is not right by so much: nothing came or went. */
  correct(by: number): void
  recount(read: Read): Promise<void>
}

export const makeBacklogMemory = () => new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT)

export function joinBacklog(shared: SharedArrayBuffer): Backlog {
  const count = new Int32Array(shared)
  return {
    get size() {
      return Atomics.load(count, 0)
    },
    get accepted() {
      return Atomics.load(count, 1)
    },
    change(by) {
      Atomics.add(count, 0, by)
      if (by > 0) Atomics.add(count, 1, by)
    },
    correct: (by) => void Atomics.add(count, 0, by),
    async recount(read) {
      const { waiting } = await read
        .selectFrom('queue')
        .select((eb) => eb.fn.countAll<number>().as('waiting'))
        .executeTakeFirstOrThrow()
      Atomics.store(count, 0, waiting)
    },
  }
}
