import { type CallOptions, type Core, metaOf, request, withMeta } from './request.js'
import type { Operations } from './types.js'

/** The operations by method and path, as the OpenAPI document has them. */
export type OperationName = keyof Operations
export type Answer<N extends OperationName> = Operations[N]['answer']
export type Query<N extends OperationName> = Operations[N]['query']
export type Body<N extends OperationName> = Operations[N]['body']

interface Given<N extends OperationName> {
  /** The values in the path, in its order. */
  params?: readonly string[]
  query?: Query<N> | undefined
  body?: Body<N>
}

/** Asks for one operation. */
export type Call = <N extends OperationName>(
  name: N,
  given?: Given<N>,
  options?: CallOptions,
) => Promise<Answer<N>>

export const makeCall =
  (core: Core): Call =>
  async (name, { params = [], query, body } = {}, options) =>
    // The answer's type follows from the operation's name (`Operations`). TypeScript cannot follow it through
    // `request`, which sees only method and path.
    (await request(core, { ...route(name, params), query, body }, options)) as never

/** Method and path of an operation, its parameters filled in. */
export function route(name: string, params: readonly string[]) {
  const [method = '', template = ''] = name.split(' ')
  let at = 0
  const path = template.replace(/\{(\w+)\}/g, (_, key: string) => {
    const value = params[at++]
    // An empty id would make the path of another endpoint: the list instead of one item of it.
    if (typeof value !== 'string' || value === '') throw new TypeError(`${key} is missing`)
    return encodeURIComponent(value)
  })
  return { method, path }
}

/** One field of an answer. `metaOf` knows the field as it knows the whole answer. */
export async function pick<T extends object, K extends keyof T>(answer: Promise<T>, key: K) {
  const whole = await answer
  return withMeta(whole[key], metaOf(whole))
}

type ItemOf<N extends OperationName, K extends keyof Answer<N>> = Answer<N>[K] extends (infer I)[]
  ? I
  : never

/** Makes the methods of a resource, by their arguments. */
export const makeMethods = (call: Call) => ({
  call,
  /** Takes nothing. */
  plain:
    <N extends OperationName>(name: N) =>
    (options?: CallOptions): Promise<Answer<N>> =>
      call(name, {}, options),
  /** Takes nothing and gives one part of the answer. */
  part:
    <N extends OperationName, K extends keyof Answer<N>>(name: N, key: K) =>
    (options?: CallOptions): Promise<Answer<N>[K]> =>
      pick(call(name, {}, options), key),
  byId:
    <N extends OperationName>(name: N) =>
    (id: string, options?: CallOptions): Promise<Answer<N>> =>
      call(name, { params: [id] }, options),
  /** Two ids in the path, or an id and a number. */
  byIds:
    <N extends OperationName>(name: N) =>
    (id: string, other: string | number, options?: CallOptions): Promise<Answer<N>> =>
      call(name, { params: [id, `${other}`] }, options),
  withBody:
    <N extends OperationName>(name: N) =>
    (body: Body<N>, options?: CallOptions): Promise<Answer<N>> =>
      call(name, { body }, options),
  byIdWithBody:
    <N extends OperationName>(name: N) =>
    (id: string, body: Body<N>, options?: CallOptions): Promise<Answer<N>> =>
      call(name, { params: [id], body }, options),
  withQuery:
    <N extends OperationName>(name: N) =>
    (query?: Query<N>, options?: CallOptions): Promise<Answer<N>> =>
      call(name, { query }, options),
  byIdWithQuery:
    <N extends OperationName>(name: N) =>
    (id: string, query?: Query<N>, options?: CallOptions): Promise<Answer<N>> =>
      call(name, { params: [id], query }, options),
  /** A list with pages; `key` names the items in a page. */
  pages:
    <N extends OperationName, K extends keyof Answer<N>>(name: N, key: K) =>
    (query?: Query<N>, options?: CallOptions): Listed<Answer<N>, ItemOf<N, K>> =>
      listed((cursor) => call(name, { query: { ...query, ...cursor } as Query<N> }, options), key),
  pagesById:
    <N extends OperationName, K extends keyof Answer<N>>(name: N, key: K) =>
    (id: string, query?: Query<N>, options?: CallOptions): Listed<Answer<N>, ItemOf<N, K>> =>
      listed(
        (cursor) =>
          call(name, { params: [id], query: { ...query, ...cursor } as Query<N> }, options),
        key,
      ),
})

export type Methods = ReturnType<typeof makeMethods>

/** A list. Awaiting it gives its first page, iterating it gives every item of all pages. */
export interface Listed<Page, Item> extends PromiseLike<Page>, AsyncIterable<Item> {
  /** Page by page, from the first. */
  pages(): AsyncIterable<Page>
}

/**
 * `fetch` is called for a page only when somebody wants it, and once for the first page, whether the list is awaited,
 * iterated or both. `key` names the items in a page.
 */
function listed<Page, Item>(
  fetch: (cursor: { cursor?: string }) => Promise<Page>,
  key: keyof Page,
): Listed<Page, Item> {
  let first: Promise<Page> | undefined
  const begin = () => {
    first ??= fetch({})
    return first
  }
  async function* pages() {
    for (let page = await begin(); ; ) {
      yield page
      const { nextCursor } = page as { nextCursor?: string | null }
      if (!nextCursor) return
      page = await fetch({ cursor: nextCursor })
    }
  }
  return {
    // biome-ignore lint/suspicious/noThenProperty: `await` of a list gives its first page
    then: (done, failed) => begin().then(done, failed),
    pages,
    async *[Symbol.asyncIterator]() {
      for await (const page of pages()) yield* page[key] as Item[]
    },
  }
}
