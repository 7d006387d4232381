import type { Clock } from './clock.js'

/** This key's rate limit, as the last answer told it. */
export interface RateLimit {
  limit: number
  remaining: number
  /** Unix seconds. */
  reset: number
}

/** Waits for the window's end instead of running into a 429. */
export interface Pace {
  /** Counts a request that is about to leave; first waits if none is left. */
  take(signal: AbortSignal | undefined): Promise<void>
  /** Learns from an answer. */
  learn(headers: Headers): RateLimit | undefined
}

/**
 * Keeps a client within the rate that the server told last. Before the first answer no rate is
 * known.
 */
export function makePace(clock: Clock): Pace {
  let known: RateLimit | undefined
  return {
    async take(signal) {
      if (known !== undefined && known.remaining <= 0) {
        const wait = known.reset * 1_000 - clock.now()
        // `reset` is a time of the server's clock, which may be far from ours: never wait for more than a minute.
        if (wait > 0) await clock.sleep(Math.min(wait, 60_000), signal)
        known = undefined
      }
      if (known !== undefined) known.remaining--
    },
    learn(headers) {
      const number = (name: string) => Number(headers.get(`x-ratelimit-${name}`) ?? Number.NaN)
      const limit = {
        limit: number('limit'),
        remaining: number('remaining'),
        reset: number('reset'),
      }
      if (Number.isNaN(limit.limit + limit.remaining + limit.reset)) return undefined
      known = { ...limit }
      return limit
    },
  }
}
