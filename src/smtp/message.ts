import { isAscii } from 'node:buffer'

const terminator = Buffer.from('\r\n.\r\n')
/** What ends a message after its last CRLF (RFC 5321 §4.1.1.4). */
export const finalDot = terminator.subarray(2)
const extraDot = Buffer.from('.')
const dotAfterNewline = Buffer.from('\n.')
const CR = 13
const LF = 10
const DOT = 46

/** A message that is read while it is sent, for what is too large to be held. */
export interface StreamedMessage {
  /** The size without dot-stuffing, as announced to the server (RFC 1870 §6). */
  sizeBytes: number
  /** Whether any byte has its high bit set. */
  eightBit: boolean
  /** Yields the message's bytes from the beginning, at each attempt again; with canonical CRLF. */
  read(): AsyncIterable<Buffer>
}

/**
 * A message as DATA sends it. Its writer guarantees that its lines end with CRLF, that none begins with a dot, and
 * that no CR or LF stands alone.
 */
export interface WrittenMessage {
  /** The message with `finalDot` after its last line end. */
  written: Buffer
  /** Without the final dot. */
  sizeBytes: number
  eightBit: boolean
}

/**
 * A message that is already written, or its bytes in order, or a source that is read at the server's pace. The last
 * two have canonical CRLF and no dot-stuffing.
 */
export type MessageToSend = WrittenMessage | readonly Buffer[] | StreamedMessage

/** The header of a message, without the blank line behind it. */
export async function headerOf(message: MessageToSend): Promise<Buffer> {
  let seen = Buffer.alloc(0)
  for await (const piece of piecesOf(message)) {
    seen = Buffer.concat([seen, piece])
    const end = seen.indexOf('\r\n\r\n')
    if (end >= 0) return seen.subarray(0, end)
  }
  return seen
}

function piecesOf(message: MessageToSend): Iterable<Buffer> | AsyncIterable<Buffer> {
  if ('read' in message) return message.read()
  return 'written' in message ? [message.written] : message
}

/**
 * A message made ready for DATA: dots stuffed (RFC 5321 §4.5.2) and the final dot added. The pieces are views of the
 * given buffers, nothing is copied. Throws on a bare CR or LF. The composer writes canonical CRLF before it signs; a
 * bare one here would break the signature at the receiver, and SMTP smuggling uses it (CVE-2023-51764).
 */
export function stuffDots(message: readonly Buffer[]): Buffer[] {
  const stuffing = makeStuffing()
  return [...message.flatMap(stuffing.stuff), stuffing.end()]
}

/** Makes a message ready for DATA while it is read. Also throws when it is not as long as announced. */
export async function* stuffDotsOf(message: StreamedMessage): AsyncGenerator<Buffer> {
  const stuffing = makeStuffing()
  let leftBytes = message.sizeBytes
  for await (const piece of message.read()) {
    leftBytes -= piece.length
    yield* stuffing.stuff(piece)
  }
  if (leftBytes !== 0) {
    throw new Error(`A message that is to be sent differs from its size by ${leftBytes} bytes`)
  }
  yield stuffing.end()
}

function makeStuffing() {
  let last = LF // the message begins at the start of a line
  let before = 0
  return {
    stuff(piece: Buffer): Buffer[] {
      if (piece.length === 0) return []
      checkNewlines(piece, before)
      const out: Buffer[] = []
      if (last === LF && piece[0] === DOT) out.push(extraDot)
      let from = 0
      for (let at = piece.indexOf(dotAfterNewline); at !== -1; ) {
        out.push(piece.subarray(from, at + 1), extraDot)
        from = at + 1
        at = piece.indexOf(dotAfterNewline, from)
      }
      out.push(from === 0 ? piece : piece.subarray(from))
      last = piece[piece.length - 1] ?? last
      before = last
      return out
    },
    end(): Buffer {
      if (last === CR) throw new Error('Bare CR in a message that is to be sent')
      return last === LF ? finalDot : terminator
    },
  }
}

/**
 * Native searches, one for each line: 5 µs for 10 KB, where a loop over the bytes takes 17 µs (Node 20.20, Nov 2026).
 */
function checkNewlines(piece: Buffer, before: number): void {
  let lineFeeds = 0
  for (let at = piece.indexOf(LF); at !== -1; at = piece.indexOf(LF, at + 1)) {
    if ((at === 0 ? before : piece[at - 1]) !== CR) {
      throw new Error('Bare LF in a message that is to be sent')
    }
    lineFeeds++
  }
  // Every LF has its CR, so an extra CR is a bare one. A CR at the end waits for the next piece.
  let carriageReturns = before === CR ? 1 : 0
  for (let at = piece.indexOf(CR); at !== -1; at = piece.indexOf(CR, at + 1)) carriageReturns++
  if (piece[piece.length - 1] === CR) carriageReturns--
  if (carriageReturns !== lineFeeds) throw new Error('Bare CR in a message that is to be sent')
}

/** Groups pieces into buffers of at most `blockBytes`, so that each is one write. */
export function* blocksOf(pieces: readonly Buffer[], blockBytes: number): Generator<Buffer> {
  const blocks = makeBlocks(blockBytes)
  for (const piece of pieces) yield* blocks.add(piece)
  yield* blocks.rest()
}

/** Groups pieces that are yet to come, as `blocksOf` does. */
export async function* blocksOfStream(
  pieces: AsyncIterable<Buffer>,
  blockBytes: number,
): AsyncGenerator<Buffer> {
  const blocks = makeBlocks(blockBytes)
  for await (const piece of pieces) yield* blocks.add(piece)
  yield* blocks.rest()
}

const copiedBytes = 16 * 1024

function makeBlocks(blockBytes: number) {
  let waiting: Buffer[] = []
  let waitingBytes = 0
  return {
    *add(piece: Buffer): Generator<Buffer> {
      // A large piece is written as it is, after those that wait: to join them would copy all of it.
      if (piece.length >= copiedBytes && waitingBytes > 0) {
        yield joined(waiting, waitingBytes)
        waiting = []
        waitingBytes = 0
      }
      for (let from = 0; from < piece.length; ) {
        const part = piece.subarray(from, from + blockBytes - waitingBytes)
        waiting.push(part)
        waitingBytes += part.length
        from += part.length
        if (waitingBytes === blockBytes) {
          yield joined(waiting, waitingBytes)
          waiting = []
          waitingBytes = 0
        }
      }
    },
    *rest(): Generator<Buffer> {
      if (waitingBytes > 0) yield joined(waiting, waitingBytes)
    },
  }
}

function joined(parts: Buffer[], bytes: number): Buffer {
  const [only] = parts
  return parts.length === 1 && only !== undefined ? only : Buffer.concat(parts, bytes)
}

/** Whether any byte has its high bit set. */
export function isEightBit(message: readonly Buffer[]): boolean {
  return !message.every(isAscii)
}
