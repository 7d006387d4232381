import { hrefsIn } from '../mime/index.js'

// Editors and browsers write braces and spaces so in an `href` (RFC 3986 §2.1); some leave the braces as they are.
const mayHaveTags = /%7B%7B|\{\{(?:%20)/i
const encodedTag = /(?:%7B%7B|\{\{)((?:(?!%7B|%7D)[^{}<>]){1,500}?)(?:%7D%7D|\}\})/gi
const output = /^-?\s*[A-Za-z_][\w-]*(?:\.[\w-]+)*\s*(?:\|[^{}]*)?-?$/

/** HTML in which the merge tags of links, whose braces were percent-encoded, are tags as they were typed. */
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

/** A tag as its author typed it; what is none stays as it is. */
function asTyped(whole: string, inside: string): string {
  if (!whole.includes('%')) return whole
  const typed = decoded(inside)
  return typed !== undefined && output.test(typed) ? `{{${typed}}}` : whole
}

/** Undefined where the escapes are of no text. */
function decoded(inside: string): string | undefined {
  try {
    // As a form writes a space; no tag has a plus sign in it but in a text.
    return decodeURIComponent(inside.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}
