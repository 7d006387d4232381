/** A path with a query of what is given; empty values are left out. */
export function linkTo(path: string, given: Readonly<Record<string, string | undefined>>): string {
  const query = new URLSearchParams(
    Object.entries(given).flatMap(([name, value]) =>
      value ? [[name, value] as [string, string]] : [],
    ),
  ).toString()
  return query === '' ? path : `${path}?${query}`
}

/** The links of `ui.pager`. */
export interface BesidePages {
  /** To the first page, from every other. */
  newer: string | undefined
  older: string | undefined
}

/** A list that is read by keys: where its page lies, and what narrows it down. */
interface Listing {
  path: string
  query: URLSearchParams
  filters?: Readonly<Record<string, string | undefined>>
}

/**
 * One page of a list. `read` is given where the page begins (`?after=`; undefined: the first) and says where the next one does.
 */
export async function listOf<Row>(
  { path, query, filters = {} }: Listing,
  read: (after: string | undefined) => Promise<{ page: Row[]; nextCursor: string | null }>,
): Promise<{ rows: Row[] } & BesidePages> {
  const after = query.get('after') || undefined
  const { page, nextCursor } = await read(after)
  return {
    rows: page,
    newer: after === undefined ? undefined : linkTo(path, filters),
    older: nextCursor === null ? undefined : linkTo(path, { ...filters, after: nextCursor }),
  }
}
