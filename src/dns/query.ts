import { randomInt } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { isIPv6, connect as tcpConnect } from 'node:net'
import {
  AUTHENTIC_DATA,
  type DecodedPacket,
  decode,
  encode,
  RECURSION_DESIRED,
  type RecordType,
} from 'dns-packet'
import type { Clock } from '../clock/index.js'

export interface NameServer {
  host: string
  port: number
}

export interface DnsReply {
  /** RFC 1035 §4.1.1: 0 is success, 2 SERVFAIL, 3 NXDOMAIN. */
  rcode: number
  packet: DecodedPacket
}

// Fits into every path's packets (DNS flag day 2020); more comes over TCP.
const udpBytes = 1_232
const maxTcpBytes = 65_535 + 2

/**
 * Asks one server one question with DNSSEC, over UDP and, for an answer that was cut off, over TCP.
 * `resendEvery` repeats the datagram until taken back. Rejects when the server cannot be reached or
 * `signal` aborts; what is not the answer to this very question is ignored.
 */
export async function queryServer(
  server: NameServer,
  question: { name: string; type: RecordType },
  signal: AbortSignal,
  resendEvery: (send: () => void) => () => void,
): Promise<DnsReply> {
  // Ids and, each query on a socket of its own, ports that cannot be guessed (RFC 5452 §9.2).
  const id = randomInt(65_536)
  const message = encode({
    type: 'query',
    id,
    // RFC 6840 §5.7: AD in a question asks for AD in the answer.
    flags: RECURSION_DESIRED | AUTHENTIC_DATA,
    questions: [question],
    additionals: [
      {
        type: 'OPT',
        name: '.',
        udpPayloadSize: udpBytes,
        extendedRcode: 0,
        ednsVersion: 0,
        flags: 0,
        flag_do: false,
        options: [],
      },
    ],
  })
  const isOurs = (reply: Buffer) => answers(reply, id, question)
  const first = await overUdp(server, message, isOurs, signal, resendEvery)
  const truncated = ((first[2] ?? 0) & 0x02) !== 0
  const reply = truncated ? await overTcp(server, message, isOurs, signal) : first
  return { rcode: (reply[3] ?? 0) & 0x0f, packet: decode(reply) }
}

/** Whether these bytes answer the question: same id, a response, the question repeated. */
function answers(reply: Buffer, id: number, question: { name: string; type: RecordType }): boolean {
  if (reply.length < 12 || reply.readUInt16BE(0) !== id || ((reply[2] ?? 0) & 0x80) === 0) {
    return false
  }
  try {
    // Of a truncated reply only the header and the question count.
    const head = Buffer.from(reply)
    head.fill(0, 6, 12)
    const [asked] = decode(head).questions ?? []
    return asked?.type === question.type && asked.name.toLowerCase() === question.name.toLowerCase()
  } catch {
    return false
  }
}

/** Sends a message and resolves with the first datagram that is an answer of `isOurs`. */
export function overUdp(
  server: NameServer,
  message: Buffer,
  isOurs: (reply: Buffer) => boolean,
  signal: AbortSignal,
  resendEvery: (send: () => void) => () => void,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = createSocket(isIPv6(server.host) ? 'udp6' : 'udp4')
    let cancelResend = () => {}
    let ended = false
    const end = (settle: () => void) => {
      if (ended) return
      ended = true
      signal.removeEventListener('abort', giveUp)
      cancelResend()
      socket.close()
      settle()
    }
    const giveUp = () => end(() => reject(new Error('no answer in time')))
    if (signal.aborted) return giveUp()
    signal.addEventListener('abort', giveUp)
    socket.once('error', (error) => end(() => reject(error)))
    socket.on('message', (reply) => {
      if (isOurs(reply)) end(() => resolve(reply))
    })
    // A connected socket hears its server alone, and learns when nobody listens there.
    socket.connect(server.port, server.host, () => {
      if (ended) return
      const send = () => socket.send(message)
      send()
      cancelResend = resendEvery(send)
    })
  })
}

/** RFC 7766 §8: two bytes of length before each message. */
export function overTcp(
  server: NameServer,
  message: Buffer,
  isOurs: (reply: Buffer) => boolean,
  signal: AbortSignal,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = tcpConnect({ ...server, noDelay: true })
    let bytes = Buffer.alloc(0)
    const end = (settle: () => void) => {
      signal.removeEventListener('abort', giveUp)
      socket.destroy()
      settle()
    }
    const giveUp = () => end(() => reject(new Error('no answer in time over TCP')))
    if (signal.aborted) return giveUp()
    signal.addEventListener('abort', giveUp)
    socket.once('error', (error) => end(() => reject(error)))
    socket.once('close', () => end(() => reject(new Error('TCP closed before the answer'))))
    const length = Buffer.alloc(2)
    length.writeUInt16BE(message.length)
    socket.write(Buffer.concat([length, message]))
    socket.on('data', (chunk: Buffer) => {
      bytes = Buffer.concat([bytes, chunk])
      if (bytes.length < 2 || bytes.length < 2 + bytes.readUInt16BE(0)) {
        if (bytes.length > maxTcpBytes) giveUp()
        return
      }
      const reply = bytes.subarray(2, 2 + bytes.readUInt16BE(0))
      end(() => (isOurs(reply) ? resolve(reply) : reject(new Error('not the answer over TCP'))))
    })
  })
}

/** Every `everyMs` until taken back. */
export function repeat(clock: Clock, everyMs: number, act: () => void): () => void {
  let cancel = () => {}
  const again = () => {
    cancel = clock.after(everyMs, () => {
      act()
      again()
    })
  }
  again()
  return () => cancel()
}
