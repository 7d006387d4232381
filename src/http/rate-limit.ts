import type { Clock } from '../clock/index.js'
import { ApiError } from '../errors/index.js'

export interface RateLimit {
  /** 0: nobody is held back, and the headers say a very large number. */
  requests: number
  windowMs: number
}

/** Where a client stands after the request that was just counted. */
export interface Standing {
  allowed: boolean
  limit: number
  remaining: number
  /** Milliseconds, UTC. */
  resetAt: number
  retryAfterSeconds: number
}

export interface RateLimiter {
  take(key: string): Standing
}

const unlimited = 2 ** 31 - 1

/**
 * Counts requests by key in fixed windows; a key's window begins with its first request.
 * At most `maxKeys` are remembered: beyond that the oldest window is forgotten, so that a flood
 * of made-up keys or addresses costs the flooders their count and us no memory.
 */
export function makeRateLimiter(
  { requests, windowMs }: RateLimit,
  clock: Clock,
  maxKeys = 100_000,
): RateLimiter {
  const limit = requests === 0 ? unlimited : requests
  // In the order in which the windows end: a Map keeps the order of insertion.
  const windows = new Map<string, { count: number; resetAt: number }>()

  function forget(now: number): void {
    for (const [key, window] of windows) {
      const ends = window.resetAt > now && window.resetAt <= now + windowMs
      if (ends && windows.size < maxKeys) return
      windows.delete(key)
    }
  }

  return {
    take(key) {
      const now = clock.now()
      let window = windows.get(key)
      // One that ends later than any could is from before the clock was set back.
      if (window === undefined || window.resetAt <= now || window.resetAt > now + windowMs) {
        windows.delete(key)
        forget(now)
        window = { count: 0, resetAt: now + windowMs }
        windows.set(key, window)
      }
      window.count++
      return {
        allowed: window.count <= limit,
        limit,
        remaining: Math.max(0, limit - window.count),
        resetAt: window.resetAt,
        retryAfterSeconds: Math.max(1, Math.ceil((window.resetAt - now) / 1000)),
      }
    },
  }
}

/** The three headers that every response of a limited path carries. */
export function standingHeaders(standing: Standing): Record<string, string> {
  return {
    'X-RateLimit-Limit': String(standing.limit),
    'X-RateLimit-Remaining': String(standing.remaining),
    'X-RateLimit-Reset': String(Math.ceil(standing.resetAt / 1000)),
  }
}

/** Throws when the request that was just counted was one too many. */
export function refuseExcess(standing: Standing): void {
  if (standing.allowed) return
  throw new ApiError('rate_limit_exceeded', 'Too many requests; try again later', {
    headers: { 'Retry-After': String(standing.retryAfterSeconds) },
  })
}
