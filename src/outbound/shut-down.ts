import type { Clock } from '../clock/index.js'

/** The parts of an outbound thread, as a stop needs them. */
export interface RunningThread {
  clock: Clock
  /** Each of these stops at once; the promise resolves when none of its work is under way. */
  scan: { stop(): Promise<void> }
  claims: { stop(): Promise<void> }
  runs: { stop(): Promise<void> }
  ahead: { close(): Promise<void> }
  /** `close` ends idle sessions at once and busy ones when their mail is done; `destroy` ends all. */
  sessions: readonly { close(): void; destroy(): void }[]
  /** These are closed last, one after the other, when no mail is under way any more. */
  last: readonly { close(): Promise<void> }[]
}

/**
 * Ends an outbound thread's work: nothing more is claimed, attempts under way have `graceMs` to end, and then are
 * broken off. Mail that was claimed and not begun is due again as before. The results of all attempts that ended are
 * written.
 */
export async function shutDown(running: RunningThread, graceMs: number): Promise<void> {
  const { clock, scan, claims, runs, ahead, sessions, last } = running
  // All of them before the first await: from here on nothing begins.
  const [scanned, claimed, idle] = [scan.stop(), claims.stop(), runs.stop()]
  for (const one of sessions) one.close()
  const destroy = () => {
    for (const one of sessions) one.destroy()
  }
  const cancel = clock.after(graceMs, destroy)
  // A claim under way may still bring rows, which `ahead` gives back.
  await claimed
  await ahead.close()
  await idle
  await scanned
  cancel()
  destroy()
  for (const one of last) await one.close()
}
