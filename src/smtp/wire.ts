import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { Cut } from './cut.js'
import type { Limits } from './limits.js'
import { disagreeing, type RawReply, ReplyReader, toReply } from './reply.js'
import type { Loss } from './result.js'
import { Transcript } from './transcript.js'

/**
 * A socket as a sequence of commands and replies. It counts how many replies are due: a byte that comes when none is
 * due breaks it, and so do a malformed reply, a deadline, a 421 and the end of the connection. A broken wire stays
 * broken; replies that came before can still be read.
 */
export class Wire {
  readonly transcript: Transcript
  /** Resolves when the socket is closed, and with it the connection. */
  readonly closed: Promise<void>
  readonly #limits: Limits
  #socket: Socket
  #reader: ReplyReader
  #heard: RawReply[] = []
  #due = 0
  #loss: Loss | undefined
  #onReply: ((heard: RawReply | Loss) => void) | undefined
  #onSettled: ((loss: Loss | undefined) => void) | undefined
  #clean: ((line: string) => string) | undefined
  readonly #deadline = makeDeadline((cause) => this.break({ cause, code: 'ETIMEDOUT' }))
  readonly #listeners: [event: string, listener: (chunk: Buffer) => void][] = [
    ['data', (chunk) => this.#take(chunk)],
    ['end', () => this.break({ cause: 'the server closed the connection' })],
    ['close', () => this.break({ cause: 'the connection was closed' })],
  ]

