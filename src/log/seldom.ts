import { type Clock, isRecent } from '../clock/index.js'

const everyMs = 60_000

/**
 * Logs a continuing failure at most once a minute: work that is tried again each second, or ten times a second, would
 * fill the log, and the disk, while the database cannot be read.
 */
export function makeSeldom(clock: Pick<Clock, 'now'>): (say: () => void) => void {
  let saidAt: number | undefined
  return (say) => {
    const now = clock.now()
    if (saidAt !== undefined && isRecent(saidAt, now, everyMs)) return
    saidAt = now
    say()
  }
}
