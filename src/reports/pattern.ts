/**
 * A text to look for in bounces and refusals. Operators' patterns for replies that change a site's limits have rules of
 * their own: `outbound/shaping/pattern.ts`.
 */
export interface Pattern {
  /**
   * The parts must occur in this order, separated by `*`; the choices of a part follow each other
   * directly.
   */
  parts: readonly (readonly Choice[])[]
}

/** `{user|mailbox}`, or a single text: one of them has to occur there. */
type Choice = readonly Wording[]

interface Wording {
  text: string
  /** How the wording's first word begins; undefined if unknown. */
  beginning: string | undefined
}

const maxChars = 1_000
const maxPatternChars = 200
const maxSourceChars = 4_000
const isWord = /^[a-z0-9]..$/s

/** Undefined for a pattern that is empty, too long, or may begin with an empty text. */
export function makePattern(source: string): Pattern | undefined {
  if (source.length > maxSourceChars) return undefined
  const texts = normal(source)
    .split('*')
    .map((text) => text.trim())
  const parts = texts.filter((text) => text !== '').map(choicesIn)
  const chars = parts.flat().map((choice) => Math.max(...choice.map(({ text }) => text.length)))
  const isLong = chars.reduce((sum, length) => sum + length, 0) > maxPatternChars
  const isOpen = parts.some(([first = []]) => first.some(({ text }) => text === ''))
  return parts.length === 0 || isLong || isOpen ? undefined : { parts }
}

/** `{unknown|invalid} user`: the choice, then ` user`. */
const choicesIn = (text: string): Choice[] =>
  [...text.matchAll(/\{([^{}]*\|[^{}]*)\}|(?:[^{]|\{(?![^{}]*\|[^{}]*\}))+/g)].map(
    ([literal, choices]) => (choices === undefined ? [literal] : choices.split('|')).map(wordingOf),
  )

function wordingOf(text: string): Wording {
  const beginning = text.slice(0, beginningChars)
  return { text, beginning: isWord.test(beginning) ? beginning : undefined }
}

/**
 * The text to compare with patterns: the first 1,000 characters in lower case, without addresses,
 * as `disabled@example.com` says nothing about its mailbox.
 */
export function wordsOf(text: string): Words {
  const said = text.slice(0, maxChars).replace(leadingCode, '')
  return indexed(normal(said.replace(address, '<>').replace(repeatedCode, ' ')))
}

/** Without links, as the words in a URL are not the server's. */
export const withoutLinks = ({ text }: Words): Words =>
  indexed(text.replace(/https?:\/\/\S{1,1000}/g, ''))

export interface Words {
  text: string
  /** The beginnings of its words: few of several hundred patterns begin so. */
  beginnings: ReadonlySet<string>
}

const beginningChars = 3

function indexed(text: string): Words {
  const beginnings = new Set<string>()
  let inWord = false
  for (let at = 0; at < text.length; at++) {
    const isIn = isLetter(text.charCodeAt(at))
    if (isIn && !inWord) beginnings.add(text.slice(at, at + beginningChars))
    inWord = isIn
  }
  return { text, beginnings }
}

/**
 * Globs and no regular expressions: operators write the patterns and strangers the text, and no pair
 * of them takes longer than one pass over the words for each wording. A part is anchored at the
 * beginning of a word: `full` is not found in `grateful`.
 */
export function occursIn({ parts }: Pattern, words: Words): boolean {
  let from = 0
  for (const part of parts) {
    const end = firstEnd(part, words, from)
    if (end === undefined) return false
    from = end
  }
  return true
}

/** The earliest end of a match of the part; undefined without a match. */
function firstEnd([first = [], ...rest]: readonly Choice[], words: Words, from: number) {
  const { text, beginnings } = words
  let ends = new Set<number>()
  for (const { text: wording, beginning } of first) {
    if (beginning !== undefined && !beginnings.has(beginning)) continue
    for (let at = text.indexOf(wording, from); at >= 0; at = text.indexOf(wording, at + 1)) {
      const isAtWord = !isLetter(text.charCodeAt(at - 1)) || !isLetter(wording.charCodeAt(0))
      if (isAtWord) ends.add(at + wording.length)
    }
  }
  for (const choice of rest) {
    const next = new Set<number>()
    for (const at of ends) {
      for (const { text: wording } of choice) {
        if (text.startsWith(wording, at)) next.add(at + wording.length)
      }
    }
    ends = next
  }
  return ends.size === 0 ? undefined : Math.min(...ends)
}

/** a to z and 0 to 9, in text that is in lower case; NaN (before the first character) is not one. */
const isLetter = (code: number) => (code >= 97 && code <= 122) || (code >= 48 && code <= 57)

// Bounded on both sides of the @, so that no text makes it look at a character more than 64 times.
const address = /<?[^\s<>()"',;:@]{1,64}@[^\s<>()"',;:@]{1,253}>?/g

const leadingCode = /^[45]\d\d[- ]/
// RFC 2034 §4: every line of a reply repeats code and status, in the middle of its sentences.
const repeatedCode = /\s(?:[45]\d\d[- ])?[45]\.\d{1,3}\.\d{1,3}\s/g

/**
 * Lower case and without accents, which servers leave out or keep: `Empfänger` and `Empfanger` are one, `boîte` and
 * `boite` too.
 */
export const normal = (text: string): string =>
  (/^[ -~\s]*$/.test(text) ? text : withoutAccents(text))
    .toLowerCase()
    .replace(/`/g, "'")
    .replace(/\s+/g, ' ')

const withoutAccents = (text: string) =>
  text
    .replace(/[\u2018\u2019\u00b4\u2032]/g, "'")
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/[łŁıøØđĐß]/g, (letter) => plainLetters[letter] ?? letter)

// Letters that Unicode does not decompose.
const plainLetters: Readonly<Record<string, string>> = {
  ł: 'l',
  Ł: 'l',
  ı: 'i',
  ø: 'o',
  Ø: 'o',
  đ: 'd',
  Đ: 'd',
  ß: 'ss',
}
