import { type CountedTogether, keepNewest, sharedWindowEnd } from '../bounded/index.js'
import { type Clock, isRecent } from '../clock/index.js'

// Beyond so many sources the oldest windows are forgotten first.
const maxSources = 10_000

/**
 * Allows each source `most` in a window, which begins with its first, and where several nodes count (`together`) at the same
 * moment at all of them.
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
    /** Whether so much is left of the source's own. */
    has: (source: string, wanted: number) =>
      (current(source)?.taken ?? 0) + ofOthers(source) + wanted <= most,
    /** False: the source has had all of its own, or so much is not left of it; `mostOfIt` where each has another share. */
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
