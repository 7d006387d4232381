import type { Kysely } from 'kysely'
import type { Tables } from './schema/index.js'

/** Inside a write: awaits nothing but queries on `tx`, and may run again after a busy database. */
export type Tx = Kysely<Tables>

/**
 * With `aloneWith`, an account, no other such work of the account begins before this one is committed, at whichever
 * node: for works that would otherwise undo each other.
 */
export type Write = <T>(work: (tx: Tx) => Promise<T>, aloneWith?: string) => Promise<T>

/**
 * Writes some items with statements for many rows. It returns for each, in their order, its result or an error that
 * refuses only this item, for which it has then written nothing. When it throws, everything that it wrote is undone,
 * and it is called again with fewer items, until the item at fault is alone.
 */
export type WriteTogether<Item, Result> = (
  tx: Tx,
  items: readonly Item[],
) => Promise<readonly (Result | Error)[]>

/**
 * Makes the function for a frequent kind of write: items that wait next to each other are handed to `together` at
 * once. `weigh` says how many small items an item counts as; 1 if not given. `letGo` is called with each item once it
 * is committed: it is not written again, and its caller only waits for the disk. Everything that a thread writes, in
 * whichever way, is written in the order of the calls.
 */
export type Gather = <Item, Result>(
  together: WriteTogether<Item, Result>,
  weigh?: (item: Item) => number,
  letGo?: (item: Item) => void,
) => (item: Item) => Promise<Result>

/** Each item in a `write` of its own: for a store with few writes, each of which is to be seen. */
export const gatherAlone =
  (write: Write): Gather =>
  (together) =>
  (item) =>
    write(async (tx) => {
      const [result] = await together(tx, [item])
      if (result instanceof Error) throw result
      return result as Exclude<typeof result, undefined>
    })

/** A unit of writing: it is undone as a whole, or not at all. */
export interface Writing {
  /** True for `gather`: its statements decide by their own conditions, and not by what was read before. */
  readonly isGathered: boolean
  /** The account with which it has to be alone. */
  readonly aloneWith?: string | undefined
  /** How many callers wait for it. */
  size(): number
  /** Resolves with the functions that answer each caller, for when it is on disk. */
  run(tx: Tx): Promise<(() => void)[]>
  fail(error: unknown): void
  /** It is committed: `run` is not called again. */
  committed(): void
  /** Two halves of this writing, to find the caller whose item is at fault; none for one caller alone. */
  halves(): Writing[]
}

// Work for a few milliseconds; others wait meanwhile, clients among them.
const maxWeight = 100

/** The functions that put writings into `pending`; whoever takes one from there has begun with it. */
export function makeWriters(
  pending: readonly Writing[],
  add: (writing: Writing) => void,
): { write: Write; gather: Gather } {
  return {
    write: (work, aloneWith) =>
      new Promise((resolve, reject) => {
        const run = async (tx: Tx) => {
          const value = await work(tx)
          return [() => resolve(value)]
        }
        add({
          isGathered: false,
          aloneWith,
          size: () => 1,
          run,
          fail: reject,
          committed: () => {},
          halves: () => [],
        })
      }),
    gather: <Item, Result>(
      together: WriteTogether<Item, Result>,
      weigh: (item: Item) => number = () => 1,
      letGo?: (item: Item) => void,
    ) => {
      let latest: { writing: Writing; callers: Caller<Item, Result>[]; weight: number } | undefined
      return (item: Item) =>
        new Promise<Result>((resolve, reject) => {
          const weight = weigh(item)
          const isLast = latest !== undefined && pending.at(-1) === latest.writing
          if (latest === undefined || !isLast || latest.weight + weight > maxWeight) {
            const callers: Caller<Item, Result>[] = []
            latest = { writing: gathered(together, callers, letGo), callers, weight: 0 }
            add(latest.writing)
          }
          latest.callers.push({ item, resolve, reject })
          latest.weight += weight
        })
    },
  }
}

interface Caller<Item, Result> {
  item: Item
  resolve: (result: Result) => void
  reject: (error: unknown) => void
}

/**
 * Many callers as one writing: each gets its own result or its own error, though the rows went
 * together.
 */
function gathered<Item, Result>(
  together: WriteTogether<Item, Result>,
  callers: readonly Caller<Item, Result>[],
  letGo: ((item: Item) => void) | undefined,
): Writing {
  return {
    isGathered: true,
    size: () => callers.length,
    async run(tx) {
      const items = callers.map(({ item }) => item)
      const results = await together(tx, items)
      return callers.map(({ resolve, reject }, i) => {
        const result = results[i]
        return result instanceof Error ? () => reject(result) : () => resolve(result as Result)
      })
    },
    fail(error) {
      for (const { reject } of callers) reject(error)
    },
    committed() {
      if (letGo !== undefined) for (const { item } of callers) letGo(item)
    },
    halves() {
      if (callers.length < 2) return []
      const middle = Math.ceil(callers.length / 2)
      return [callers.slice(0, middle), callers.slice(middle)].map((some) =>
        gathered(together, some, letGo),
      )
    },
  }
}
