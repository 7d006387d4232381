/*
 * Blocks that are kept are a template, which the API knows by a name of small letters. People type and read a name of their
 * own words: 'Our footer' is `our-footer`.
 */

const marks = /\p{M}/gu

/** What the API calls what somebody named so; undefined and empty stay what they are, so that they are refused. */
export const slugOf = (name: string | undefined): string | undefined =>
  name
    ?.trim()
    .normalize('NFKD')
    .replace(marks, '')
    .toLowerCase()
    .replace(/[^a-z0-9_]+/g, '-')
    .replace(/^-+|-+$/g, '')

/** What people read for it. */
export function keptName(slug: string): string {
  const words = slug.replaceAll('-', ' ')
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`
}
