import { type CountedTogether, sharedWindowEnd } from '../bounded/index.js'
import type { Clock } from '../clock/index.js'
import { ApiError } from '../errors/index.js'

export interface RateLimit {
  /** 0: no limit, and the headers show a very large number. */
  requests: number
  windowMs: number
}

/** A client's standing after the request that was just counted. */
export interface RateStanding {
  allowed: boolean
  limit: number
  remaining: number
  /** Milliseconds, UTC. */
  resetAt: number
  retryAfterSeconds: number
}

export interface RateLimiter {
  /** Counts a request. */
  take(key: string): RateStanding
  /** The key's standing, without counting. */
  look(key: string): RateStanding
}

interface Window {
  count: number
  resetAt: number
}

// The largest number that clients with 32-bit integers can read from the header.
const unlimited = 2 ** 31 - 1

/**
 * Counts requests by key in fixed windows; a key's window begins with its first request. If several nodes count
 * (`together`), windows begin at the same moments on all. At most `maxKeys` are remembered, and the oldest window is
 * forgotten first, so that a flood of made-up keys or addresses costs us no memory.
 */
export function makeRateLimiter(
  { requests, windowMs }: RateLimit,
  clock: Clock,
  {
    maxKeys = 100_000,
    together,
  }: { maxKeys?: number; together?: CountedTogether | undefined } = {},
): RateLimiter {
  const limit = requests === 0 ? unlimited : requests
  // Ordered by the windows' ends, as a Map keeps the order of insertion.
  const windows = new Map<string, Window>()

  function forget(now: number): void {
    for (const [key, window] of windows) {
      if (lasts(window, now) && windows.size < maxKeys) return
      windows.delete(key)
    }
  }

  // A window that ends later than possible is from before the clock was set back.
  const lasts = ({ resetAt }: Window, now: number) => resetAt > now && resetAt <= now + windowMs

  const endOf = (now: number) =>
    together === undefined ? now + windowMs : sharedWindowEnd(now, windowMs)

  const standing = (key: string, { count: own, resetAt }: Window, now: number): RateStanding => {
    const count = own + (together?.others(key, resetAt) ?? 0)
    return {
      allowed: count <= limit,
      limit,
      remaining: Math.max(0, limit - count),
      resetAt,
      retryAfterSeconds: Math.max(1, Math.ceil((resetAt - now) / 1000)),
    }
  }

  return {
    take(key) {
      const now = clock.now()
      let window = windows.get(key)
      if (window === undefined || !lasts(window, now)) {
        windows.delete(key)
        forget(now)
        window = { count: 0, resetAt: endOf(now) }
        windows.set(key, window)
      }
      window.count++
      together?.note({ key, endsAt: window.resetAt, count: window.count }, limit)
      return standing(key, window, now)
    },
    look(key) {
      const now = clock.now()
      const window = windows.get(key)
      if (window !== undefined && lasts(window, now)) return standing(key, window, now)
      return standing(key, { count: 0, resetAt: endOf(now) }, now)
    },
  }
}

/** The three headers that every response of a limited path carries. */
export function standingHeaders(standing: RateStanding): Record<string, string> {
  return {
    'X-RateLimit-Limit': String(standing.limit),
    'X-RateLimit-Remaining': String(standing.remaining),
    'X-RateLimit-Reset': String(Math.ceil(standing.resetAt / 1000)),
  }
}

/** Throws if the request that was just counted was one too many. */
export function refuseExcess(standing: RateStanding): void {
  if (standing.allowed) return
  const seconds = standing.retryAfterSeconds
  // RFC 9110 §10.2.3: in seconds, and not as a date, which needs a clock that is right.
  throw new ApiError('rate_limit_exceeded', `Too many requests; try again in ${seconds} s`, {
    headers: { 'Retry-After': String(seconds) },
  })
}
