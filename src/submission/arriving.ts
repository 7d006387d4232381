import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { SMTPServerDataStream } from 'smtp-server'
import { makeLineCheck } from '../mime/index.js'
import { type ArrivalRoom, isNextPiece, Refusal, whenCutOff } from '../smtpd/index.js'

/** A message that has arrived and whose lines are good. */
export interface Arrived {
  /** The fields, each ended by CRLF; not the blank line after them. */
  header: Buffer
  body: ArrivedBody
  /** Gives back its room and its file. */
  release(): void
}

/** The body; it can be read more than once, a piece at a time. */
export interface ArrivedBody extends Iterable<Buffer> {
  readonly sizeBytes: number
}

// The most bytes of a message's header. RFC 5322 sets no limit; real headers have 2 to 10 KiB.
export const maxHeaderBytes = 64 * 1024
// A body up to this size stays in memory, a larger one goes to a file: most mail does not touch the disk before it is
// accepted.
const heldBytes = 128 * 1024
// How much of a body is written to its file, and read from it, at once.
const pieceBytes = 64 * 1024
const blankLine = Buffer.from('\r\n\r\n')
const crlf = Buffer.from('\r\n')

/**
 * A message, read to its end even when it is refused, because a client reads a refusal only after its final dot. A
 * body larger than `heldBytes` goes to a file that has no name any more, so that a crash leaves nothing.
 */
export function arrive(
  stream: SMTPServerDataStream,
  options: {
    room: ArrivalRoom
    source: string
    dir: string
    /** Called after each piece of the message (`isNextPiece`). */
    advanced(): void
  },
): Promise<Arrived> {
  return new Promise((resolve, reject) => {
    const lines = makeLineCheck()
    const body = makeBody(options.dir)
    let head: Buffer = Buffer.alloc(0)
    let isInBody = false
    let sizeBytes = 0
    let refusal: Refusal | undefined
    const place = options.room.begin(options.source, () =>
      drop('452 4.3.1 Too much mail at once, try again later'),
    )
    const release = () => {
      place.leave()
      body.close()
    }
    const drop = (reply: string) => {
      refusal ??= new Refusal(reply)
      head = Buffer.alloc(0)
      release()
    }
    const keep = (chunk: Buffer) => {
      if (isInBody) return body.add(chunk)
      // The blank line may begin in the chunk before; earlier bytes were already searched.
      const searchFrom = Math.max(0, head.length - blankLine.length)
      head = head.length === 0 ? Buffer.from(chunk) : Buffer.concat([head, chunk])
      const blank = head.indexOf(blankLine, searchFrom)
      // Undefined: the header goes on. It may be empty.
      const end = head.subarray(0, 2).equals(crlf) ? 0 : blank < 0 ? undefined : blank + crlf.length
      if ((end ?? head.length) > maxHeaderBytes) {
        return drop(`550 5.6.0 The header is over ${maxHeaderBytes} bytes`)
      }
      if (end === undefined) return
      isInBody = true
      body.add(head.subarray(end + crlf.length))
      head = Buffer.from(head.subarray(0, end))
    }
    stream.on('data', (chunk: Buffer) => {
      if (isNextPiece(sizeBytes, sizeBytes + chunk.length)) options.advanced()
      sizeBytes += chunk.length
      if (refusal !== undefined) return
      if (stream.sizeExceeded) return drop('552 5.3.4 The message is too large')
      const fault = lines.feed(chunk)
      if (fault !== undefined) return drop(badLine(fault))
      if (!place.take(chunk.length)) return drop('452 4.3.1 Too much mail at once, try again later')
      try {
        keep(chunk)
      } catch {
        drop('452 4.3.1 There is no room to keep the message while it arrives')
      }
    })
    stream.once('end', () => {
      const fault = lines.end()
      if (fault !== undefined) drop(badLine(fault))
      if (refusal !== undefined) return reject(refusal)
      place.arrived()
      // Without a blank line all of it is header.
      const header = isInBody || head.subarray(-2).equals(crlf) ? head : Buffer.concat([head, crlf])
      resolve({ header, body, release })
    })
    whenCutOff(stream, () => {
      drop('451 4.4.2 The connection was lost')
      reject(refusal)
    })
  })
}

const badLine = (fault: string) => `550 5.6.0 The message has ${fault}`

// Makes the names of files unique within this process; the pid does so between processes.
let files = 0

/**
 * The body of a message that arrives: its first bytes in memory, or all but the last of them in a
 * file.
 */
function makeBody(dir: string) {
  let chunks: Buffer[] = []
  let sizeBytes = 0
  let waitingBytes = 0
  let file: number | undefined
  let isClosed = false
  const spill = () => {
    file ??= openNameless(dir)
    const bytes = Buffer.concat(chunks, waitingBytes)
    for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done)
    chunks = []
    waitingBytes = 0
  }
  return {
    get sizeBytes() {
      return sizeBytes
    },
    add(chunk: Buffer) {
      if (isClosed || chunk.length === 0) return
      // A copy, because the chunk's memory belongs to the connection.
      chunks.push(Buffer.from(chunk))
      sizeBytes += chunk.length
      waitingBytes += chunk.length
      if (waitingBytes > (file === undefined ? heldBytes : pieceBytes)) spill()
    },
    *[Symbol.iterator]() {
      const fileBytes = sizeBytes - waitingBytes
      for (let at = 0; at < fileBytes && file !== undefined; ) {
        const piece = Buffer.allocUnsafe(Math.min(pieceBytes, fileBytes - at))
        const read = readSync(file, piece, 0, piece.length, at)
        if (read === 0) throw new Error('A message that was arriving has lost its file')
        yield piece.subarray(0, read)
        at += read
      }
      yield* chunks
    },
    close() {
      isClosed = true
      chunks = []
      if (file !== undefined) closeSync(file)
      file = undefined
    },
  }
}

/**
 * Opens a file and removes its name at once: it lives as long as it is open, and no crash leaves it
 * behind. `wx` refuses a link that somebody has put there.
 */
function openNameless(dir: string): number {
  const name = join(dir, `arriving-${process.pid}-${++files}.tmp`)
  const file = openSync(name, 'wx+', 0o600)
  rmSync(name)
  return file
}
