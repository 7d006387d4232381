import type { Clock } from '../clock/index.js'

// Beyond so many sources the oldest windows are forgotten first.
const maxSources = 10_000

/** So many in a window for each source; the window begins with its first. */
export function makeQuota(clock: Clock, { most, windowMs }: { most: number; windowMs: number }) {
  const windows = new Map<string, { began: number; taken: number }>()
  return {
    /** False: the source has had all of its own, or so much is not left of it. */
    take(source: string, wanted = 1): boolean {
      const now = clock.now()
      let window = windows.get(source)
      if (window === undefined || now - window.began >= windowMs) {
        // Put at the end again, so that the first ones are the oldest.
        windows.delete(source)
        window = { began: now, taken: 0 }
        windows.set(source, window)
        const [oldest] = windows.keys()
        if (windows.size > maxSources && oldest !== undefined) windows.delete(oldest)
      }
      if (window.taken + wanted > most) return false
      window.taken += wanted
      return true
    },
  }
}
