import { hrefsIn } from '../mime/index.js'

// Editors and browsers encode braces and spaces like this in an `href` (RFC 3986 §2.1); some keep the braces.
const mayHaveTags = /%7B%7B|\{\{(?:%20)/i
const encodedTag = /(?:%7B%7B|\{\{)((?:(?!%7B|%7D)[^{}<>]){1,500}?)(?:%7D%7D|\}\})/gi
const output = /^-?\s*[A-Za-z_][\w-]*(?:\.[\w-]+)*\s*(?:\|[^{}]*)?-?$/

/** HTML in which percent-encoded merge tags of links are tags again, as they were typed. */
export function withLinkTags(html: string): string {
  if (!mayHaveTags.test(html)) return html
  let read = ''
  let at = 0
  for (const { start, end } of hrefsIn(html)) {
    read += html.slice(at, start) + html.slice(start, end).replace(encodedTag, asTyped)
    at = end
  }
  return read + html.slice(at)
}

/** A tag as its author typed it; anything else stays as it is. */
function asTyped(whole: string, inside: string): string {
  if (!whole.includes('%')) return whole
  const typed = decoded(inside)
  return typed !== undefined && output.test(typed) ? `{{${typed}}}` : whole
}

/** Undefined where the escapes do not decode to text. */
function decoded(inside: string): string | undefined {
  try {
    // Forms write a space as a plus sign; a tag has a plus sign only inside a string.
    return decodeURIComponent(inside.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}
