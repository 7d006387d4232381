import { type Clock, isRecent, type Repeating, repeat } from '../clock/index.js'
import type { Backlog } from '../deliveries/index.js'
import { messageOf } from '../errors/index.js'
import { type Log, makeSeldom } from '../log/index.js'
import type { Store } from '../store/index.js'

// Often enough that each copy is small, seldom enough that a busy page is copied once for many writes.
const everyMs = 250
// Where a copy took longer than `muchMs` there was much to copy, and the next comes sooner: a commit may have to wait
// for the copy's sync. Beside an import of 800,000 rows the slowest hundredth of 100 sends/s took 52 and 33 ms with 250
// ms between all copies, and 30 and 26 this way; with 80 between all of them a mail cost as much CPU (25 Nov 2026).
const muchMs = 20
const soonMs = 80
// How often it looks while nobody writes: the first write then waits for so long.
const stillMs = 1_000
// How many looks after the last commit's copy it copies once more: a reader may have kept some pages from being copied.
const looksAfter = 4
// A reader may have kept them for longer: so many looks lie between two copies while nobody writes.
const looksBetween = 60
// SQLite writes the log from its beginning again and leaves the file as large as a backup or a burst has made it. Only
// a disk that has no room for mail needs that room back; otherwise the log would soon take it again.
const shrinkEveryMs = 10_000

/** Copies the write-ahead log into the database while somebody writes; for a thread that nobody waits for. */
export function keepLogCopied(deps: {
  store: Pick<Store, 'checkpoint' | 'commits'>
  clock: Clock
  log: Log
  backlog: Pick<Backlog, 'outOfRoom'>
}): Repeating {
  const { store, clock, log, backlog } = deps
  const seldom = makeSeldom(clock)
  let shrunkAt: number | undefined
  let seen: number | undefined
  let looks = 0
  let tookMs = 0
  return repeat(clock, async () => {
    try {
      const commits = store.commits()
      looks = commits === seen ? looks + 1 : 0
      seen = commits
      const now = clock.now()
      const shrink =
        backlog.outOfRoom && (shrunkAt === undefined || !isRecent(shrunkAt, now, shrinkEveryMs))
      if (shrink) shrunkAt = now
      if (shrink || looks <= looksAfter || looks % looksBetween === 0) {
        const began = performance.now()
        await store.checkpoint({ shrink })
        tookMs = performance.now() - began
      }
    } catch (error) {
      // The log grows meanwhile and loses nothing; the next run copies all of it.
      const cause = messageOf(error)
      seldom(() => log.warn({ cause }, 'The write-ahead log could not be copied'))
    }
    if (looks >= looksAfter) return stillMs
    return tookMs > muchMs ? soonMs : everyMs
  })
}
