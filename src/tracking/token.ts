import { timingSafeEqual } from 'node:crypto'
import { type ApplianceKey, makeMac } from '../config/index.js'
import { isTarget } from './links.js'

/** The copy of a mail that a pixel or link is in. */
export interface Copy {
  accountId: string
  emailId: string
  /** The recipient's. */
  deliveryId: number
}

export interface Click extends Copy {
  /** How many different targets are tracked in the mail; 255 for more. */
  links: number
  target: string
}

export interface TrackingTokens {
  open(copy: Copy): string
  click(click: Click): string
  /** The copy that a genuine token stands for; undefined for any other token, and for those of the other purpose. */
  readOpen(token: string): Copy | undefined
  readClick(token: string): Click | undefined
}

/*
 * A token: version (1) ‖ account (16) ‖ mail (16) ‖ delivery (7) ‖ MAC (12), and for a click the number of links (1)
 * and the target (ASCII) before the MAC; in base64url. The whole target is in it and signed, so that a redirect needs
 * no database and leads nowhere else. Each purpose has its own key.
 */
const version = 1
const idBytes = 16
const deliveryBytes = 7
const headBytes = 1 + 2 * idBytes + deliveryBytes
// RFC 2104 §5: at least 80 bits. Each guess needs a request over the network.
const macBytes = 12
const maxTokenLength = 2_048

/** Tokens never expire: people open mail that they have kept for years. */
export function makeTrackingTokens(key: ApplianceKey): TrackingTokens {
  const opens = makeSigner(key.deriveAll('tracking open'))
  const clicks = makeSigner(key.deriveAll('tracking click'))
  return {
    open: (copy) => opens.sign(startOf(copy, 0)),
    click(click) {
      const { links, target } = click
      const bytes = startOf(click, 1 + target.length)
      bytes[headBytes] = Math.min(255, links)
      bytes.write(target, headBytes + 1, 'latin1')
      return clicks.sign(bytes)
    },
    readOpen(token) {
      const body = opens.open(token)
      return body?.length === headBytes ? copyOf(body) : undefined
    },
    readClick(token) {
      const body = clicks.open(token)
      if (body === undefined || body.length <= headBytes) return undefined
      const target = body.toString('latin1', headBytes + 1)
      // We signed it, but a redirect deserves a second check.
      if (!isTarget(target)) return undefined
      return { links: body[headBytes] ?? 0, target, ...copyOf(body) }
    },
  }
}

/** Signs by the first of the keys, and understands what any of them has signed. */
function makeSigner([newest = Buffer.alloc(0), ...older]: readonly Buffer[]) {
  const mac = makeMac(newest, maxTokenLength)
  const macs = [mac, ...older.map((one) => makeMac(one, maxTokenLength))]
  return {
    /** Takes bytes that have room for the MAC at their end. */
    sign(bytes: Buffer): string {
      mac(bytes.subarray(0, -macBytes)).copy(bytes, bytes.length - macBytes, 0, macBytes)
      return bytes.toString('base64url')
    },
    /** The bytes that were signed. The next call overwrites them, because there are thousands a second. */
    open(token: string): Buffer | undefined {
      if (token.length > maxTokenLength) return undefined
      const length = opened.write(token, 'base64url')
      // Decoding skips characters outside of base64url, so this makes sure that a token has only one spelling.
      if (length < headBytes + macBytes || opened.toString('base64url', 0, length) !== token)
        return undefined
      if (opened[0] !== version) return undefined
      const body = opened.subarray(0, length - macBytes)
      const given = opened.subarray(length - macBytes, length)
      return macs.some((of) => timingSafeEqual(of(body).subarray(0, macBytes), given))
        ? body
        : undefined
    },
  }
}

const opened = Buffer.alloc(maxTokenLength)

/** The head, with room for `more` and the MAC. It is one piece, because each link of each copy is signed. */
function startOf({ accountId, emailId, deliveryId }: Copy, more: number): Buffer {
  const head = Buffer.allocUnsafe(headBytes + more + macBytes)
  head[0] = version
  head.write(accountId.replaceAll('-', ''), 1, idBytes, 'hex')
  head.write(emailId.replaceAll('-', ''), 1 + idBytes, idBytes, 'hex')
  // A safe integer has 53 bits, so the high ones are written separately: Buffer writes at most 48.
  const at = 1 + 2 * idBytes
  head[at] = Math.floor(deliveryId / 2 ** 48)
  head.writeUIntBE(deliveryId % 2 ** 48, at + 1, 6)
  return head
}

function copyOf(body: Buffer): Copy {
  const at = 1 + 2 * idBytes
  const ids = body.toString('hex', 1, at)
  return {
    accountId: idIn(ids, 0),
    emailId: idIn(ids, 2 * idBytes),
    deliveryId: (body[at] ?? 0) * 2 ** 48 + body.readUIntBE(at + 1, 6),
  }
}

function idIn(hex: string, at: number): string {
  const [first, second] = [hex.slice(at, at + 8), hex.slice(at + 8, at + 12)]
  const [third, fourth] = [hex.slice(at + 12, at + 16), hex.slice(at + 16, at + 20)]
  return `${first}-${second}-${third}-${fourth}-${hex.slice(at + 20, at + 32)}`
}
