import { randomInt } from 'node:crypto'
import { type Answer, encode } from 'dns-packet'
import type { Clock } from '../clock/index.js'
import { messageOf } from '../errors/index.js'
import { type NameServer, overTcp, overUdp, queryServer, repeat } from './query.js'
import { readTsig, signTsig, type TsigKey, tsigErrors } from './tsig.js'

/** A TXT record that a zone is to have, or to have no more. */
export interface TxtChange {
  kind: 'add' | 'remove'
  name: string
  value: string
}

interface UpdateDeps {
  server: NameServer
  key: TsigKey
  clock: Clock
  signal: AbortSignal
}

// RFC 1035 §4.1.1 and RFC 2136 §1.3.
const updateOpcode = 5
const classNone = 254
// What is published is looked for at once.
const ttlS = 60

// Datagrams are lost, and some firewalls let none through.
const udpMs = 4_000
const resendMs = 1_300
const tcpMs = 8_000

/** RFC 1035 §4.1.1, RFC 2136 §2.2. */
const rcodes: Readonly<Record<number, string>> = {
  1: 'it does not understand it (FORMERR)',
  2: 'it cannot do it just now (SERVFAIL)',
  4: 'it takes no updates (NOTIMP)',
  5: 'the key may not change this name, or the server takes no updates of the zone (REFUSED)',
  9: 'the server is no primary of the zone, or does not take the key (NOTAUTH)',
  10: 'the name is not in the zone (NOTZONE)',
}

/** The zone that a name is in, as the server has it. Rejects with why it cannot be told. */
export async function zoneAt(
  { server, clock, signal }: Omit<UpdateDeps, 'key'>,
  name: string,
): Promise<string> {
  const { rcode, packet } = await within({ clock, signal }, udpMs + tcpMs, (stop) =>
    queryServer(server, { name, type: 'SOA' }, stop, (send) => repeat(clock, resendMs, send)),
  )
  // RFC 2308 §3: of a name that is not there the SOA record stands in the authority section.
  const soa = [...(packet.answers ?? []), ...(packet.authorities ?? [])].find(
    ({ type }) => type === 'SOA',
  )
  if (soa !== undefined) return soa.name
  const why = rcode === 0 || rcode === 3 ? 'it tells of none' : (rcodes[rcode] ?? `code ${rcode}`)
  throw new Error(`The server has no zone with ${name}: ${why}`)
}

/**
 * Changes records of a zone (RFC 2136), all or none, by a key; without changes the server only judges the key. Rejects with
 * what the server refused, or that it does not answer. Doing it twice is as good as once.
 */
export async function updateZone(
  { server, key, clock, signal }: UpdateDeps,
  zone: string,
  changes: readonly TxtChange[],
): Promise<void> {
  const message = updateOf(zone, changes)
  const id = message.readUInt16BE(0)
  const { signed, mac } = signTsig(message, key, clock.now())
  const read = (reply: Buffer) => readTsig(reply, key, { mac, nowMs: clock.now() })
  const isOurs = (reply: Buffer) =>
    reply.length >= 12 &&
    reply.readUInt16BE(0) === id &&
    ((reply[2] ?? 0) & 0xf8) === (0x80 | (updateOpcode << 3)) &&
    // That it was done is believed of the server alone; a refusal changes nothing, whoever says it.
    (rcodeOf(reply) !== 0 || isCut(reply) || read(reply)?.signed === true)
  const reply = await ask({ server, clock, signal }, signed, isOurs)
  const rcode = rcodeOf(reply)
  if (rcode === 0) return
  const told = read(reply)
  const why = tsigErrors[told?.error ?? 0] ?? rcodes[rcode] ?? `code ${rcode}`
  throw new Error(`The server does not do it: ${why}`)
}

/** Over UDP, and over TCP where that has no whole answer in time. */
async function ask(
  { server, clock, signal }: Omit<UpdateDeps, 'key'>,
  message: Buffer,
  isOurs: (reply: Buffer) => boolean,
): Promise<Buffer> {
  try {
    const reply = await within({ clock, signal }, udpMs, (stop) =>
      overUdp(server, message, isOurs, stop, (send) => repeat(clock, resendMs, send)),
    )
    if (!isCut(reply)) return reply
  } catch (error) {
    if (signal.aborted) throw error
  }
  try {
    return await within({ clock, signal }, tcpMs, (stop) => overTcp(server, message, isOurs, stop))
  } catch (error) {
    throw new Error(`The server gives no answer that the key has signed: ${messageOf(error)}`)
  }
}

const rcodeOf = (reply: Buffer) => (reply[3] ?? 0) & 0x0f
const isCut = (reply: Buffer) => ((reply[2] ?? 0) & 0x02) !== 0

/** Ends what is asked after a time, and with `signal`. */
async function within<T>(
  { clock, signal }: Pick<UpdateDeps, 'clock' | 'signal'>,
  ms: number,
  work: (stop: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = new AbortController()
  const cancel = clock.after(ms, () => late.abort())
  try {
    return await work(AbortSignal.any([signal, late.signal]))
  } finally {
    cancel()
  }
}

/** RFC 2136 §2: the zone where a query has its question, the changes where an answer has its authorities. */
function updateOf(zone: string, changes: readonly TxtChange[]): Buffer {
  const head = encode({
    type: 'query',
    id: randomInt(65_536),
    flags: updateOpcode << 11,
    questions: [{ name: zone, type: 'SOA' }],
  })
  head.writeUInt16BE(changes.length, 8)
  return Buffer.concat([head, ...changes.map(recordOf)])
}

function recordOf({ kind, name, value }: TxtChange): Buffer {
  const ttl = kind === 'add' ? ttlS : 0
  const answer: Answer = { type: 'TXT', name, ttl, class: 'IN', data: value }
  const record = encode({ authorities: [answer] }).subarray(12)
  // RFC 2136 §2.5.4: this one record of several goes by the class NONE, which dns-packet does not know. The class stands
  // before the TTL (4 bytes), the length (2) and the text with its own length (1).
  if (kind === 'remove') {
    record.writeUInt16BE(classNone, record.length - Buffer.byteLength(value) - 1 - 2 - 4 - 2)
  }
  return record
}
