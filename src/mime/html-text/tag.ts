import { makeNames } from './names.js'

/** Where the values of a start tag's attributes stand in the source; one object for all tags. */
export interface Tag {
  /** The bits of those that it has. */
  has: number
  /** By the number of the attribute. */
  starts: number[]
  ends: number[]
  /** How many characters its values have. */
  valueChars: number
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
  'start',
  'value',
  'type',
] as const

/** The attributes that are looked at, by number. */
export const attribute = Object.fromEntries(names.map((name, i) => [name, i])) as Record<
  (typeof names)[number],
  number
>
const attributeAt = makeNames<number>(attribute)

export const makeTag = (): Tag => ({
  has: 0,
  starts: names.map(() => 0),
  ends: names.map(() => 0),
  valueChars: 0,
})

const slash = 0x2f
const greater = 0x3e
const equals = 0x3d
const doubleQuote = 0x22
const singleQuote = 0x27

/**
 * Reads the attributes of a start tag from behind its name on, as HTML §13.2.5.32 to 13.2.5.40 do; where the source goes on
 * behind the tag, or -1 where it ends in it.
 */
export function readAttributes(html: string, from: number, tag: Tag): number {
  const { length } = html
  let at = from
  tag.has = 0
  tag.valueChars = 0
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
      tag.valueChars += valueEnd - valueStart
    }
    const number = attributeAt(html, start, end)
    // Browsers take the first of two attributes with the same name.
    if (number === undefined || (tag.has & (1 << number)) !== 0) continue
    tag.has |= 1 << number
    tag.starts[number] = valueStart
    tag.ends[number] = valueEnd
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

/** The value of an attribute as it stands in the source; undefined where the tag has none. */
export function sourceOf(html: string, tag: Tag, number: number): string | undefined {
  if (!hasAttribute(tag, number)) return undefined
  return html.slice(tag.starts[number], tag.ends[number])
}
