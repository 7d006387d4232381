import { keepNewest } from './keep-newest.js'

/** How often something was done in a window, by the key of whoever did it. */
export interface WindowCount {
  key: string
  /** When the window ends, milliseconds, UTC. */
  endsAt: number
  count: number
}

/** What several nodes count for the same keys, in windows that end at the same moments at all of them. */
export interface CountedTogether {
  /** How often the others have counted the key in the window. */
  others(key: string, endsAt: number): number
  /** Lets the others know the own count, unless the sum is so far below `most` that it does not matter. */
  note(own: WindowCount, most: number): void
}

/** All that a thread counts together with other nodes. */
export interface SharedCounts {
  /** The counts of one kind: keys of two kinds may be alike. */
  of(kind: string): CountedTogether
  /** What the others are to know, at most `most`: the same counts again until they were `told`. */
  untold(now: number, most: number): readonly WindowCount[]
  told(counts: readonly WindowCount[]): void
  /** The number changes whenever somebody asks. */
  asked(): number
  /** What the others know; it replaces what they knew before. */
  learn(counts: readonly WindowCount[]): void
}

// Strangers can fill it, with addresses that have each used up a tenth of their limit.
const mostUntold = 20_000

/** The end of the window in which that time lies. */
export const sharedWindowEnd = (now: number, windowMs: number): number =>
  (Math.floor(now / windowMs) + 1) * windowMs

export function makeSharedCounts(): SharedCounts {
  const untold = new Map<string, WindowCount>()
  let known = new Map<string, number>()
  let asked = 0
  const place = (key: string, endsAt: number) => `${endsAt} ${key}`

  return {
    of(kind) {
      const others = (key: string, endsAt: number) =>
        known.size === 0 ? 0 : (known.get(place(`${kind} ${key}`, endsAt)) ?? 0)
      return {
        others,
        note({ key, endsAt, count }, most) {
          asked = (asked + 1) | 0
          if (count + others(key, endsAt) <= most / 10) return
          const all = `${kind} ${key}`
          keepNewest(untold, place(all, endsAt), { key: all, endsAt, count }, mostUntold)
        },
      }
    },
    asked: () => asked,
    untold(now, most) {
      const counts: WindowCount[] = []
      for (const [at, count] of untold) {
        if (counts.length === most) break
        if (count.endsAt <= now) untold.delete(at)
        else counts.push(count)
      }
      return counts
    },
    told(counts) {
      for (const count of counts) {
        const at = place(count.key, count.endsAt)
        // The count may be a new one by now, if more was counted meanwhile.
        if (untold.get(at) === count) untold.delete(at)
      }
    },
    learn(counts) {
      const sums = new Map<string, number>()
      for (const { key, endsAt, count } of counts) {
        const at = place(key, endsAt)
        sums.set(at, (sums.get(at) ?? 0) + count)
      }
      known = sums
    },
  }
}
