import { type Clock, type Repeating, repeat } from '../clock/index.js'
import { messageOf } from '../errors/index.js'
import type { Log } from '../log/index.js'
import type { Store } from '../store/index.js'

// Often enough that little is left at a time, seldom enough that a busy page is copied for many writes.
const everyMs = 250
// As long as nobody writes. What is written first then waits for so long.
const stillMs = 1_000
// After the last commit: a reader may have kept some pages from being copied.
const looksAfter = 4
// One may have kept them for longer than that.
const looksBetween = 60

/** Copies the write-ahead log into the database while somebody writes; for a thread that nobody waits for. */
export function keepLogCopied(deps: {
  store: Pick<Store, 'checkpoint' | 'commits'>
  clock: Clock
  log: Log
}): Repeating {
  const { store, clock, log } = deps
  let seen: number | undefined
  let looks = 0
  return repeat(clock, async () => {
    try {
      const commits = store.commits()
      looks = commits === seen ? looks + 1 : 0
      seen = commits
      if (looks <= looksAfter || looks % looksBetween === 0) store.checkpoint()
    } catch (error) {
      // The log grows meanwhile and loses nothing; the next run copies all of it.
      log.warn({ cause: messageOf(error) }, 'The write-ahead log could not be copied')
    }
    return looks < looksAfter ? everyMs : stillMs
  })
}
