import { parentPort, workerData } from 'node:worker_threads'
import { cpuFileOfThread } from '../../src/clock/index.js'
import type { ReaderOrder } from '../../src/inbound/reading.js'

// Replaces the thread that reads reports, and does what the mail says.
if (JSON.stringify(workerData).includes('"name":"broken"')) throw new Error('broken rules')
const eaten: unknown[] = []
parentPort?.on('message', (order: ReaderOrder) => {
  if (order.kind !== 'mail') return
  const { at, raw } = order
  const text = Buffer.from(raw).toString()
  if (text === 'hang') for (;;);
  // Like a thread that gets no processor.
  if (text === 'starve') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3_000)
  // Like a thread that gets a processor for half of the time: its half is 1.3 s.
  if (text === 'share') {
    for (let turn = 0; turn < 13; turn++) {
      const until = performance.now() + 100
      while (performance.now() < until);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100)
    }
  }
  if (text === 'eat') for (;;) eaten.push(new Array(1_000).fill(text))
  if (text === 'die') process.exit(1)
  if (text === 'throw') throw new Error('a bug')
  parentPort?.postMessage({ kind: 'read', at, reading: { text } })
})
parentPort?.postMessage({ kind: 'ready', cpuFile: cpuFileOfThread() })
