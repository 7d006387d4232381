import { encodedWords, looksEncoded } from './encoded-word.js'
import { type Mailbox, quote } from './mailbox.js'

// RFC 5322 §2.1.1: should and must. Lines with an encoded-word: RFC 2047 §2.
const preferredLine = 76
const longestLine = 998

/** The longest word that fits on a line after any field name. */
export const longestWord = 900

/** A field of free text (Subject): folded at its spaces, or in encoded-words. */
export function textField(name: string, text: string): string {
  refuseLineBreaks(name, text)
  if (text === '') return `${name}:\r\n`
  return isPlainText(text) && !/[^ ]{66}| {65}/.test(text)
    ? plainField(name, text)
    : foldedField(name, encodedWords(text))
}

/** A field whose grammar has no encoded-words (a URI, an id): folded only at its spaces. */
export function structuredField(name: string, value: string): string {
  refuseLineBreaks(name, value)
  if (!isPlainText(value)) throw new TypeError(`${name} must be printable ASCII`)
  return plainField(name, value)
}

/**
 * A field that a client named: printable ASCII stays as it is, folded at its spaces, so that ids and
 * already encoded words stay whole; anything else becomes encoded-words. No word may be over
 * `longestWord`.
 */
export function customField(name: string, value: string): string {
  if (!isHeaderName(name)) throw new TypeError('Not a header field name')
  const text = value.trim()
  return /^[ -~]*$/.test(text) ? plainField(name, text) : textField(name, text)
}

/** RFC 5322 §3.6.8: printable ASCII except the colon; shorter than a line of RFC 2047's length. */
export const isHeaderName = (name: string) => /^[!-9;-~]{1,76}$/.test(name)

/** From, To, Cc, Reply-To (RFC 5322 §3.4); a UTF-8 local part stays unencoded (RFC 6532 §3.2). */
export function mailboxField(name: string, mailboxes: Mailbox[]): string {
  if (mailboxes.length === 0) throw new TypeError(`${name} without a mailbox`)
  const words: string[] = []
  for (const [i, mailbox] of mailboxes.entries()) {
    refuseLineBreaks(name, mailbox.address)
    const comma = i < mailboxes.length - 1 ? ',' : ''
    // Readers take a bare `"a b"@c` for a name, but not one in angle brackets.
    const bare = !mailbox.name && !mailbox.local.startsWith('"')
    if (mailbox.name) words.push(...phrase(name, mailbox.name))
    words.push((bare ? mailbox.address : `<${mailbox.address}>`) + comma)
  }
  return foldedField(name, words)
}

/** `Sat, 21 Nov 2026 12:00:00 +0000` (RFC 5322 §3.3). */
export function dateField(name: string, timeMs: number): string {
  const date = new Date(timeMs)
  if (Number.isNaN(date.getTime())) throw new TypeError(`${name} is not a time`)
  return `${name}: ${date.toUTCString().replace('GMT', '+0000')}\r\n`
}

/** A display name: plain, quoted, or encoded (RFC 5322 §3.2.5, RFC 2047 §5 (3)). */
function phrase(field: string, name: string): string[] {
  refuseLineBreaks(field, name)
  if (isPlainText(name) && name.length <= 60) {
    return [
      /^[\w!#$%&'*+\-/=?^`{|}~]+(?: [\w!#$%&'*+\-/=?^`{|}~]+)*$/.test(name) ? name : quote(name),
    ]
  }
  return encodedWords(name)
}

/** Whether text reads the same after a parser has unfolded and trimmed it. */
function isPlainText(text: string): boolean {
  return /^[!-~](?:[ -~]*[!-~])?$/.test(text) && !looksEncoded(text)
}

/** A plain field, folded at its spaces if it is too long for a line. */
const plainField = (name: string, text: string): string =>
  name.length + 2 + text.length <= preferredLine && text !== ''
    ? `${name}: ${text}\r\n`
    : foldedField(name, spacedWords(text))

/** Words for folding; further spaces stay with the word after them. */
function spacedWords(text: string): string[] {
  return (
    text.match(/(?:^| ) *[^ ]+/g)?.map((word) => (word[0] === ' ' ? word.slice(1) : word)) ?? []
  )
}

/** Joins words with a space, or with a fold if the line would become too long. */
function foldedField(name: string, words: string[]): string {
  let field = `${name}:`
  let length = field.length
  for (const [i, word] of words.entries()) {
    // No fold before the first word: readers take a bare `Subject:` line for an empty field.
    const fold = i > 0 && length + 1 + word.length > preferredLine
    field += fold ? `\r\n ${word}` : ` ${word}`
    length = (fold ? 0 : length) + 1 + word.length
    if (length > longestLine) throw new TypeError(`${name} has a line of over 998 octets`)
  }
  return `${field}\r\n`
}

function refuseLineBreaks(name: string, value: string): void {
  // The API refuses these long before; here they would be header injection.
  if (/[\r\n\0]/.test(value)) throw new TypeError(`${name} contains CR, LF or NUL`)
}
