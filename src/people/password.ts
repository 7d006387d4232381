import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'
import { ApiError } from '../errors/index.js'

/** A one-way function from a password to bytes. */
export type Derive = (
  password: string,
  salt: Buffer,
  keyBytes: number,
  options: ScryptOptions,
) => Promise<Buffer>

export interface Passwords {
  /** The stored form, with its parameters. `who`: as in `checkOwn`. */
  hash(password: string, who: string): Promise<string>
  /**
   * Whether it is the stored password; `isOld`: it is, but was stored with older parameters. Takes as long
   * without a stored one, so that nobody learns who exists. Throws a 503.
   */
  check(password: string, stored: string | null): Promise<Checked>
  /**
   * Checks as `check` does, for people who are logged in or at a known place: they do not wait behind strangers. Each
   * `who` has one place in the queue, as otherwise one person could keep all others out; throws a 429 for a second.
   */
  checkOwn(password: string, stored: string | null, who: string): Promise<Checked>
}

interface Checked {
  isRight: boolean
  isOld: boolean
}

// 32 MiB and a third of a second: OWASP's choice of 2026 for scrypt with p = 3.
const today = { logN: 15, r: 8, p: 3 }
const saltBytes = 16
const keyBytes = 32
const maxmem = 64 * 1024 * 1024
// Each holds 32 MiB and one of the four threads that also sync the database; with `ownAtOnce` one is left.
const atOnce = 2
const ownAtOnce = 1
const mostWaiting = 20
// Nobody has a longer password: 200 characters (`password-rules.ts`), each with its combining marks. The time to
// normalize many marks in a row grows with their square.
const mostUnits = 1_024

/** One a process, as it bounds the work for all. */
export function makePasswords(derive: Derive = deriveByScrypt): Passwords {
  const inTurn = makeTurns(atOnce)
  // A separate queue for people who are known or have a valid link, so that log-ins of strangers do not keep them
  // out.
  const ownTurns = makeTurns(ownAtOnce)
  const inLine = new Set<string>()
  const inOwnTurn =
    (who: string): typeof inTurn =>
    async (work) => {
      if (inLine.has(who)) throw oneAtATime()
      inLine.add(who)
      try {
        return await ownTurns(work)
      } finally {
        inLine.delete(who)
      }
    }
  const run = (turn: typeof inTurn, password: string, { salt, logN, r, p }: Parsed) =>
    turn(() =>
      // RFC 8265 §4.2: the same characters are the same password, however a keyboard makes them.
      derive(password.normalize('NFC'), salt, keyBytes, { N: 2 ** logN, r, p, maxmem }),
    )
  const checkIn = async (turn: typeof inTurn, password: string, stored: string | null) => {
    const parsed = stored === null ? undefined : parse(stored)
    const isTooLong = password.length > mostUnits
    const from = parsed ?? { ...today, salt: Buffer.alloc(saltBytes) }
    const key = await run(turn, isTooLong ? '' : password, from)
    if (parsed === undefined || isTooLong) return { isRight: false, isOld: false }
    const isRight = key.length === parsed.key.length && timingSafeEqual(key, parsed.key)
    const isOld = parsed.logN !== today.logN || parsed.r !== today.r || parsed.p !== today.p
    return { isRight, isOld: isRight && isOld }
  }
  return {
    async hash(password, who) {
      const parsed = { ...today, salt: randomBytes(saltBytes) }
      const key = await run(inOwnTurn(who), password, parsed)
      const { logN, r, p, salt } = parsed
      return `scrypt$${logN}$${r}$${p}$${salt.toString('base64url')}$${key.toString('base64url')}`
    },
    check: (password, stored) => checkIn(inTurn, password, stored),
    checkOwn: (password, stored, who) => checkIn(inOwnTurn(who), password, stored),
  }
}

const oneAtATime = () =>
  new ApiError('rate_limit_exceeded', 'Your last attempt is still being looked at: wait a second', {
    headers: { 'Retry-After': '1' },
  })

interface Parsed {
  logN: number
  r: number
  p: number
  salt: Buffer
}

function parse(stored: string): (Parsed & { key: Buffer }) | undefined {
  const match = /^scrypt\$(\d{1,2})\$(\d{1,2})\$(\d{1,2})\$([\w-]+)\$([\w-]+)$/.exec(stored)
  if (match === null) return undefined
  const [, logN, r, p, salt = '', key = ''] = match
  return {
    logN: Number(logN),
    r: Number(r),
    p: Number(p),
    salt: Buffer.from(salt, 'base64url'),
    key: Buffer.from(key, 'base64url'),
  }
}

const deriveByScrypt: Derive = (password, salt, bytes, options) =>
  new Promise((resolve, reject) => {
    scrypt(password, salt, bytes, options, (error, key) =>
      error === null ? resolve(key) : reject(error),
    )
  })

/**
 * A few run at once, some wait, and the others get a 503: log-ins must not take the whole machine.
 */
function makeTurns(atOnce: number): <T>(work: () => Promise<T>) => Promise<T> {
  let running = 0
  const waiting: (() => void)[] = []
  return async (work) => {
    if (running >= atOnce) {
      if (waiting.length >= mostWaiting) {
        throw new ApiError(
          'service_unavailable',
          'Too many people are logging in right now: try again in a minute',
          {
            headers: { 'Retry-After': '10' },
          },
        )
      }
      // The caller that wakes it hands over its own place.
      await new Promise<void>((resolve) => waiting.push(resolve))
    } else running++
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next === undefined) running--
      else next()
    }
  }
}
