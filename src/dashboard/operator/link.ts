/** A path with a query of what is given; empty values are left out. */
export function linkTo(path: string, given: Readonly<Record<string, string | undefined>>): string {
  const query = new URLSearchParams(
    Object.entries(given).flatMap(([name, value]) =>
      value ? [[name, value] as [string, string]] : [],
    ),
  ).toString()
  return query === '' ? path : `${path}?${query}`
}
