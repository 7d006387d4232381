import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import t from 'tap'
import { setFlagsOfThreads } from '../../src/app/thread-heap.js'
import { thoroughly } from '../support/thorough.js'

const entry = new URL('../support/give-back-thread.js', import.meta.url)
const threads = 8
const times = 5

// The flags of V8 are the process's: threads that set them for themselves died of each other.
t.test('eight threads give back memory at once, again and again', async (t) => {
  setFlagsOfThreads()
  const rounds = thoroughly(3, 25)
  for (let round = 0; round < rounds; round++) {
    const gate = new Int32Array(new SharedArrayBuffer(8))
    const workerData = { gate, others: threads - 1, times }
    await Promise.all(
      Array.from({ length: threads }, () => once(new Worker(entry, { workerData }), 'exit')),
    )
  }
  t.pass(`${rounds * threads * times} times`)
})
