import { type Element, elementAt, unknownElement } from './elements.js'
import { isAt } from './names.js'
import { behindAttributes, endOfTagName, type Tag, tagAt } from './tag.js'

/** The callbacks of a scan, in the order of the source. Places are positions in the source. */
export interface Told {
  text(from: number, to: number): void
  /** `from`: its name. */
  startTag(tag: Tag, from: number): void
  /** `from`: its `<`. */
  endTag(element: Element, from: number): void
  /** The content of an element of raw text. */
  raw(element: Element, from: number, to: number): void
  /** A comment, or what browsers treat as one, from its `<` on. */
  comment(from: number): void
  /** A tag, comment or raw text without an end, from its `<` on; browsers show nothing of it. */
  unclosed?(from: number): void
}

const nothing = () => {}
/** Callbacks that do nothing, for callers that need few. */
export const nothingTold: Told = {
  text: nothing,
  startTag: nothing,
  endTag: nothing,
  raw: nothing,
  comment: nothing,
}

const less = 0x3c
const greater = 0x3e
const slash = 0x2f
const bang = 0x21
const question = 0x3f

/**
 * Makes a reader of HTML, which cuts it into tags as HTML §13.2.5 does. It reads `mostChars` characters, not
 * counting attribute values, comments and raw text, which native searches skip; the reader returns whether that was
 * the whole source.
 */
export function makeScan(mostChars: number, told: Told): (source: string) => boolean {
  let html = ''
  let length = 0
  let unread = 0

  const unclosed = (from: number): number => {
    told.unclosed?.(from)
    return length
  }

  const startTag = (start: number): number => {
    const tag = tagAt(html, start)
    if (tag === undefined) return unclosed(start - 1)
    const { element, source, valueChars } = tag
    const next = start + source.length
    unread += valueChars
    told.startTag(tag, start)
    if (!element.isRaw) return next
    const close = endOfRaw(html, element.name, next)
    if (close === length) told.unclosed?.(start - 1)
    told.raw(element, next, close)
    unread += close - next
    return close
  }

  const endTag = (start: number): number => {
    const end = endOfTagName(html, start)
    const isBare = end < length && html.charCodeAt(end) === greater
    const next = isBare ? end + 1 : behindAttributes(html, end)
    if (next === -1) return unclosed(start - 2)
    told.endTag(elementAt(html, start, end) ?? unknownElement, start - 2)
    return next
  }

  /** Reads markup that begins with a `<`; returns where the source continues. */
  const markup = (at: number): number => {
    const first = at + 1 < length ? html.charCodeAt(at + 1) : less
    if (isLetter(first)) return startTag(at + 1)
    if (first === slash && at + 2 < length) {
      const letter = html.charCodeAt(at + 2)
      if (isLetter(letter)) return endTag(at + 2)
      if (letter === greater) return at + 3
    } else if (first !== bang && first !== question) {
      told.text(at, at + 1)
      return at + 1
    }
    told.comment(at)
    const end = endOfComment(html, at)
    const next = end === -1 ? unclosed(at) : end
    unread += next - at
    return next
  }

  return (source) => {
    html = source
    length = html.length
    unread = 0
    for (let at = 0; at < length; ) {
      const found = html.indexOf('<', at)
      const end = found === -1 ? length : found
      if (end - unread > mostChars) {
        told.text(at, lastSpace(html, at, mostChars + unread))
        return false
      }
      if (end > at) told.text(at, end)
      at = end === length ? end : markup(end)
    }
    return true
  }
}

const isLetter = (char: number): boolean => {
  const lower = char | 32
  return lower >= 0x61 && lower <= 0x7a
}

/** HTML §13.2.5.15: where the end tag of the same name begins. */
function endOfRaw(html: string, name: string, from: number): number {
  for (let at = html.indexOf('</', from); at !== -1; at = html.indexOf('</', at + 2)) {
    const behind = html.charCodeAt(at + 2 + name.length)
    const isEnded = behind <= 0x20 || behind === slash || behind === greater
    if (isEnded && isAt(name, html, at + 2)) return at
  }
  return html.length
}

/**
 * HTML §13.2.5.41 to 13.2.5.52: where the source continues after a comment, a doctype or what counts as a comment; -1
 * if that has no end.
 */
function endOfComment(html: string, at: number): number {
  if (!html.startsWith('<!--', at)) {
    const end = html.indexOf('>', at)
    return end === -1 ? -1 : end + 1
  }
  if (html.startsWith('>', at + 4)) return at + 5
  if (html.startsWith('->', at + 4)) return at + 6
  for (let end = html.indexOf('--', at + 4); end !== -1; end = html.indexOf('--', end + 1)) {
    const behind = html.charCodeAt(end + 2)
    if (behind === greater) return end + 3
    if (behind === bang && html.charCodeAt(end + 3) === greater) return end + 4
  }
  return -1
}

/** Where a text may be cut: at white space, if it has any. */
function lastSpace(html: string, from: number, to: number): number {
  let at = to
  while (at > from && html.charCodeAt(at) > 0x20) at--
  return at > from ? at : to
}
