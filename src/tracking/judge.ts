import type { Visit } from './visits.js'

/** What the queue and the log know of the delivery when somebody asks. */
export interface Arrival {
  /** When the last attempt ended, or at least began; null: the first is not over. */
  at: number | null
}

// A person may open three links of a newsletter in one go; a filter takes them all.
const allAtOnce = 4

/**
 * What makes a visit a machine's as a whole, in words, though no request by itself gave it away:
 * the mail had not yet arrived, or only just; or all its links were followed at once.
 */
export function machineVisit(
  visit: Visit,
  { at }: Arrival,
  withinMs: number,
): { opened?: string; clicked?: string } {
  if (withinMs > 0) {
    if (at === null) return both('before the mail had arrived')
    const after = visit.firstAt - at
    if (after < withinMs) return both(`${Math.max(0, after)} ms after the mail had arrived`)
  }
  const followed = visit.targets.size
  if (followed < 2 || followed < Math.min(visit.links, allAtOnce)) return {}
  return { clicked: `${followed} links at once` }
}

const both = (words: string) => ({ opened: words, clicked: words })
