import { type CountedTogether, keepNewest, sharedWindowEnd } from '../bounded/index.js'
import { type Clock, isRecent } from '../clock/index.js'

// Beyond this number of sources the oldest windows are forgotten first.
const maxSources = 10_000

/**
 * Allows each source `most` in a window. A window begins with the source's first use; where several nodes count
 * together (`together`), it begins at the same moment on all of them.
 */
export function makeQuota(
  clock: Clock,
  {
    most,
    windowMs,
    together,
  }: { most: number; windowMs: number; together?: CountedTogether | undefined },
) {
  const windows = new Map<string, { began: number; taken: number }>()
  const current = (source: string) => {
    const window = windows.get(source)
    return window !== undefined && isRecent(window.began, clock.now(), windowMs)
      ? window
      : undefined
  }
  const begin = (now: number) =>
    together === undefined ? now : sharedWindowEnd(now, windowMs) - windowMs
  const ofOthers = (source: string) =>
    together?.others(source, sharedWindowEnd(clock.now(), windowMs)) ?? 0
  return {
    /** Whether the source still has that much left. */
    has: (source: string, wanted: number) =>
      (current(source)?.taken ?? 0) + ofOthers(source) + wanted <= most,
    /** False: the source has not that much left. `mostOfIt`: this source's limit, where limits differ. */
    take(source: string, wanted = 1, mostOfIt = most): boolean {
      let window = current(source)
      if (window === undefined) {
        window = { began: begin(clock.now()), taken: 0 }
        keepNewest(windows, source, window, maxSources)
      }
      if (window.taken + ofOthers(source) + wanted > mostOfIt) return false
      window.taken += wanted
      const { began, taken } = window
      together?.note({ key: source, endsAt: began + windowMs, count: taken }, mostOfIt)
      return true
    },
  }
}
