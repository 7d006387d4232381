import { existsSync, writeFileSync } from 'node:fs'
import { parentPort, workerData } from 'node:worker_threads'
import type { RenderOrder, RenderReport } from '../../src/templates/job.js'

/*
 * A thread for the renderer's tests: it does what the HTML of a job says. Files named in the environment make its
 * start slow (from the second start on) or fail.
 */
const current = workerData as Int32Array
const report = (message: RenderReport) => parentPort?.postMessage(message)
const slowlyMs = 300

parentPort?.on('message', (order: RenderOrder) => {
  if (order.kind === 'stop') return void parentPort?.close()
  const { serial, job } = order
  Atomics.store(current, 0, serial)
  if ('document' in job) return
  if (job.html.liquid === 'die') process.exit(1)
  if (job.html.liquid === 'spin') for (;;);
  const rendered = { subject: job.subject.liquid, html: job.html.liquid, text: null }
  Atomics.store(current, 0, 0)
  report({ kind: 'done', serial, outcome: { kind: 'rendered', rendered } })
})

const { RENDER_THREAD_SLOW: slow = '', RENDER_THREAD_BROKEN: broken = '' } = process.env
if (existsSync(broken)) throw new Error('This thread does not start')
if (existsSync(slow)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, slowlyMs)
else if (slow !== '') writeFileSync(slow, '')
report({ kind: 'ready', cpuFile: null })
