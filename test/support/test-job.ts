import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { workerData } from 'node:worker_threads'
import { runPeriodic } from '../../src/app/periodic.js'

/*
 * A job of tests, which does as its name says: `works…`, `throws`, `hangs` (and hears nothing), `lasts` (until it is
 * told to end). It notes in a file that its work began.
 */
const { name } = (workerData as { job: { name: string } }).job
await runPeriodic(name, async ({ dataDir, signal }) => {
  appendFileSync(join(dataDir, 'began'), `${name}\n`)
  if (name === 'throws') throw new Error('The job of the test throws')
  if (name === 'hangs') for (;;) {}
  if (name === 'lasts') {
    const alive = setInterval(() => {}, 1_000)
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    clearInterval(alive)
    return { summary: 'It ended when it was told to' }
  }
  return { summary: 'It worked', problems: ['Look at this'], figures: { things: 3 } }
})
