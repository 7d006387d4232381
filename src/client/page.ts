/** A list. Awaited it is its first page, iterated it is every item of all pages. */
export interface Listed<Page, Item> extends PromiseLike<Page>, AsyncIterable<Item> {
  /** Page by page, from the first. */
  pages(): AsyncIterable<Page>
}

/** `fetch` is asked for a page only when somebody wants it; `key` names the items. */
export function listed<Page, Item>(
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
