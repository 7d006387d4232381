import { timingSafeEqual } from 'node:crypto'
import { type ApplianceKey, makeMac } from '../config/index.js'

/**
 * The signed envelope sender of a delivery, so that a bounce names it and nobody else can
 * (`notes/mta.md` §3): `b` + key letter + base32(8-byte delivery id ‖ 10 bytes of HMAC-SHA256) =
 * 31 octets, of one case because relays fold it.
 */
export interface ReturnPaths {
  /** e.g. `baaaaaaa…@bounce.example.com`; the host is part of what is signed. */
  addressOf(deliveryId: number, host: string): string
  /** The delivery that a returned report speaks of, or undefined for anything not signed by us. */
  deliveryOf(address: string): number | undefined
}

const alphabet = 'abcdefghijklmnopqrstuvwxyz234567'
const keyLetter = 'a'
const idBytes = 8
const macBytes = 10
// A name in the DNS (RFC 1035 §2.3.4).
const maxHostBytes = 253

/**
 * Writes and reads the addresses to which bounces come. Each is signed, so that nobody can invent a bounce of a mail
 * that they never got.
 */
export function makeReturnPaths(key: ApplianceKey): ReturnPaths {
  // Of older keys too: bounces of mail that left before a rotation come for days.
  const macs = key.deriveAll('return path').map((one) => makeMac(one, idBytes + maxHostBytes))
  const signed = Buffer.alloc(idBytes + maxHostBytes)
  /** The MAC by each key, of the id that stands in `signed`; the next call overwrites it. */
  const macBy = (macOf: (typeof macs)[number] | undefined, host: string): Buffer => {
    const length = signed.write(host.toLowerCase(), idBytes)
    const bytes = signed.subarray(0, idBytes + length)
    return (macOf?.(bytes) ?? bytes).subarray(0, macBytes)
  }
  const named = Buffer.alloc(idBytes + macBytes)
  return {
    addressOf(deliveryId, host) {
      signed.writeBigUInt64BE(BigInt(deliveryId))
      signed.copy(named, 0, 0, idBytes)
      macBy(macs[0], host).copy(named, idBytes)
      return `b${keyLetter}${toBase32(named)}@${host}`
    },
    deliveryOf(address) {
      const match = /^b([a-z])([a-z2-7]{29})@([^@]{1,253})$/.exec(address.toLowerCase())
      if (match?.[1] !== keyLetter) return undefined
      const bytes = fromBase32(match[2] ?? '')
      // The last letter has a spare bit: only one of its two forms is ours.
      if (toBase32(bytes) !== match[2]) return undefined
      const id = bytes.subarray(0, idBytes)
      const given = bytes.subarray(idBytes, idBytes + macBytes)
      id.copy(signed)
      const host = match[3] ?? ''
      if (!macs.some((one) => timingSafeEqual(given, macBy(one, host)))) return undefined
      return Number(id.readBigUInt64BE())
    },
  }
}

function toBase32(bytes: Buffer): string {
  let text = ''
  let bits = 0
  let value = 0
  for (const byte of bytes) {
    value = (value << 8) | byte
    bits += 8
    while (bits >= 5) {
      bits -= 5
      text += alphabet[(value >>> bits) & 31]
      value &= (1 << bits) - 1
    }
  }
  return bits > 0 ? text + alphabet[(value << (5 - bits)) & 31] : text
}

function fromBase32(text: string): Buffer {
  const bytes: number[] = []
  let bits = 0
  let value = 0
  for (const letter of text) {
    value = (value << 5) | alphabet.indexOf(letter)
    bits += 5
    if (bits >= 8) {
      bits -= 8
      bytes.push((value >>> bits) & 255)
      value &= (1 << bits) - 1
    }
  }
  return Buffer.from(bytes)
}
