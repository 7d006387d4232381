import { isPosthornError, type PosthornError, QuotaError, ValidationError } from './errors.js'
import type { CallOptions } from './request.js'

export interface SendManyOptions extends CallOptions {
  /** How many requests may be under way at once; default 2. */
  concurrency?: number | undefined
}

/** The result of one item, by its place in the source. */
export type Sent<T> = { index: number; value: T } | { index: number; error: PosthornError }

interface Chunked<Item, T> {
  source: Iterable<Item> | AsyncIterable<Item>
  /** Sends some items with one key; the results are in their order. */
  send(items: Item[], options: CallOptions): Promise<readonly T[]>
  /** How much an item counts against `canSend`. */
  weight(item: Item): number
}

const itemsPerChunk = 100
// A batch may have 32 MiB; a character is at most three bytes in UTF-8, or six as JSON.
const charsPerChunk = 5 * 1024 * 1024

/**
 * Sends a source of any length in chunks and yields the result of each item, in their order. Chunk n
 * has the key `<idempotencyKey>-<index of its first item>`: an interrupted run can be repeated with
 * the same key and the same source, and sends nothing twice. Invalid items are reported and the rest
 * of their chunk is sent. Any other error ends it, after requests under way have been awaited and
 * yielded.
 */
export async function* sendMany<Item, T>(
  { source, send, weight }: Chunked<Item, T>,
  { concurrency = 2, ...options }: SendManyOptions = {},
): AsyncGenerator<Sent<T>, void, undefined> {
  const key = options.idempotencyKey ?? crypto.randomUUID()
  const sendChunk = async ({ first, items }: Chunk<Item>): Promise<Ended<T>> => {
    const keyed = { pace: 'wait' as const, ...options, idempotencyKey: `${key}-${first}` }
    const bad = new Map<number, PosthornError>()
    let good = items.map((_, at) => at)
    let values: readonly T[] = []
    let fault: unknown
    while (good.length > 0) {
      try {
        const wanted = good.map((at) => items[at] as Item)
        values = await send(wanted, keyed)
        break
      } catch (error) {
        // The server does not keep the key of a request that it refused, so the rest of the chunk goes under the
        // same key. Thus a chunk is accepted at most once, whether as a whole or in part.
        const left =
          without(error, good, bad) ?? within(error, good, (at) => weight(items[at] as Item))
        if (error instanceof QuotaError) {
          fault = error
          error.stoppedAt = first + (left?.[left.length - 1] ?? -1) + 1
        } else if (left === undefined) {
          if (isPosthornError(error, 'invalid_idempotent_request')) {
            // An earlier run with this key sent the chunk without its invalid items.
            for (const at of good) bad.set(at, error)
          } else fault = error
        }
        good = left ?? []
      }
    }
    const results = items.flatMap((_, at): Sent<T>[] => {
      const index = first + at
      const error = bad.get(at)
      if (error !== undefined) return [{ index, error }]
      const place = values.length > 0 ? good.indexOf(at) : -1
      return place < 0 ? [] : [{ index, value: values[place] as T }]
    })
    return { results, fault }
  }

  const underWay: Promise<Ended<T>>[] = []
  let fault: unknown
  // The oldest chunk first, so that results come in the order of the source.
  const take = async () => {
    const ended = await (underWay.shift() as Promise<Ended<T>>)
    fault ??= ended.fault
    return ended.results
  }
  for await (const chunk of chunksOf(source)) {
    if (underWay.length >= concurrency) yield* await take()
    if (fault !== undefined) break
    underWay.push(sendChunk(chunk))
  }
  while (underWay.length > 0) yield* await take()
  if (fault !== undefined) throw fault
}

interface Chunk<Item> {
  first: number
  items: Item[]
}
interface Ended<T> {
  results: Sent<T>[]
  fault: unknown
}

async function* chunksOf<Item>(
  source: Iterable<Item> | AsyncIterable<Item>,
): AsyncGenerator<Chunk<Item>> {
  let first = 0
  let items: Item[] = []
  let chars = 0
  for await (const item of source) {
    const size = JSON.stringify(item).length
    if (items.length === itemsPerChunk || (items.length > 0 && chars + size > charsPerChunk)) {
      yield { first, items }
      first += items.length
      items = []
      chars = 0
    }
    items.push(item)
    chars += size
  }
  if (items.length > 0) yield { first, items }
}

/** The places that are left without those that a 422 calls invalid. */
function without(error: unknown, good: number[], bad: Map<number, PosthornError>) {
  if (!(error instanceof ValidationError) || error.errors.length === 0) return undefined
  for (const { index, error: message } of error.errors) {
    const at = good[index]
    if (at === undefined) return undefined
    const { code, status, requestId } = error
    bad.set(at, new ValidationError(message, { code, status, requestId }))
  }
  return good.filter((at) => !bad.has(at))
}

/** The first places that a cap still lets through. */
function within(error: unknown, good: number[], weightAt: (at: number) => number) {
  if (!(error instanceof QuotaError)) return undefined
  let room = error.canSend ?? 0
  const end = good.findIndex((at) => {
    room -= weightAt(at)
    return room < 0
  })
  return end < 0 ? [] : good.slice(0, end)
}
