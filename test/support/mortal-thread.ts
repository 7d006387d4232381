// A worker thread that dies on the first ring of its first life, holding the turn to write.
import { parentPort, workerData } from 'node:worker_threads'
import { ApiError } from '../../src/errors/index.js'
import { joinTurns } from '../../src/store/turns.js'

const { dataDir, turns, slot, lives } = workerData as {
  dataDir: string
  turns: SharedArrayBuffer
  slot: number
  lives?: Int32Array
}
if (dataDir === 'full') {
  const fault = new ApiError('service_unavailable', 'The database cannot be written just now')
  fault.cause = Object.assign(new Error('database or disk is full'), { code: 'SQLITE_FULL' })
  throw fault
}
if (dataDir === 'fail') throw new Error('cannot start')
const life = lives === undefined ? 1 : Atomics.add(lives, 0, 1) + 1
parentPort?.on('message', async (order: { kind: string; question?: number; hits?: string }) => {
  const { kind, question } = order
  if (kind === 'hits') {
    if (order.hits === 'deadly') throw new Error('dead')
    parentPort?.postMessage({ kind, question })
  }
  if (kind === 'gate') parentPort?.postMessage({ kind, question, gate: `gate ${question}` })
  if (order.kind === 'stop' && dataDir !== 'deaf') parentPort?.close()
  // It reports once that its event loop turns, and then nothing more.
  if (order.kind === 'reload') parentPort?.postMessage({ kind: 'metrics', snapshot: {} })
  while (order.kind === 'retry') {}
  if (order.kind !== 'ring' || life > 1) return
  await joinTurns(turns, slot).take()
  throw new Error('dead')
})
parentPort?.postMessage({ kind: 'ready', port: 4_711 })
