/** A path with a query of these values; empty ones are left out. */
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
  /** The first page, for all other pages. */
  newer: string | undefined
  older: string | undefined
}

/** A list that is read by keys: the path of its page, and the filter. */
interface Listing {
  path: string
  query: URLSearchParams
  filters?: Readonly<Record<string, string | undefined>>
}

/**
 * One page of a list. `read` is given where the page begins (`?after=`; undefined: at the start) and returns where
 * the next one begins.
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
