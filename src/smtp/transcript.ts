import { clean, type RawReply, textOf } from './reply.js'

/** What was said at one moment, in words. */
interface Entry {
  words: string
  bytes: number
}

/**
 * What was said in a session's opening and in its last transaction, for a person who asks why. Each mail's transcript
 * is read once, to be stored with its result. It is bounded, and the oldest lines are left out. Neither messages nor
 * credentials are ever given to it.
 */
export class Transcript {
  readonly #maxBytes: number
  readonly #began = performance.now()
  #entries: Entry[] = []
  #bytes = 0
  #openingEntries = 0
  /** The opening in words: in a session that carries many messages, each one's transcript needs it. */
  #opening: string | undefined
  #cut = false

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  /** Some commands, each ended by CRLF except perhaps the last. */
  client(lines: string): void {
    this.#add('C', lines.trimEnd(), '\r\n')
  }

  server(reply: RawReply): void {
    const { code, superseded } = reply
    if (superseded !== undefined) this.#add('S', superseded.map(clean).join('\n'))
    const text = textOf(reply)
    // RFC 5321 §4.2.1: a hyphen stands in all lines but the last.
    const end = text.lastIndexOf('\n')
    const first = end < 0 ? '' : `${code}-${text.slice(0, end).replaceAll('\n', `\n${code}-`)}\n`
    this.#add('S', `${first}${code} ${text.slice(end + 1)}`)
  }

  note(text: string): void {
    this.#add('-', text)
  }

  /** What has been said so far stays; each `restart` forgets what came after it. */
  endOpening(): void {
    this.#openingEntries = this.#entries.length
    this.#opening = undefined
  }

  restart(): void {
    for (let entry = this.#newest(); entry !== undefined; entry = this.#newest()) {
      this.#bytes -= entry.bytes
    }
  }

  toString(): string {
    this.#opening ??= inLines(this.#entries.slice(0, this.#openingEntries))
    const lines = inLines(this.#entries.slice(this.#openingEntries))
    const said =
      lines === '' || this.#opening === '' ? this.#opening + lines : `${this.#opening}\n${lines}`
    return this.#cut ? `(earlier lines left out)\n${said}` : said
  }

  /** The last entry after the opening, taken out. */
  #newest(): Entry | undefined {
    return this.#entries.length > this.#openingEntries ? this.#entries.pop() : undefined
  }

  /** Each line (they are separated by `lineEnd`) gets the time, and a mark for who said it. */
  #add(mark: 'C' | 'S' | '-', said: string, lineEnd = '\n'): void {
    const before = `${Math.round(performance.now() - this.#began)} ${mark}: `
    const words = `${before}${said.replaceAll(lineEnd, `\n${before}`)}`
    this.#entries.push({ words, bytes: said.length })
    this.#bytes += said.length
    while (this.#bytes > this.#maxBytes && this.#entries.length > 1) {
      this.#bytes -= this.#entries.shift()?.bytes ?? 0
      this.#openingEntries = Math.max(0, this.#openingEntries - 1)
      this.#opening = undefined
      this.#cut = true
    }
  }
}

function inLines(entries: readonly Entry[]): string {
  let text = ''
  for (const { words } of entries) text += text === '' ? words : `\n${words}`
  return text
}
