import { appendFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { workerData } from 'node:worker_threads'
import { sql } from 'kysely'
import { runPeriodic } from '../../src/app/periodic.js'

/*
 * A job of tests, which does as its name says: `works…`, `throws`, `hangs` (and ignores messages), `waits` (for
 * something that never comes, and ignores messages), `lasts` (until it is told to end), `fills…` (the database, then
 * a disk). It notes in a file that its work began.
 */
const { name } = (workerData as { job: { name: string } }).job
await runPeriodic(name, async ({ dataDir, signal, store }) => {
  appendFileSync(join(dataDir, 'began'), `${name}\n`)
  if (name === 'throws') throw new Error('The job of the test throws')
  if (name === 'hangs') for (;;) {}
  if (name === 'waits') {
    setInterval(() => {}, 1_000)
    await new Promise(() => {})
  }
  // SQLITE_FULL for this connection alone: the file may not grow.
  if (name === 'fillsdatabase') {
    await store.write((tx) => sql`pragma max_page_count = 1`.execute(tx))
    await store.write((tx) => sql`create table ballast as select zeroblob(9000000)`.execute(tx))
  }
  // ENOSPC, always.
  if (name === 'fillsdisk') writeFileSync('/dev/full', 'x')
  if (name === 'lasts') {
    const alive = setInterval(() => {}, 1_000)
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    clearInterval(alive)
    return { summary: 'It ended when it was told to' }
  }
  return { summary: 'It worked', problems: ['Look at this'], figures: { things: 3 } }
})
