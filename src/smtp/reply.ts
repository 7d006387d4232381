import { decodeUnlabelled } from '../mime/index.js'
import type { Limits } from './limits.js'

/** What a server answered, as it is stored and shown. */
export interface Reply {
  code: number
  /** RFC 3463 status, e.g. `5.1.1`; absent unless its class agrees with the code. */
  enhanced?: string
  /** Verbatim except for control characters (`?`), lines joined by `\n`, at most 1,000 bytes. */
  text: string
}

/** A reply as it came: decoded lines without the codes, nothing cleaned yet. */
export interface RawReply {
  code: number
  lines: string[]
  /** Earlier lines that had other codes: the server changed its mind, and must not be trusted further. */
  superseded?: readonly string[]
}

/**
 * Cuts a byte stream into replies, within bounds. After a complaint the reader must not be used any more. Lines
 * ending in a bare LF are understood: some old servers send them.
 */
export class ReplyReader {
  readonly #limits: Limits
  #partial: Buffer | undefined
  #code = 0
  #lines: string[] = []
  #superseded: string[] = []
  #bytes = 0

  constructor(limits: Limits) {
    this.#limits = limits
  }

  /** True when a reply has begun and not ended. */
  get midReply(): boolean {
    return this.#partial !== undefined || this.#lines.length > 0
  }

  /**
   * Calls `onReply` for every reply that `chunk` completes; returns what is wrong, if anything. Keeps no view of
   * `chunk`.
   */
  push(chunk: Buffer, onReply: (reply: RawReply) => void): string | undefined {
    const bytes = this.#partial === undefined ? chunk : Buffer.concat([this.#partial, chunk])
    this.#partial = undefined
    let from = 0
    // A loop over the bytes, as replies are short: a call of indexOf takes as long as 50 of them.
    for (let at = 0; at < bytes.length; at++) {
      if (bytes[at] !== lf) continue
      const complaint = this.#line(bytes, from, at, onReply)
      if (complaint !== undefined) return complaint
      from = at + 1
    }
    if (bytes.length - from >= this.#limits.lineBytes) return 'reply line too long'
    // The next chunk comes in the same memory.
    if (from < bytes.length) this.#partial = Buffer.from(bytes.subarray(from))
    return undefined
  }

  #line(
    bytes: Buffer,
    from: number,
    lineFeed: number,
    onReply: (reply: RawReply) => void,
  ): string | undefined {
    const size = lineFeed + 1 - from
    if (size > this.#limits.lineBytes) return 'reply line too long'
    this.#bytes += size
    if (this.#bytes > this.#limits.replyBytes) return 'reply too long'

    const end = lineFeed > from && bytes[lineFeed - 1] === 13 ? lineFeed - 1 : lineFeed
    const code = end - from < 3 ? 0 : codeAt(bytes, from)
    // RFC 5321 §4.2: the space may be missing where no text follows.
    const mark = end - from === 3 ? 32 : bytes[from + 3]
    if (code === 0 || (mark !== 32 && mark !== 45)) return 'malformed reply'
    if (this.#lines.length > 0 && code !== this.#code) {
      // Some servers greet, look the client up, and refuse it in the next line (`220-hello`, `521 you are listed`).
      if (code < 400) return disagreeing
      for (const line of this.#lines) this.#superseded.push(`${this.#code}-${line}`)
      this.#lines = []
    }
    this.#code = code
    this.#lines.push(decode(bytes, from + 4, end))
    if (mark === 45) {
      const lines = this.#superseded.length + this.#lines.length
      return lines >= this.#limits.replyLines ? 'too many reply lines' : undefined
    }
    const superseded = this.#superseded
    const reply =
      superseded.length === 0
        ? { code, lines: this.#lines }
        : { code, lines: this.#lines, superseded }
    this.#lines = []
    this.#superseded = []
    this.#bytes = 0
    onReply(reply)
    return undefined
  }
}

/** What is wrong with a reply that has two codes. */
export const disagreeing = 'reply lines disagree about the code'

/** The public form of a reply: cleaned, cut, with its enhanced status. */
export function toReply(raw: RawReply): Reply {
  const text = textOf(raw)
  const enhanced = enhancedStatus(raw)
  return enhanced === undefined ? { code: raw.code, text } : { code: raw.code, enhanced, text }
}

/** A reply's text without its code, as it is stored and shown. */
export function textOf({ lines }: RawReply): string {
  const [line = '', ...others] = lines
  return cut(others.length === 0 ? clean(line) : lines.map(clean).join('\n'), 1_000)
}

function codeAt(bytes: Buffer, from: number): number {
  let code = 0
  for (let at = from; at < from + 3; at++) {
    const digit = (bytes[at] ?? 0) - 48
    if (digit < 0 || digit > 9) return 0
    code = code * 10 + digit
  }
  // RFC 5321 §4.2.1: no server has a reason to send 1yz; 6yz and above do not exist.
  return code >= 200 && code < 600 ? code : 0
}

function enhancedStatus(raw: RawReply): string | undefined {
  for (const line of raw.lines) {
    const found = /^([245])\.\d{1,3}\.\d{1,3}(?=\s|$)/.exec(line)
    // RFC 2034 §4: the class must agree with the reply code, or it is just text.
    if (found !== null && Number(found[1]) === Math.floor(raw.code / 100)) return found[0]
  }
  return undefined
}

const lf = 10

function decode(bytes: Buffer, from: number, to: number): string {
  let isPlain = true
  for (let at = from; at < to; at++) if ((bytes[at] ?? 0) > 127) isPlain = false
  if (isPlain) return to > from ? bytes.toString('latin1', from, to) : ''
  return decodeUnlabelled(bytes.subarray(from, to))
}

/** Control characters, and characters that are invisible or change the order in which text is shown. */
const unsafe = /[\p{Cc}\p{Cf}\u2028\u2029]/gu

/** Nearly every line is such a line, and needs no look at the tables of Unicode. */
const printable = /^[ -~]*$/

/** A line as it is shown. */
export const clean = (line: string): string =>
  printable.test(line) ? line : line.replace(unsafe, '?')

function cut(text: string, maxBytes: number): string {
  if (text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes) return text
  // As a stream, so that a character that was cut in half is left out and not replaced.
  return new TextDecoder().decode(Buffer.from(text).subarray(0, maxBytes), { stream: true })
}
