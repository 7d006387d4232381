import { isAscii } from 'node:buffer'

const terminator = Buffer.from('\r\n.\r\n')
const terminatorAtLineStart = terminator.subarray(2)
const extraDot = Buffer.from('.')
const dotAfterNewline = Buffer.from('\n.')
const CR = 13
const LF = 10
const DOT = 46

/**
 * A message made ready for DATA: dots stuffed (RFC 5321 §4.5.2) and the final dot added. The
 * pieces are views of the given buffers, nothing is copied.
 * Throws on a bare CR or LF. The composer writes canonical CRLF before it signs; a bare one here
 * would break the signature at the receiver, and is what smuggling is made of (CVE-2023-51764).
 */
export function stuffDots(message: readonly Buffer[]): Buffer[] {
  const out: Buffer[] = []
  let last = LF // the message begins at the start of a line
  for (const piece of message) {
    if (piece.length === 0) continue
    checkNewlines(piece, out.length === 0 ? 0 : last)
    if (last === LF && piece[0] === DOT) out.push(extraDot)
    let from = 0
    for (let at = piece.indexOf(dotAfterNewline); at !== -1; ) {
      out.push(piece.subarray(from, at + 1), extraDot)
      from = at + 1
      at = piece.indexOf(dotAfterNewline, from)
    }
    out.push(from === 0 ? piece : piece.subarray(from))
    last = piece[piece.length - 1] ?? last
  }
  if (last === CR) throw new Error('Bare CR in a message that is to be sent')
  out.push(last === LF ? terminatorAtLineStart : terminator)
  return out
}

/**
 * Native searches, one a line: 5 µs for 10 KB, where a loop over the bytes takes 17 µs
 * (Node 20.20, Nov 2026).
 */
function checkNewlines(piece: Buffer, before: number): void {
  let lineFeeds = 0
  for (let at = piece.indexOf(LF); at !== -1; at = piece.indexOf(LF, at + 1)) {
    if ((at === 0 ? before : piece[at - 1]) !== CR) {
      throw new Error('Bare LF in a message that is to be sent')
    }
    lineFeeds++
  }
  // Every LF has its CR; so a CR too many is a bare one. One at the end waits for the next piece.
  let carriageReturns = before === CR ? 1 : 0
  for (let at = piece.indexOf(CR); at !== -1; at = piece.indexOf(CR, at + 1)) carriageReturns++
  if (piece[piece.length - 1] === CR) carriageReturns--
  if (carriageReturns !== lineFeeds) throw new Error('Bare CR in a message that is to be sent')
}

/** Groups pieces into buffers of at most `blockBytes`, so that each is one write. */
export function* blocksOf(pieces: readonly Buffer[], blockBytes: number): Generator<Buffer> {
  let waiting: Buffer[] = []
  let waitingBytes = 0
  for (const piece of pieces) {
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
  }
  if (waitingBytes > 0) yield joined(waiting, waitingBytes)
}

function joined(parts: Buffer[], bytes: number): Buffer {
  const [only] = parts
  return parts.length === 1 && only !== undefined ? only : Buffer.concat(parts, bytes)
}

/** Whether any byte has its high bit set. */
export function isEightBit(message: readonly Buffer[]): boolean {
  return !message.every(isAscii)
}
