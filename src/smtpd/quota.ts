import { keepNewest } from '../bounded/index.js'
import { type Clock, isRecent } from '../clock/index.js'

// Beyond so many sources the oldest windows are forgotten first.
const maxSources = 10_000

/** Allows each source `most` in a window, which begins with its first. */
export function makeQuota(clock: Clock, { most, windowMs }: { most: number; windowMs: number }) {
  const windows = new Map<string, { began: number; taken: number }>()
  const current = (source: string) => {
    const window = windows.get(source)
    return window !== undefined && isRecent(window.began, clock.now(), windowMs)
      ? window
      : undefined
  }
  return {
    /** Whether so much is left of the source's own. */
    has: (source: string, wanted: number) => (current(source)?.taken ?? 0) + wanted <= most,
    /** False: the source has had all of its own, or so much is not left of it. */
    take(source: string, wanted = 1): boolean {
      let window = current(source)
      if (window === undefined) {
        window = { began: clock.now(), taken: 0 }
        keepNewest(windows, source, window, maxSources)
      }
      if (window.taken + wanted > most) return false
      window.taken += wanted
      return true
    },
  }
}
