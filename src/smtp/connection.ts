import type { Capabilities } from './capabilities.js'
import type { Cut } from './cut.js'
import { type Envelope, envelopeCommands } from './envelope.js'
import type { Deadlines } from './limits.js'
import { declined, localRefusal } from './local-refusal.js'
import {
  blocksOf,
  blocksOfStream,
  isEightBit,
  type MessageToSend,
  stuffDots,
  stuffDotsOf,
  type WrittenMessage,
} from './message.js'
import type { SendResult } from './result.js'
import type { TlsSession } from './secure.js'
import { makeTurn, type SessionLine, type Turn, transact } from './transaction.js'
import { breakOn, type Wire } from './wire.js'

/** A session that is ready for messages, one recipient each. */
export interface SmtpConnection {
  readonly capabilities: Readonly<Capabilities>
  readonly tls?: TlsSession
  /** How many messages were offered so far, whatever happened to them. */
  readonly sent: number
  /** False once the session is over; `send` then answers `lost`, `offered: false`. */
  readonly alive: boolean
  /** Resolves when its socket is closed, for whatever reason; after `quit` that may take a while. */
  readonly closed: Promise<void>
  /**
   * Sends one message to one recipient. Never rejects for what a server does; throws on an address or a message that
   * could be taken for commands (CR, LF or NUL in an address, a bare CR or LF in a message that is not yet written).
   *
   * May be called again before the last result is known: the messages go in order, and with PIPELINING the next
   * envelope travels with the end of the body before it.
   *
   * `cut` breaks the session while it is under way, as a deadline that passes does.
   */
  send(envelope: Envelope, message: MessageToSend, cut?: Cut): Promise<SendResult>
  /** Ends an idle session politely, without waiting. Messages under way are lost. */
  quit(): void
  /** Closes the socket at once, after `quit` too. */
  destroy(): void
  /** The opening and the last message, for people to read: at most 8 KiB, without messages and credentials. */
  transcript(): string
}

const blockBytes = 65_536

function measured(message: MessageToSend): Pick<WrittenMessage, 'sizeBytes' | 'eightBit'> {
  if ('sizeBytes' in message) return message
  let sizeBytes = 0
  for (const piece of message) sizeBytes += piece.length
  return { sizeBytes, eightBit: isEightBit(message) }
}

function blocksFor(message: MessageToSend): Turn['blocks'] {
  if ('read' in message) return blocksOfStream(stuffDotsOf(message), blockBytes)
  if ('written' in message && message.written.length <= blockBytes) return [message.written]
  const pieces = 'written' in message ? [message.written] : stuffDots(message)
  const sizeBytes = pieces.reduce((bytes, piece) => bytes + piece.length, 0)
  return sizeBytes <= blockBytes ? [Buffer.concat(pieces, sizeBytes)] : blocksOf(pieces, blockBytes)
}

/** Makes the connection of a session whose opening is done. */
export function openConnection(
  wire: Wire,
  session: { capabilities: Capabilities; tls?: TlsSession },
  deadlines: Deadlines,
  minBytesPerSecond: number,
): SmtpConnection {
  return new Connection(wire, session, deadlines, minBytesPerSecond)
}

class Connection implements SmtpConnection {
  readonly capabilities: Readonly<Capabilities>
  readonly tls?: TlsSession
  readonly #line: SessionLine
  readonly #turns: Turn[] = []

  constructor(
    wire: Wire,
    session: { capabilities: Capabilities; tls?: TlsSession },
    deadlines: Deadlines,
    minBytesPerSecond: number,
  ) {
    this.capabilities = session.capabilities
    if (session.tls !== undefined) this.tls = session.tls
    const { pipelining } = session.capabilities
    this.#line = { wire, deadlines, minBytesPerSecond, pipelining, resetting: false, offered: 0 }
  }

  get sent(): number {
    return this.#line.offered
  }

  get alive(): boolean {
    return this.#line.wire.loss === undefined
  }

  get closed(): Promise<void> {
    return this.#line.wire.closed
  }

  async send(envelope: Envelope, message: MessageToSend, cut?: Cut): Promise<SendResult> {
    const { sizeBytes, eightBit } = measured(message)
    const commands = envelopeCommands(envelope, sizeBytes, eightBit, this.capabilities)
    const lacking = declined(envelope, sizeBytes, eightBit, this.capabilities)
    if (lacking !== undefined) {
      const refusal = await localRefusal(
        lacking,
        { envelope, message, sizeBytes },
        this.capabilities,
      )
      return { ...refusal, reusable: this.alive }
    }

    breakOn(cut, this.#line.wire)
    try {
      return await new Promise((resolve, reject) => {
        const turn = makeTurn(commands, blocksFor(message), sizeBytes, { resolve, reject })
        if (this.#turns.push(turn) === 1) void this.#work()
      })
    } finally {
      if (cut !== undefined) cut.onCut = undefined
    }
  }

  quit(): void {
    if (this.#turns.length > 0) this.destroy()
    else this.#line.wire.quit(this.#line.deadlines.quitMs)
  }

  destroy(): void {
    const { wire } = this.#line
    wire.break({ cause: 'closed by us' })
    wire.socket.destroy()
  }

  transcript(): string {
    return this.#line.wire.transcript.toString()
  }

  async #work(): Promise<void> {
    for (let turn = this.#turns[0]; turn !== undefined; turn = this.#turns[0]) {
      try {
        turn.resolve(await transact(this.#line, turn, () => this.#turns[1]))
      } catch (error) {
        this.destroy()
        turn.reject(error)
      }
      this.#turns.shift()
    }
  }
}
