import type { Clock } from './clock.js'
import { TimeoutError } from './errors.js'
import type { CallOptions } from './request.js'
import type { Email } from './types.js'

export interface WaitOptions extends CallOptions {
  /** Resolve at this status too, before the mail has come to its end. */
  until?: string | undefined
  /** Milliseconds in all; default a minute. */
  timeout?: number | undefined
}

const final = ['delivered', 'bounced', 'failed', 'cancelled', 'suppressed']
const firstPauseMs = 200
const longestPauseMs = 5_000

/**
 * Looks again and again, with growing pauses, until the mail has `until` or has come to its end: look
 * at its status. Throws a TimeoutError, `body` the mail as it was last, when time is up.
 */
export async function waitForEmail(
  clock: Clock,
  get: (options: CallOptions) => Promise<Email>,
  { until, timeout = 60_000, ...options }: WaitOptions,
): Promise<Email> {
  const end = clock.now() + timeout
  for (let pause = firstPauseMs; ; pause = Math.min(longestPauseMs, pause * 1.5)) {
    const email = await get(options)
    if (email.status === until || final.includes(email.status)) return email
    const left = end - clock.now()
    if (left <= 0) {
      const message = `Still ${email.status} after ${timeout} ms`
      throw new TimeoutError(message, { code: 'timeout', body: email, retryable: true })
    }
    await clock.sleep(Math.min(pause, left), options.signal)
  }
}
