import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Clock } from '../clock/index.js'

/** What browsers are asked to sign: each is good once, for five minutes. */
export interface Challenges {
  /** `of`: for whom; null for who is not known yet. */
  make(of: string | null): Buffer
  /** Whether it was made for that, and not used since; `challenge` as browsers send it, in base64url. */
  take(challenge: string, of: string | null): boolean
}

const lastsMs = 300_000
// WebAuthn §13.4.3 wants 16 random bytes at least; the seal is cut to as many, which nobody can guess.
const nonceBytes = 16
const timeBytes = 6
const sealBytes = 16
const mostUsed = 10_000

/**
 * A challenge tells by itself when and for whom it was made: nothing is kept of those that nobody answers, which
 * strangers could ask for until that of somebody else is pushed out. A restart costs who signs just now one more try.
 */
export function makeChallenges(clock: Clock): Challenges {
  const key = randomBytes(32)
  const used = new Map<string, number>()

  function seal(head: Buffer, of: string | null): Buffer {
    const text = of === null ? 'log-in' : `proof ${of}`
    return createHmac('sha256', key).update(head).update(text).digest().subarray(0, sealBytes)
  }

  /** When it was made; undefined: not by us for that. */
  function madeAt(bytes: Buffer, of: string | null): number | undefined {
    if (bytes.length !== nonceBytes + timeBytes + sealBytes) return undefined
    const head = bytes.subarray(0, nonceBytes + timeBytes)
    if (!timingSafeEqual(bytes.subarray(head.length), seal(head, of))) return undefined
    return head.readUIntBE(nonceBytes, timeBytes)
  }

  /** Notes that it is used. Only who has a passkey here comes so far, ten times a minute and address at most. */
  function use(id: string, now: number): boolean {
    for (const [oldest, until] of used) {
      if (until > now && used.size < mostUsed) break
      used.delete(oldest)
    }
    if (used.has(id)) return false
    used.set(id, now + lastsMs)
    return true
  }

  return {
    make(of) {
      const head = Buffer.concat([randomBytes(nonceBytes), Buffer.alloc(timeBytes)])
      head.writeUIntBE(clock.now(), nonceBytes, timeBytes)
      return Buffer.concat([head, seal(head, of)])
    },
    take(challenge, of) {
      const bytes = Buffer.from(challenge, 'base64url')
      const at = madeAt(bytes, of)
      const now = clock.now()
      if (at === undefined || at > now || at + lastsMs <= now) return false
      return use(bytes.toString('base64url'), now)
    },
  }
}
