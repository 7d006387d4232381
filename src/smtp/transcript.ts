import { type RawReply, textOf } from './reply.js'

interface Entry {
  atMs: number
  mark: 'C' | 'S' | '-'
  said: string | RawReply
  bytes: number
}

/**
 * What was said in a session's opening and in its last transaction, for a person who asks why.
 * Kept as it came and put into words only when read: most transcripts never are. Bounded; what
 * is left out is the oldest. Neither messages nor credentials are ever given to it.
 */
export class Transcript {
  readonly #maxBytes: number
  readonly #began = performance.now()
  #entries: Entry[] = []
  #bytes = 0
  #openingEntries = 0
  /** The opening in words: of a session that carries many messages it is wanted with each. */
  #opening: string[] | undefined
  #cut = false

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  client(line: string): void {
    this.#add('C', line, line.length)
  }

  server(reply: RawReply): void {
    let bytes = 4
    for (const line of reply.lines) bytes += line.length + 1
    this.#add('S', reply, Math.min(bytes, 1_004))
  }

  note(text: string): void {
    this.#add('-', text, text.length)
  }

  /** What has been said so far stays; each `restart` forgets what came after it. */
  endOpening(): void {
    this.#openingEntries = this.#entries.length
    this.#opening = undefined
  }

  restart(): void {
    for (const entry of this.#entries.splice(this.#openingEntries)) this.#bytes -= entry.bytes
  }

  toString(): string {
    this.#opening ??= this.#entries.slice(0, this.#openingEntries).flatMap(linesOf)
    const lines = this.#entries.slice(this.#openingEntries).flatMap(linesOf)
    const cut = this.#cut ? ['(earlier lines left out)'] : []
    return [...cut, ...this.#opening, ...lines].join('\n')
  }

  #add(mark: Entry['mark'], said: string | RawReply, bytes: number): void {
    this.#entries.push({ atMs: Math.round(performance.now() - this.#began), mark, said, bytes })
    this.#bytes += bytes
    while (this.#bytes > this.#maxBytes && this.#entries.length > 1) {
      this.#bytes -= this.#entries.shift()?.bytes ?? 0
      this.#openingEntries = Math.max(0, this.#openingEntries - 1)
      this.#opening = undefined
      this.#cut = true
    }
  }
}

const linesOf = ({ atMs, mark, said }: Entry): string[] =>
  inWords(said).map((text) => `${atMs} ${mark}: ${text}`)

function inWords(said: string | RawReply): string[] {
  if (typeof said === 'string') return said.trimEnd().split('\r\n')
  const { code } = said
  const lines = textOf(said).split('\n')
  return lines.map((line, at) => `${code}${at < lines.length - 1 ? '-' : ' '}${line}`)
}