  /**
   * `dial` begins to connect; its socket hands over what comes in the clear, in memory that is valid only during the
   * call.
   */
  constructor(dial: (take: (chunk: Buffer) => void) => Socket, limits: Limits) {
    const socket = dial((chunk) => this.#take(chunk))
    this.#limits = limits
    this.transcript = new Transcript(limits.transcriptBytes)
    this.#reader = new ReplyReader(limits)
    // TLS that is put over the socket later closes it too.
    this.closed = new Promise((resolve) => {
      socket.once('close', () => resolve())
    })
    this.#socket = socket
    this.#listen(socket)
  }

  /** Why the session is over; undefined while it is not. */
  get loss(): Loss | undefined {
    return this.#loss
  }

  /** True when a reply has come that nobody has read yet. */
  get hasHeard(): boolean {
    return this.#heard.length > 0
  }

  get socket(): Socket {
    return this.#socket
  }

  /** More replies are due: without a command (the banner), or after a write of the caller's own. */
  expect(replies: number): void {
    this.#due += replies
  }

  /** From now on every line of a reply passes through `clean` before anybody sees it. */
  conceal(clean: (line: string) => string): void {
    this.#clean = clean
  }

  /** Sends commands that bring so many `replies`; the transcript has `shown` in their place. */
  command(lines: string, replies = 1, shown = lines): void {
    this.transcript.client(shown)
    if (this.#loss !== undefined) return
    this.#due += replies
    this.#socket.write(lines)
  }

  /** The next reply in turn, or why there is none. The deadline is absolute: single bytes gain no time. */
  reply(withinMs: number, awaited: string): Promise<RawReply | Loss> {
    const heard = this.#heard.shift() ?? this.#loss
    if (heard !== undefined) return Promise.resolve(heard)
    return new Promise((resolve) => {
      this.#onReply = resolve
      this.#deadline.begin(withinMs, awaited)
    })
  }

  /** Writes a block of a message and waits until the network has taken it. */
  async block(bytes: Buffer, withinMs: number): Promise<Loss | undefined> {
    if (this.#loss !== undefined) return this.#loss
    // Most messages go out at once in one piece, so there is nothing to wait for.
    if (this.#socket.write(bytes) || this.#socket.writableLength === 0) return undefined
    return await this.#settled('drain', withinMs, 'the message to be taken')
  }

  /** Waits for the socket to connect, or for its TLS handshake. */
  opened(event: 'connect' | 'secureConnect', withinMs: number): Promise<Loss | undefined> {
    if (this.#loss !== undefined) return Promise.resolve(this.#loss)
    return this.#settled(
      event,
      withinMs,
      event === 'connect' ? 'a connection' : 'the TLS handshake',
    )
  }

  /** Goes on over TLS. The caller must forget what it learned in the clear. */
  upgrade(wrap: (plain: Socket) => TLSSocket): void {
    this.#unlisten()
    this.#reader = new ReplyReader(this.#limits)
    this.#socket = wrap(this.#socket)
    this.#listen(this.#socket)
  }

  /** Ends the session at once; whoever waits gets `loss`. */
  break(loss: Loss): void {
    if (this.#loss !== undefined) return
    this.#loss = loss
    this.#deadline.end()
    this.transcript.note(loss.cause)
    this.#socket.destroy()
    this.#onReply?.(loss)
    this.#onSettled?.(loss)
    this.#onReply = undefined
    this.#onSettled = undefined
  }

  /** Says QUIT and lets the socket end by itself. RFC 5321 §4.1.1.10 wants the reply awaited, but
   * nothing depends on it. */
  quit(lingerMs: number): void {
    if (this.#loss !== undefined) return
    const socket = this.#socket
    this.#unlisten()
    this.#deadline.end()
    socket.resume()
    socket.end('QUIT\r\n')
    const linger = setTimeout(() => socket.destroy(), lingerMs).unref()
    socket.once('close', () => clearTimeout(linger))
    this.#loss = { cause: 'we said QUIT' }
  }

  #listen(socket: Socket): void {
    for (const [event, listener] of this.#listeners) socket.on(event, listener)
    socket.on('error', (error: NodeJS.ErrnoException) => {
      const cause = error.message
      this.break(error.code === undefined ? { cause } : { cause, code: error.code })
    })
  }

  /** Leaves only the listener for errors, because errors would be thrown without it. */
  #unlisten(): void {
    for (const [event, listener] of this.#listeners) this.#socket.off(event, listener)
  }

  #take(chunk: Buffer): void {
    if (this.#loss !== undefined) return
    const complaint = this.#reader.push(chunk, (raw) => this.#hear(raw))
    if (complaint !== undefined) this.break({ cause: complaint })
    else if (this.#due === 0 && this.#reader.midReply) this.break({ cause: 'unsolicited bytes' })
  }

  #hear({ code, lines, superseded }: RawReply): void {
    if (this.#loss !== undefined) return
    const cleaned = (some: readonly string[]) => some.map(this.#clean ?? String)
    const raw: RawReply = { code, lines: this.#clean === undefined ? lines : cleaned(lines) }
    if (superseded !== undefined) raw.superseded = cleaned(superseded)
    this.transcript.server(raw)
    if (this.#due === 0) {
      const leaving = raw.code === 421
      const cause = leaving ? 'the server closed the idle session' : unsolicited
      this.break({ cause, reply: toReply(raw) })
      return
    }
    this.#due--
    const waiter = this.#onReply
    if (waiter === undefined) {
      this.#heard.push(raw)
    } else {
      this.#onReply = undefined
      this.#deadline.pass()
      waiter(raw)
    }
    // RFC 5321 §3.8: 421 may answer any command, and the server hangs up after it.
    if (raw.code === 421 || superseded !== undefined) {
      const leaving = raw.code === 421
      const cause = leaving ? 'the server closed the session' : disagreeing
      this.break({ cause, reply: toReply(raw) })
    }
  }

  #settled(event: string, withinMs: number, awaited: string): Promise<Loss | undefined> {
    return new Promise((resolve) => {
      this.#deadline.begin(withinMs, awaited)
      const onEvent = () => {
        this.#deadline.pass()
        this.#onSettled = undefined
        resolve(undefined)
      }
      this.#onSettled = resolve
      this.#socket.once(event, onEvent)
    })
  }
}

/**
 * The deadline of the present wait. A mail has four waits and a session hundreds of mails, so one timer serves all of
 * them: it fires at the end of an earlier wait, and is set anew if a later wait has begun. `onPassed` gets what was
 * waited for.
 */
function makeDeadline(onPassed: (cause: string) => void) {
  let timer: NodeJS.Timeout | undefined
  let firesAt = 0
  let endsAt = never
  let [waitedMs, waitedFor] = [0, '']

  const set = (ms: number) => {
    clearTimeout(timer)
    firesAt = performance.now() + ms
    timer = setTimeout(look, ms)
  }
  const look = () => {
    timer = undefined
    if (endsAt === never) return
    const leftMs = endsAt - performance.now()
    if (leftMs > 0) set(leftMs)
    else onPassed(`waited ${waitedMs} ms for ${waitedFor}`)
  }
  return {
    begin(withinMs: number, awaited: string) {
      endsAt = performance.now() + withinMs
      waitedMs = withinMs
      waitedFor = awaited
      if (timer === undefined || firesAt > endsAt) set(withinMs)
    },
    /** The deadline has passed. */
    pass() {
      endsAt = never
    },
    /** Nothing is awaited any more. */
    end() {
      endsAt = never
      clearTimeout(timer)
      timer = undefined
    },
  }
}

const never = Number.POSITIVE_INFINITY

/** Breaks the wire when the mail is cut, as a deadline does, until `onCut` is removed. */
export function breakOn(cut: Cut | undefined, wire: Wire): void {
  if (cut === undefined) return
  const onCut = (cause: string) => wire.break({ cause, code: 'ETIMEDOUT' })
  if (cut.why === undefined) cut.onCut = onCut
  else onCut(cut.why)
}

const unsolicited = 'unsolicited reply (it came before its command)'

/** Whether the connection was lost where a reply was expected. */
export function isLoss(heard: RawReply | Loss): heard is Loss {
  return 'cause' in heard
}
