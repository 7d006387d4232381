import { appendFileSync, existsSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { type Clock, isRecent } from '../clock/index.js'

/*
 * What a thread saw committed in the last minute or two, as lines of JSON in the data directory: a database that went
 * back in time has forgotten it. Each thread has two files; the older one is replaced when the newer one covers a
 * minute. They are not synced: a kill of the process loses nothing, and if a power cut and the loss of commits come
 * together, the work in these lines is done a second time.
 */

/** A thread's notes. */
export interface LatelyNotes {
  note(lines: readonly object[]): void
}

const keptMs = 60_000
// For one thread: some 20,000 lines. More lines in a minute would shorten that minute.
const mostBytes = 8 * 1024 * 1024
const pattern = /^lately-\d+\.(?:jsonl|old)$/

export function openLatelyNotes(
  dataDir: string,
  thread: number,
  clock: Pick<Clock, 'now'>,
): LatelyNotes {
  const file = join(dataDir, `lately-${thread}.jsonl`)
  const old = join(dataDir, `lately-${thread}.old`)
  let since: number | undefined
  let bytes = 0
  return {
    note(lines) {
      const now = clock.now()
      if (since === undefined || bytes > mostBytes || !isRecent(since, now, keptMs)) {
        if (existsSync(file)) renameSync(file, old)
        since = now
        bytes = 0
      }
      const text = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
      bytes += text.length
      appendFileSync(file, text, { mode: 0o600 })
    },
  }
}

/** The notes of all threads, older ones first. A line that a crash cut off is left out. */
export function readLatelyNotes(dataDir: string): unknown[] {
  return filesIn(dataDir).flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .flatMap((line) => {
        try {
          return [JSON.parse(line) as unknown]
        } catch {
          return []
        }
      }),
  )
}

/** Called once the database knows everything in the notes. */
export function removeLatelyNotes(dataDir: string): void {
  for (const file of filesIn(dataDir)) rmSync(file, { force: true })
}

/** `.old` sorts after `.jsonl` by name, but has to come first. */
const filesIn = (dataDir: string) =>
  readdirSync(dataDir)
    .filter((name) => pattern.test(name))
    .sort()
    .reverse()
    .map((name) => join(dataDir, name))
