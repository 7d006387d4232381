import { isAscii } from 'node:buffer'
import { randomUUID } from 'node:crypto'
import { connect, type NetConnectOpts } from 'node:net'
import type { Server } from 'hyper-express'

/*
 * What uWS has just received, byte for byte. uWS hands over header values without the bytes from 0x80 on
 * at their ends (`char` is signed in its parser), so that `order-1é` and `order-1` are one, and no call
 * shows what it cut. But it reads every connection of a thread into one buffer, which lives as long as
 * the thread, and lends out pieces of it as bodies of requests. A piece that is kept beyond its body goes
 * on showing the buffer.
 */

type Native = Server['uws_instance']
type Field = [name: string, value: string]
type Tell = (each: (name: string, value: string) => void) => void

export interface RequestLine {
  method: string
  path: string
  /** Without its question mark, after which there may be nothing. */
  query: string
}

export interface Received {
  /**
   * The header fields of the request that is being handed over, repeated ones separately. `plain` if all are ASCII, of
   * which uWS cuts nothing. Undefined if the head did not arrive in one piece, as uWS then assembled it elsewhere, or
   * if another request arrived in front of it. `told` is the number of fields that uWS reports, and `tell` visits
   * them. Call it only while uWS calls us, once a request.
   */
  fields(line: RequestLine, told: number, tell: Tell): Field[] | 'plain' | undefined
  /**
   * Whether the remaining pieces of a head have a value that uWS cut down to this one. Call it only
   * while uWS calls us.
   */
  showsCut(value: string): boolean
}

const pieceBytes = 64 * 1024
const bodyBytes = 2 * 1024 * 1024
const patienceMs = 5_000
// https://www.haproxy.org/download/1.8/doc/proxy-protocol.txt §2.2: version, family and length follow it.
const proxySignature = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1')
// No method begins with this byte (RFC 9110 §5.6.2), so no request line that uWS reports equals a line with
// it.
const taken = 0
const headEnd = Buffer.from('\r\n\r\n')
/**
 * How long a request's line and header fields may be together; uWS closes the connection beyond it (before 20.57
 * beyond 4 KiB of a head in pieces).
 */
export const maxHeadBytes = 32 * 1024

// One thread, one loop, one buffer, however many servers.
let buffer: Buffer | undefined

/**
 * Call it before `native` listens. It adds the path by which we obtain the buffer, which nobody else
 * can guess.
 */
export function openReceived(native: Native) {
  const path = `/${randomUUID()}`
  native.post(path, (response) => {
    let pieces = 0
    let closed = false
    const close = () => {
      if (!closed) response.close()
      closed = true
    }
    response.onAborted(() => {
      closed = true
    })
    response.onData((piece, last) => {
      pieces++
      // The first piece follows its head; the others begin where heads begin.
      if (pieces > 1 && piece.byteLength >= pieceBytes && buffer === undefined) {
        buffer = Buffer.from(structuredClone(piece, { transfer: [piece] }))
      }
      // Nobody needs an answer, and the rest is of no use. Closed outside of the body's callback.
      if (last || buffer !== undefined) setImmediate(close)
    })
  })
  return {
    received: { fields, showsCut } satisfies Received,
    /** Call it once `native` listens there; resolves with whether the buffer can be seen. */
    async look(at: NetConnectOpts): Promise<boolean> {
      if (buffer === undefined) await ask(at, path)
      return buffer !== undefined
    },
  }
}

function fields(asked: RequestLine, told: number, tell: Tell): Field[] | 'plain' | undefined {
  if (buffer === undefined) return undefined
  const start = behindProxyHeader(buffer)
  const lineEnd = buffer.indexOf('\r\n', start)
  const line = buffer.toString('utf8', start, Math.max(start, lineEnd))
  // The bytes at the beginning belong to this request, or are the last piece of one that came in pieces, or belong to
  // an earlier request of the same segment, which was already taken.
  if (!isLineOf(asked, line)) return undefined
  // The next data in the buffer overwrite this byte, so a request that still finds it arrived together with this
  // one, after it. uWS does not read a method again once it has called us.
  buffer[start] = taken
  const end = buffer.indexOf(headEnd, lineEnd)
  const head = buffer.subarray(lineEnd, Math.max(lineEnd, end))
  // The last piece of a head may look like a whole head, but has fewer fields.
  if (lineEndsIn(head) !== told) return undefined
  if (isAscii(head)) return 'plain'
  const lines = head.toString('utf8', 2).split('\r\n')
  const seen = lines.map((field): Field => {
    const colon = field.indexOf(':')
    const value = withoutBlanks(field.slice(colon + 1))
    return [field.slice(0, colon).toLowerCase(), value]
  })
  return areTold(seen, tell) ? seen : undefined
}

/**
 * Whether these are the fields that uWS reports, except for what it cuts. The end of a body may look like the next
 * request's head.
 */
function areTold(seen: readonly Field[], tell: Tell): boolean {
  let at = 0
  let are = true
  tell((name, value) => {
    const [seenName, sent = ''] = seen[at++] ?? []
    are &&= seenName === name && (sent === value || cutOf(sent) === value)
  })
  return are
}

function isLineOf({ method, path, query }: RequestLine, line: string): boolean {
  if (line === `${method} ${path}?${query} HTTP/1.1`) return true
  return query === '' && line === `${method} ${path} HTTP/1.1`
}

function lineEndsIn(head: Buffer): number {
  let count = 0
  for (let at = head.indexOf('\r\n'); at !== -1; at = head.indexOf('\r\n', at + 2)) count++
  return count
}

/** Where the request begins that came over TLS, as the first of its connection (`tls-way.ts`). */
function behindProxyHeader(bytes: Buffer): number {
  // The first byte already shows that most requests have no such header.
  if (bytes[0] !== proxySignature[0]) return 0
  const isThere = bytes.subarray(0, proxySignature.length).equals(proxySignature)
  return isThere ? proxySignature.length + 4 + bytes.readUInt16BE(proxySignature.length + 2) : 0
}

function showsCut(value: string): boolean {
  const lines = buffer?.toString('latin1', 0, maxHeadBytes).split('\r\n') ?? []
  // The last piece overwrote the beginning of the earlier ones, so that the field's name may be
  // gone.
  return lines.some((line) => {
    const sent = withoutBlanks(line.slice(line.indexOf(':') + 1))
    return sent !== value && cutOf(sent) === value
  })
}

/** What uWS leaves of a value: it takes bytes from 0x80 on as smaller than a blank. */
const cutOf = (sent: string) => sent.replace(/^[^!-\x7f]+|(?<![^!-\x7f])[^!-\x7f]+$/g, '')

// RFC 9110 §5.5: only blanks and tabs around a value do not belong to it. Each run is matched only from its
// first character, as a head of 32 KiB of blanks would otherwise cost their square.
const withoutBlanks = (text: string) => text.replace(/^[ \t]+|(?<![ \t])[ \t]+$/g, '')

async function ask(at: NetConnectOpts, path: string): Promise<void> {
  const socket = connect(at)
  // Not the appliance's clock: it is our own process that has to answer.
  socket.setTimeout(patienceMs, () => socket.destroy())
  socket.on('error', () => {})
  socket.resume()
  socket.write(`POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${bodyBytes}\r\n\r\n`)
  socket.write(Buffer.alloc(bodyBytes))
  // However it ends, only whether the buffer was seen counts.
  await new Promise<void>((resolve) => socket.once('close', () => resolve()))
}
