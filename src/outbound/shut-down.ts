import type { Clock } from '../clock/index.js'

/** The parts of an outbound thread, as a stop needs them. */
export interface RunningThread {
  clock: Clock
  /** Each stops at once; what it returns resolves when nothing of it is under way. */
  scan: { stop(): Promise<void> }
  claims: { stop(): Promise<void> }
  runs: { stop(): Promise<void> }
  ahead: { close(): Promise<void> }
  /** Idle sessions end at once by `close`, busy ones when their mail is done or by `destroy`. */
  sessions: readonly { close(): void; destroy(): void }[]
  /** What is closed last, one after the other, when no mail is under way any more. */
  last: readonly { close(): Promise<void> }[]
}

/**
 * Ends an outbound thread's work: nothing more is claimed, attempts under way have `graceMs` to end, and then
 * are broken off. What was claimed and not begun is due again as it was. Everything that ended is written.
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
