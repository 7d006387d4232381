import { createRequire } from 'node:module'

let loaded: typeof import('entities') | undefined

/** The decoder of entities, loaded on first use. */
const entities = (): typeof import('entities') => {
  loaded ??= load()
  return loaded
}
const load = (): typeof import('entities') => createRequire(import.meta.url)('entities')

/** The text of a text node, its entities decoded. */
export const decodeText = (source: string): string =>
  source.includes('&') ? entities().decodeHTML(source) : source

/** The value of an attribute. HTML §13.2.5.73: `&copy=` in it is no entity. */
export const decodeValue = (source: string): string =>
  source.includes('&') ? entities().decodeHTMLAttribute(source) : source

/** Whether a character may be a filler, or is a special kind of space. */
export const mayFill = (char: number): boolean =>
  char === 0xa0 ||
  char === 0xad ||
  char === 0x34f ||
  char === 0x180e ||
  (char >= 0x2000 && char <= 0x200f) ||
  (char >= 0x2028 && char <= 0x202f) ||
  char === 0x205f ||
  char === 0x2060 ||
  char === 0xfeff

const spaces = '\\t-\\r \\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f'
const marks = '\\u200e\\u200f'
const unseen = '\\u00ad\\u034f\\u180e\\u200b-\\u200d\\u2060\\ufeff'
const special = spaces.replace('\\t-\\r ', '') + marks + unseen
// Matches from the first special character on, so that a run of spaces is read once.
const run = new RegExp(`[${special}][${spaces}${marks}${unseen}]*`, 'g')
const space = new RegExp(`[${spaces}]`)
const anySpace = new RegExp(`[${spaces}]+`, 'g')
const isUnseen = new RegExp(`[${unseen}]`)

// A word (Persian, emoji) has one joiner in a place, rarely two.
const mostInWord = 2

/**
 * The text without fillers: invisible characters, which stay only inside a word, where they join or separate letters.
 * Every kind of space becomes an ordinary one.
 */
export const withoutFilling = (text: string): string =>
  text.replace(run, (found: string, at: number) => {
    const end = at + found.length
    const isBehind = at > 0 && !space.test(text.charAt(at - 1))
    const isBefore = end < text.length
    const spaced = found.replace(anySpace, ' ')
    const isSpaced = spaced.includes(' ')
    if (!isUnseen.test(found)) return isBehind || isBefore ? spaced : ' '
    if (isBehind && isBefore && !isSpaced && found.length <= mostInWord) return found
    return isSpaced ? ' ' : ''
  })
