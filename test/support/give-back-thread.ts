// A worker thread that gives back memory some times, at the same moment as the others that share `gate`.
import { workerData } from 'node:worker_threads'
import { giveBackMemory } from '../../src/app/thread-heap.js'

const { gate, others, times } = workerData as { gate: Int32Array; others: number; times: number }

if (Atomics.add(gate, 0, 1) < others) Atomics.wait(gate, 1, 0)
else {
  Atomics.store(gate, 1, 1)
  Atomics.notify(gate, 1)
}
for (let done = 0; done < times; done++) giveBackMemory({ forgetPages() {} })
