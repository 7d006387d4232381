import { once } from 'node:events'
import { parseArgs } from 'node:util'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { createAccount, createKey } from '../../src/accounts/index.js'
import { systemClock as clock } from '../../src/clock/index.js'
import { makeTurns, openStore } from '../../src/store/index.js'
import {
  cpuSeconds,
  initDataDir,
  loadAverage,
  quantile,
  report,
  rsaSignatures,
  serveAppliance,
  sleep,
} from './rig.js'

/*
 * How long one account's sends take while the key of another one adds domains that its plan refuses, or that
 * are refused as too many at once: alone, then beside each. Says what a refusal costs too.
 *     node dist/test/bench/refusals.js --seconds 10 --at-once 95
 */
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '10' },
    'at-once': { type: 'string', default: '95' },
  },
})
const seconds = Number(values.seconds)
const atOnce = Number(values['at-once'])

interface Attack {
  url: string
  key: string
  name: string
}
type Answers = Map<number, number>

async function post(url: string, key: string, body: object) {
  const began = performance.now()
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  await response.arrayBuffer()
  return { status: response.status, ms: performance.now() - began }
}

/** Adds domains, as many at once as are asked for, until it is over; the answers by status. */
async function attack({ url, key, name }: Attack): Promise<Answers> {
  const until = performance.now() + seconds * 1_000
  const answers: Answers = new Map()
  let added = 0
  const one = async () => {
    while (performance.now() < until) {
      const { status } = await post(`${url}/v1/domains`, key, { name: `${name}${added++}.test` })
      answers.set(status, (answers.get(status) ?? 0) + 1)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, one))
  return answers
}

/** In a thread of its own, so that the sends are not timed while this one is busy with the attack. */
async function attackBeside(order: Attack): Promise<Answers> {
  const [answers] = await once(
    new Worker(new URL(import.meta.url), { workerData: order }),
    'message',
  )
  return answers
}

async function bench(): Promise<void> {
  const { dataDir, apiKey } = initDataDir()
  const store = await openStore({ dataDir, clock, turns: makeTurns(), slot: 15 })
  const { id } = await createAccount({ store, clock }, 'Other')
  const { key: otherKey } = await createKey({ store, clock }, id, 'attacks')
  await store.close()
  const { url, pid, stop } = await serveAppliance({ dataDir, apiKey, sinkPort: 9, connections: 1 })

  /** Sends a mail each 20 ms, whatever became of the one before, beside an attack with that key. */
  const measure = async (name: string, attackKey: string | undefined) => {
    const until = performance.now() + seconds * 1_000
    const cpuBefore = cpuSeconds(pid)
    const under = attackKey === undefined ? undefined : attackBeside({ url, key: attackKey, name })
    const sends: Promise<{ ms: number }>[] = []
    while (performance.now() < until) {
      const mail = { from: 'a@example.test', to: 'b@example.org', subject: 'Hi', text: 'Hi' }
      sends.push(post(`${url}/v1/emails/send`, apiKey, mail))
      await sleep(20)
    }
    const tookMs = (await Promise.all(sends)).map(({ ms }) => ms)
    const answers: Answers = under === undefined ? new Map() : await under
    const cpu = cpuSeconds(pid) - cpuBefore
    const count = [...answers.values()].reduce((sum, one) => sum + one, 0)
    const [p50, p99, most] = [0.5, 0.99, 1].map((share) => quantile(tookMs, share).toFixed(1))
    const each = count > 0 ? `, ${((cpu / count) * 1_000).toFixed(2)} ms a request` : ''
    report([
      [`${name}: sends`, `${sends.length}: p50 ${p50} ms, p99 ${p99} ms, at most ${most} ms`],
      [`${name}: answers`, [...answers].map(([status, n]) => `${n} × ${status}`).join(', ')],
      [`${name}: CPU`, `${cpu.toFixed(2)} s${each}`],
    ])
  }

  report([
    ['RSA-2048 signatures a second', String(Math.round(rsaSignatures()))],
    ['load', loadAverage()],
  ])
  try {
    // The plan of the second account has one domain.
    await post(`${url}/v1/domains`, otherKey, { name: 'first.test' })
    await measure('alone', undefined)
    await measure('refused', otherKey)
    // That of the first one has thousands: pairs are made, one at a time, and what is too many at once is refused.
    await measure('crowded', apiKey)
  } finally {
    await stop()
  }
}

if (isMainThread) await bench()
else parentPort?.postMessage(await attack(workerData as Attack))
