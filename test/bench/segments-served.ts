import { parseArgs } from 'node:util'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { systemClock as clock, pause } from '../../src/clock/index.js'
import type { Rule } from '../../src/rules/index.js'
import { createSegment, segmentsWait } from '../../src/segments/index.js'
import { fillList, openBeside } from './fill-list.js'
import {
  type Appliance,
  askOver,
  cpuSeconds,
  initDataDir,
  loadAverage,
  quantile,
  report,
  rsaSignatures,
  serveAppliance,
} from './rig.js'

/*
 * Many segments of an appliance while its contacts change by the API, each by a request of its own: how far they are behind
 * after the last change, and how long single sends and the changes themselves take meanwhile. To be held with 100 segments
 * and 1,000 changes a second: 10 s, and p99 50 ms. With another built checkout, the same of that one first.
 *     node dist/test/bench/segments-served.js --contacts 100000 --segments 100 --changes 1000 --seconds 10 [--before DIR] [--prof DIR]
 */
const { values } = parseArgs({
  options: {
    contacts: { type: 'string', default: '100000' },
    segments: { type: 'string', default: '100' },
    changes: { type: 'string', default: '1000' },
    seconds: { type: 'string', default: '10' },
    before: { type: 'string' },
    prof: { type: 'string' },
  },
})
const [contacts, segments, aSecond, seconds] = [
  Number(values.contacts),
  Number(values.segments),
  Number(values.changes),
  Number(values.seconds),
] as const
const towns = ['Lagos', 'Abuja', 'Jos', 'Kano']

async function measure(tree?: string): Promise<void> {
  const { dataDir, apiKey, accountId } = initDataDir(undefined, tree)
  const listId = await fillList(dataDir, accountId, contacts)
  const store = await openBeside(dataDir)
  for (let n = 0; n < segments; n++) {
    const rule: Rule = {
      all: [
        { field: 'contact.metadata.town', operator: 'eq', value: towns[n % 4] ?? '' },
        { field: 'contact.metadata.points', operator: 'gte', value: (n * 10) % 1_000 },
        { field: `list.${listId}`, operator: 'eq', value: true },
      ],
    }
    await createSegment({ store, clock }, accountId, { name: `Segment ${n}`, rule })
  }
  const people = await store.read
    .selectFrom('contacts')
    .select('id')
    .where('account_id', '=', accountId)
    .execute()
  const ids = people.map(({ id }) => id)
  const signatures = rsaSignatures()
  const nodeArgs = values.prof ? ['--cpu-prof', `--cpu-prof-dir=${values.prof}`] : []
  const place = { dataDir, apiKey, sinkPort: 9, connections: 1, tree, nodeArgs }
  const appliance = await serveAppliance(place)
  const behind = async () => {
    const began = performance.now()
    while (await segmentsWait({ store, clock })) await pause(clock, 50)
    return (performance.now() - began) / 1_000
  }
  const filled = await behind()
  const quiet = await sends(appliance, seconds * 500)
  const { pid } = appliance
  const before = { all: cpuSeconds(pid), main: cpuSeconds(pid, pid) }
  const began = performance.now()
  const [changes, beside] = await Promise.all([
    changingApart(appliance, ids),
    sends(appliance, seconds * 1_000),
  ])
  const lasted = (performance.now() - began) / 1_000
  const late = await behind()
  const aChange = (since: number, now: number) =>
    `${(((now - since) * 1_000) / Math.max(1, changes.length)).toFixed(2)} ms`
  const all = aChange(before.all, cpuSeconds(pid))
  const main = aChange(before.main, cpuSeconds(pid, pid))
  await appliance.stop()
  await store.close()
  report([
    ['contacts, segments, load average', `${contacts}, ${segments}, ${loadAverage()}`],
    ['RSA-2048 signatures/s before, after', `${signatures}, ${rsaSignatures()}`],
    ['filled', `${filled.toFixed(1)} s`],
    [
      'changes',
      `${changes.length} in ${lasted.toFixed(1)} s, of ${aSecond} a second that are wanted`,
    ],
    ['of a processor a change, in the appliance', `${all}, of it ${main} where clients wait`],
    ['up to date after the last (bar: 10 s)', `${late.toFixed(1)} s`],
    ['a change', timesOf(changes)],
    ['a single send beside nothing', timesOf(quiet)],
    ['a single send meanwhile, from the first one on', timesOf(beside)],
    [
      'p99 of each 5 s of them (bar once V8 has compiled: 50 ms)',
      eachFiveSeconds(beside).join(', '),
    ],
  ])
}

const timesOf = (ms: readonly number[]) =>
  `p50 ${quantile([...ms], 0.5).toFixed(1)} ms, p99 ${quantile([...ms], 0.99).toFixed(1)} ms (${ms.length})`

/** Sends are begun every 50 ms. */
const eachFiveSeconds = (ms: readonly number[]) =>
  Array.from({ length: Math.floor(ms.length / 95) }, (_, n) =>
    quantile(ms.slice(n * 95, (n + 1) * 95), 0.99).toFixed(0),
  )

// More at once would measure how a program opens sockets.
const mostAtOnce = 100
const ask = askOver(mostAtOnce)

/** Each is begun when its time has come, a hundred at once at most; what each took, in ms. */
async function changing(
  appliance: Pick<Appliance, 'url' | 'apiKey'>,
  ids: readonly string[],
): Promise<number[]> {
  const took: number[] = []
  const going = new Set<Promise<void>>()
  const began = performance.now()
  for (let n = 0; n < seconds * aSecond; n++) {
    const dueMs = (n * 1_000) / aSecond - (performance.now() - began)
    if (dueMs > 1) await pause(clock, dueMs)
    while (going.size >= mostAtOnce) await Promise.race(going)
    const body = { metadata: { town: towns[(n * 3) % 4], points: (n * 17) % 1_000 } }
    const id = ids[(n * 7_919) % ids.length] ?? ''
    const one = ask(appliance, 'PATCH', `/v1/contacts/all/${id}`, body).then((ms) => {
      took.push(ms)
      going.delete(one)
    })
    going.add(one)
  }
  await Promise.all(going)
  return took
}

/** Twenty a second, one after the other begun, for so long. */
async function sends(appliance: Appliance, forMs: number): Promise<number[]> {
  const mail = {
    from: 'Bench <bench@example.test>',
    to: 'r@one.test',
    subject: 'A mail',
    html: '<p>x</p>',
    scheduledAt: new Date(clock.now() + 86_400_000).toISOString(),
  }
  const took: Promise<number>[] = []
  for (const until = performance.now() + forMs; performance.now() < until; ) {
    took.push(ask(appliance, 'POST', '/v1/emails/send', mail))
    await pause(clock, 50)
  }
  return await Promise.all(took)
}

/** In a thread of its own, so that sends beside it are not measured by a thread that is busy itself. */
function changingApart({ url, apiKey }: Appliance, ids: readonly string[]): Promise<number[]> {
  const worker = new Worker(new URL(import.meta.url), {
    workerData: { url, apiKey, ids },
    argv: process.argv.slice(2),
  })
  return new Promise((resolve, reject) => {
    worker.once('message', resolve).once('error', reject)
  })
}

if (!isMainThread) {
  const { ids, ...appliance } = workerData as Pick<Appliance, 'url' | 'apiKey'> & { ids: string[] }
  parentPort?.postMessage(await changing(appliance, ids))
} else {
  if (values.before !== undefined) await measure(values.before)
  await measure()
}
