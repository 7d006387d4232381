import { asOf, type LearnedRow } from './learned.js'
import type { ThreadShare } from './policy.js'
import type { Learned } from './site.js'

/**
 * What was learned before the start about sites for which no mail has come since. A suspension of hours has to
 * outlive any number of restarts: its row stays in the table until it is over, although no mail asks for the site.
 */
export interface Remembered {
  /** Hands over what is known of a site that comes into use; `told`: its row in the table, if it has one. */
  take(key: string, now: number): { learned: Learned; told: string | undefined } | undefined
  /** As `Site.tryNow`, of all sites or of one. */
  tryNow(site: string | undefined, now: number): void
  /** The rows to write and those that are over, as `saveLearned` takes them; each is returned once. */
  changes(now: number): { changed: LearnedRow[]; gone: Omit<LearnedRow, 'learned'>[] }
}

/** A row of `site_states`, and the thread that wrote it. */
export type RememberedRow = LearnedRow & { readonly thread?: number }

/**
 * What an earlier process has learned about sites, for the threads that now take its place: each
 * site waits here until it is asked for.
 */
export function makeRemembered(
  rows: readonly RememberedRow[],
  share: ThreadShare,
  startedAt: number,
): Remembered {
  const sites = new Map<string, { row: LearnedRow; isOwn: boolean; isTold: boolean }>()
  for (const given of rows) {
    const row = { ...given, learned: asOf(given.learned, startedAt) }
    const key = keyOf(row.site, row.source)
    const known = sites.get(key)
    // Each thread learns by itself. Where several have a row about a site, what ends last holds for all of them, and
    // each thread keeps its own rows in the table.
    const isOwn = known?.isOwn === true || inherits(row, share)
    const isLatest = known === undefined || endOf(row.learned) > endOf(known.row.learned)
    sites.set(key, { row: isLatest ? row : known.row, isOwn, isTold: false })
  }

  return {
    take(key, now) {
      const known = sites.get(key)
      if (known === undefined) return undefined
      sites.delete(key)
      const { row, isTold } = known
      return {
        learned: asOf(row.learned, now),
        told: isTold ? JSON.stringify(row.learned) : undefined,
      }
    },
    tryNow(site, now) {
      for (const known of sites.values()) {
        const { row } = known
        const { suspension } = row.learned
        if ((site !== undefined && row.site !== site) || suspension === null) continue
        const ended = { ...suspension, until: Math.min(suspension.until, now) }
        known.row = { ...row, learned: { ...row.learned, suspension: ended } }
      }
    },
    changes(now) {
      const changed: LearnedRow[] = []
      const gone: Omit<LearnedRow, 'learned'>[] = []
      for (const known of sites.values()) {
        const isDue = known.isOwn && endOf(asOf(known.row.learned, now)) > now
        if (isDue === known.isTold) continue
        known.isTold = isDue
        const { site, source, learned } = known.row
        if (isDue) changed.push({ site, source, learned })
        else gone.push({ site, source })
      }
      return { changed, gone }
    },
  }
}

/** The key of a site as seen from a source address. */
export const keyOf = (site: string, source: string) => `${site}\n${source}`

/** Where there are fewer threads than before, the first one takes over the rows of those that are no more. */
const inherits = ({ thread = -1 }: RememberedRow, own: ThreadShare) =>
  thread === own.thread || (own.thread === 0 && thread >= own.threads)

/** When the last of what was learned is over; 0 where nothing is in force. */
const endOf = ({ suspension, active }: Learned) =>
  Math.max(suspension?.until ?? 0, ...active.map(({ until }) => until))
