/**
 * A text to look for in what bounces and refusals say. Operators' patterns for replies that change a site's limits have
 * rules of their own: `outbound/shaping/pattern.ts`.
 */
export interface Pattern {
  /** They must occur in this order, `*` between them. */
  parts: readonly string[]
  /** What a word begins with wherever the first part is found; undefined where that is not known. */
  beginning: string | undefined
}

const maxChars = 1_000
const maxPatternChars = 200
const isWord = /^[a-z0-9]..$/s

/** Undefined for a pattern that is empty or too long. */
export function makePattern(text: string): Pattern | undefined {
  if (text.length > maxPatternChars) return undefined
  const parts = normal(text)
    .split('*')
    .map((part) => part.trim())
    .filter((part) => part !== '')
  const [first] = parts
  if (first === undefined) return undefined
  const beginning = first.slice(0, beginningChars)
  return { parts, beginning: isWord.test(beginning) ? beginning : undefined }
}

/**
 * What patterns are compared with: the first 1,000 characters in lower case, without addresses, as
 * `disabled@example.com` says nothing about its mailbox.
 */
export function wordsOf(text: string): Words {
  const said = text.slice(0, maxChars).replace(leadingCode, '')
  return indexed(normal(said.replace(address, '<>').replace(repeatedCode, ' ')))
}

/** Without links: what their addresses spell is not what the server says. */
export const withoutLinks = ({ text }: Words): Words =>
  indexed(text.replace(/https?:\/\/\S{1,1000}/g, ''))

export interface Words {
  text: string
  /** How its words begin: of several hundred patterns, few begin so. */
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
 * Globs and no regular expressions: operators write these, strangers write what is searched, and so
 * no pair of them takes longer than one walk through the words for each part. A part is anchored at
 * the beginning of a word: `full` is not found in `grateful`.
 */
export function occursIn({ beginning, parts }: Pattern, { text, beginnings }: Words): boolean {
  if (beginning !== undefined && !beginnings.has(beginning)) return false
  let from = 0
  for (const part of parts) {
    const at = wordStart(part, text, from)
    if (at < 0) return false
    from = at + part.length
  }
  return true
}

function wordStart(part: string, words: string, from: number): number {
  for (let at = words.indexOf(part, from); at >= 0; at = words.indexOf(part, at + 1)) {
    if (!isLetter(words.charCodeAt(at - 1)) || !isLetter(part.charCodeAt(0))) return at
  }
  return -1
}

/** a to z and 0 to 9, in text that is in lower case; NaN (before the first character) is not one. */
const isLetter = (code: number) => (code >= 97 && code <= 122) || (code >= 48 && code <= 57)

// Bounded on both sides of the @, so that no text makes it look at a character more than 64 times.
const address = /<?[^\s<>()"',;:@]{1,64}@[^\s<>()"',;@]{1,253}>?/g

const leadingCode = /^[45]\d\d[- ]/
// RFC 2034 §4: code and status stand on every line of a reply, in the middle of its sentences.
const repeatedCode = /\s(?:[45]\d\d[- ])?[45]\.\d{1,3}\.\d{1,3}\s/g

const normal = (text: string) =>
  text
    .toLowerCase()
    .replace(/[\u2018\u2019\u00b4`]/g, "'")
    .replace(/\s+/g, ' ')
