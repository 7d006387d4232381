import { createHmac, timingSafeEqual } from 'node:crypto'
import { encode } from 'dns-packet'

/*
 * Transaction signatures (RFC 8945), as far as one question and its one answer need them: dns-packet knows the type TSIG
 * and not what is in it.
 */

/** A key by which a name server knows who asks. */
export interface TsigKey {
  name: string
  /** hmac-sha256 and the like (RFC 8945 §6). */
  algorithm: string
  secret: Buffer
}

// RFC 8945 §10: what clocks may differ by.
const fudgeS = 300
const classAny = 255
const typeTsig = 250

/** What the server said of our signature (RFC 8945 §3, the extended RCODEs), in words. */
export const tsigErrors: Readonly<Record<number, string>> = {
  16: 'it does not take the signature: the secret is another there (BADSIG)',
  17: 'it does not know the key (BADKEY)',
  18: 'its clock and the one of this machine differ by more than five minutes (BADTIME)',
  22: 'it wants a longer signature (BADTRUNC)',
}

/** A message with its signature behind it, and the MAC, which the answer's signature covers. */
export function signTsig(
  message: Buffer,
  key: TsigKey,
  nowMs: number,
): { signed: Buffer; mac: Buffer } {
  const time = timeOf(nowMs)
  const mac = macOf(key, [message, variablesOf(key, { time, error: 0, other: Buffer.alloc(0) })])
  const tail = Buffer.alloc(6)
  // The original id, no error, nothing else.
  message.copy(tail, 0, 0, 2)
  const data = Buffer.concat([wireName(key.algorithm), time, short(mac.length), mac, tail])
  const record = Buffer.concat([
    wireName(key.name),
    short(typeTsig),
    short(classAny),
    // The TTL.
    Buffer.alloc(4),
    short(data.length),
    data,
  ])
  const signed = Buffer.concat([message, record])
  signed.writeUInt16BE(message.readUInt16BE(10) + 1, 10)
  return { signed, mac }
}

/**
 * What an answer's signature says: `signed` where it is by our key and of this time. An error that the server tells without a
 * signature (it could not make one) is told too. Undefined where there is none that can be read.
 */
export function readTsig(
  reply: Buffer,
  key: TsigKey,
  { mac: ofRequest, nowMs }: { mac: Buffer; nowMs: number },
): { signed: boolean; error: number } | undefined {
  try {
    const at = lastRecord(reply)
    let offset = skipName(reply, at)
    if (reply.readUInt16BE(offset) !== typeTsig) return undefined
    offset = skipName(reply, offset + 10)
    const time = reply.subarray(offset, offset + 8)
    const macBytes = reply.readUInt16BE(offset + 8)
    offset += 10
    const mac = reply.subarray(offset, offset + macBytes)
    offset += macBytes
    const id = reply.subarray(offset, offset + 2)
    const error = reply.readUInt16BE(offset + 2)
    const otherBytes = reply.readUInt16BE(offset + 4)
    const other = reply.subarray(offset + 6, offset + 6 + otherBytes)
    // RFC 8945 §5.3: the message as it was before the record came behind it.
    const bare = Buffer.from(reply.subarray(0, at))
    id.copy(bare)
    bare.writeUInt16BE(bare.readUInt16BE(10) - 1, 10)
    const due = macOf(key, [
      short(ofRequest.length),
      ofRequest,
      bare,
      variablesOf(key, { time, error, other }),
    ])
    // One that is cut short is nobody's whom we know.
    const isOurs = mac.length === due.length && timingSafeEqual(mac, due)
    const apartS = Math.abs(time.readUIntBE(0, 6) - Math.floor(nowMs / 1_000))
    return { signed: isOurs && apartS <= fudgeS, error }
  } catch {
    // Cut off somewhere.
    return undefined
  }
}

/** RFC 8945 §4.3.3: what is signed beside the message. */
function variablesOf(
  key: TsigKey,
  { time, error, other }: { time: Buffer; error: number; other: Buffer },
): Buffer {
  return Buffer.concat([
    wireName(key.name),
    short(classAny),
    Buffer.alloc(4),
    wireName(key.algorithm),
    time,
    short(error),
    short(other.length),
    other,
  ])
}

const macOf = ({ algorithm, secret }: TsigKey, parts: readonly Buffer[]): Buffer =>
  createHmac(algorithm.slice('hmac-'.length), secret).update(Buffer.concat(parts)).digest()

/** 48 bits of seconds, and what clocks may differ by. */
function timeOf(nowMs: number): Buffer {
  const time = Buffer.alloc(8)
  time.writeUIntBE(Math.floor(nowMs / 1_000), 0, 6)
  time.writeUInt16BE(fudgeS, 6)
  return time
}

function short(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16BE(value)
  return bytes
}

/** A name as it goes over the wire, in small letters (RFC 8945 §4.3.3): the question of a message without its rest. */
const wireName = (name: string): Buffer =>
  encode({ questions: [{ name: name.toLowerCase(), type: 'A' }] }).subarray(12, -4)

/** Where the last record of a message begins. Throws where the message ends before. */
function lastRecord(message: Buffer): number {
  let offset = 12
  for (let i = message.readUInt16BE(4); i > 0; i--) offset = skipName(message, offset) + 4
  let last = offset
  const records = message.readUInt16BE(6) + message.readUInt16BE(8) + message.readUInt16BE(10)
  for (let i = records; i > 0; i--) {
    last = offset
    offset = skipName(message, offset)
    offset += 10 + message.readUInt16BE(offset + 8)
  }
  return last
}

/** RFC 1035 §4.1.4: labels up to an empty one, or up to a pointer of two bytes. */
function skipName(message: Buffer, offset: number): number {
  let at = offset
  for (;;) {
    const length = message.readUInt8(at)
    if (length >= 0xc0) return at + 2
    at += 1 + length
    if (length === 0) return at
  }
}
