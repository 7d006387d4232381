import { keepNewest } from '../../bounded/index.js'
import { type Element, elementAt, unknownElement } from './elements.js'
import { makeNames } from './names.js'
import { readStyle } from './style.js'

/** A start tag. Identically written tags share one object. */
export interface Tag {
  element: Element
  /** The tag as written, from its name to its `>`. */
  source: string
  /** The bits of its attributes. */
  has: number
  /** The places of their values in the source, by the number of the attribute. */
  starts: readonly number[]
  ends: readonly number[]
  /** The number of characters in its values. */
  valueChars: number
  /** The bits of its style. */
  said: number
}

const names = [
  'style',
  'class',
  'id',
  'hidden',
  'href',
  'alt',
  'width',
  'height',
  'data-skip-in-text',
  'data-posthorn-notrack',
  'start',
  'value',
  'type',
] as const

/** The attributes that are read, by number. */
export const attribute = Object.fromEntries(names.map((name, i) => [name, i])) as Record<
  (typeof names)[number],
  number
>
const attributeAt = makeNames<number>(attribute)

const slash = 0x2f
const greater = 0x3e
const equals = 0x3d
const doubleQuote = 0x22
const singleQuote = 0x27

/** The places of values while a tag is read; one object for all tags. */
const read = {
  has: 0,
  starts: names.map(() => 0),
  ends: names.map(() => 0),
  valueChars: 0,
}

// Mails are made from templates, so most tags have occurred before, styles included.
const alike = new Map<string, Tag>()
const mostAlike = 1_000
const mostChars = 400

/** Reads the start tag whose name begins at `start`; undefined if the source ends inside it. */
export function tagAt(html: string, start: number): Tag | undefined {
  const close = html.indexOf('>', start) + 1
  if (close === 0) return undefined
  if (close - start > mostChars) return readTag(html, start)
  const source = html.slice(start, close)
  const known = alike.get(source)
  if (known !== undefined) return known
  const tag = readTag(html, start)
  if (tag?.source.length === source.length) keepNewest(alike, tag.source, tag, mostAlike)
  return tag
}

function readTag(html: string, start: number): Tag | undefined {
  const nameEnd = endOfTagName(html, start)
  const end = behindAttributes(html, nameEnd)
  if (end === -1) return undefined
  const { has, starts, ends, valueChars } = read
  // A slice would keep the whole mail in memory.
  const source = Buffer.from(html.slice(start, end), 'utf16le').toString('utf16le')
  const tag: Tag = {
    element: elementAt(html, start, nameEnd) ?? unknownElement,
    source,
    has,
    starts: has === 0 ? nowhere : starts.map((at) => at - start),
    ends: has === 0 ? nowhere : ends.map((at) => at - start),
    valueChars,
    said: 0,
  }
  const { style } = attribute
  if (hasAttribute(tag, style)) {
    const declarations = { source, next: -1 }
    tag.said = readStyle(declarations, tag.starts[style] as number, tag.ends[style] as number)
  }
  return tag
}

const nowhere: readonly number[] = []

/** HTML §13.2.5.8. */
export function endOfTagName(html: string, from: number): number {
  let at = from
  for (; at < html.length; at++) {
    const char = html.charCodeAt(at)
    if (char <= 0x20 || char === slash || char === greater) break
  }
  return at
}

/**
 * Reads a tag's attributes after its name, as HTML §13.2.5.32 to 13.2.5.40 do; returns where the source continues
 * after the tag, or -1 if it ends inside the tag.
 */
export function behindAttributes(html: string, from: number): number {
  const { length } = html
  let at = from
  read.has = 0
  read.valueChars = 0
  for (;;) {
    at = behindSpace(html, at, true)
    if (at === length) return -1
    if (html.charCodeAt(at) === greater) return at + 1
    const start = at
    const end = endOfName(html, at)
    at = behindSpace(html, end, false)
    if (at === length) return -1
    let valueStart = at
    let valueEnd = at
    if (html.charCodeAt(at) === equals) {
      valueStart = behindSpace(html, at + 1, false)
      if (valueStart === length) return -1
      const quote = html.charCodeAt(valueStart)
      if (quote === doubleQuote || quote === singleQuote) {
        valueStart++
        valueEnd = html.indexOf(quote === doubleQuote ? '"' : "'", valueStart)
        if (valueEnd === -1) return -1
        at = valueEnd + 1
      } else {
        valueEnd = endOfBareValue(html, valueStart)
        at = valueEnd
      }
      read.valueChars += valueEnd - valueStart
    }
    const number = attributeAt(html, start, end)
    // Browsers take the first of two attributes with the same name.
    if (number === undefined || (read.has & (1 << number)) !== 0) continue
    read.has |= 1 << number
    read.starts[number] = valueStart
    read.ends[number] = valueEnd
  }
}

export const hasAttribute = (tag: Tag, number: number): boolean => (tag.has & (1 << number)) !== 0

function behindSpace(html: string, from: number, orSlash: boolean): number {
  let at = from
  for (; at < html.length; at++) {
    const char = html.charCodeAt(at)
    if (char > 0x20 && !(orSlash && char === slash)) break
  }
  return at
}

/** An equals sign at the beginning belongs to the name. */
function endOfName(html: string, from: number): number {
  let at = from + 1
  for (; at < html.length; at++) {
    const char = html.charCodeAt(at)
    if (char <= 0x20 || char === equals || char === greater || char === slash) break
  }
  return at
}

function endOfBareValue(html: string, from: number): number {
  let at = from
  for (; at < html.length; at++) {
    const char = html.charCodeAt(at)
    if (char <= 0x20 || char === greater) break
  }
  return at
}

/** The value of an attribute as written in the source; undefined if the tag has none. */
export function sourceOf(tag: Tag, number: number): string | undefined {
  if (!hasAttribute(tag, number)) return undefined
  return tag.source.slice(tag.starts[number], tag.ends[number])
}
