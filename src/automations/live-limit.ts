import type { Read } from '../store/index.js'

/** Whether as many runs of all accounts are live as may be. */
export type LiveLimit = (read: Read, now: number) => Promise<boolean>

// Nobody needs it exact, and counting takes longer than an event.
const countEveryMs = 10_000

/** Counts the live runs of all accounts now and then; `read` may be a transaction. */
export function makeLiveLimit(maxLive: number): LiveLimit {
  let counted: { at: number; full: boolean } | undefined
  return async (read, now) => {
    if (counted !== undefined && Math.abs(now - counted.at) < countEveryMs) return counted.full
    const { live } = await read
      .selectFrom('automations')
      .select((eb) => eb.fn.sum<number | null>(eb('running', '+', eb.ref('waiting'))).as('live'))
      .executeTakeFirstOrThrow()
    counted = { at: now, full: (live ?? 0) >= maxLive }
    return counted.full
  }
}
