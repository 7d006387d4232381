/*
 * A CSV file of a million contacts, imported by the API and by the pages, while the API takes mail:
 * `node dist/test/bench/import.js --rows 1000000 --sends 100 --rounds 2 [--prof DIR]`
 * Each import has an appliance and a data directory of its own, and the next round takes the ways in the other order:
 * an import into a filled database takes longer, and so does the second one on a disk that still writes. Four columns
 * in no order (email, firstName, lastName, phone); curl, or a browser that looks each second, sends the file; single
 * sends, scheduled for tomorrow so that outbound is idle, go out at a fixed pace, each timed from when it was due. To be
 * held: 60 s, by the pages at most 1.1 times as long as by the API, RSS growth under 100 MB, p99 of the sends under 50
 * ms, pages of the list under 50 ms. With `--prof` the threads of the appliance leave their profiles there.
 */
import { spawn } from 'node:child_process'
import {
  closeSync,
  mkdtempSync,
  openAsBlob,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { systemClock as clock, pause } from '../../src/clock/index.js'
import { packageFile } from '../../src/config/index.js'
import { createList } from '../../src/contacts/index.js'
import type { Store } from '../../src/store/index.js'
import { logIn } from '../support/log-in.js'
import { openBeside } from './fill-list.js'
import {
  type Appliance,
  cpuSeconds,
  initDataDir,
  loadAverage,
  memoryMb,
  quantile,
  report,
  rsaSignatures,
  serveAppliance,
} from './rig.js'

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    sends: { type: 'string', default: '100' },
    rounds: { type: 'string', default: '1' },
    only: { type: 'string' },
    prof: { type: 'string' },
  },
})
const rows = Number(values.rows)
const sendsPerSecond = Number(values.sends)

/** Where a file is imported, and by whom. */
interface Place extends Appliance {
  dataDir: string
  accountId: string
  listId: string
  store: Store
}

/** Imports the file; resolves with how many seconds that took, and what is told of it. */
type Way = (place: Place, file: string) => Promise<{ seconds: number; told: string }>

const byApi: Way = async ({ url, apiKey, listId }, file) => {
  const began = performance.now()
  const told = await upload(file, `${url}/v1/contacts/${listId}/import`, apiKey)
  return { seconds: (performance.now() - began) / 1_000, told }
}

/** By a browser that looks each second. */
const byPages: Way = async ({ url, dataDir, store, accountId, listId }, file) => {
  const member = await logIn({ url, dataDir, store }, accountId, 'member')
  const beganAt = clock.now()
  const body = new FormData()
  body.set('file', await openAsBlob(file), 'contacts.csv')
  const { to } = await member.post(`/a/${accountId}/contacts/import`, body)
  const uses = ['email', 'firstName', 'lastName', 'phone']
  const mapped = Object.fromEntries(uses.map((use, at) => [`use-${at}`, use]))
  const how = { list: listId, known: 'fill', agreed: 'At the till' }
  const uploaded = (clock.now() - beganAt) / 1_000
  await member.post(to, { header: 'yes', ...mapped, ...how })
  for (let text = ''; !/class="chip \w+">(done|failed)</.test(text); ) {
    await pause(clock, 1_000)
    text = (await member.get(to)).text
  }
  // As the import itself notes it: the look of each second would add up to one to what is compared with the API.
  const { ended_at, result } = await store.read
    .selectFrom('tasks')
    .select(['ended_at', 'result'])
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirstOrThrow()
  const seconds = ((ended_at ?? Number.NaN) - beganAt) / 1_000
  return { seconds, told: `the upload ${uploaded.toFixed(1)} s, ${result}` }
}

const ways: Record<string, Way> = { 'by the API': byApi, 'by the pages': byPages }
const dir = mkdtempSync(join(tmpdir(), 'posthorn-import-'))

try {
  const file = join(dir, 'contacts.csv')
  writeContacts(file)
  report([
    ['rows, file', `${rows}, ${(statSync(file).size / 1e6).toFixed(0)} MB`],
    ['RSA-2048 signatures/s of a core, load', `${rsaSignatures()}, ${loadAverage()}`],
  ])
  for (let round = 0; round < Number(values.rounds); round++) {
    const names = Object.keys(ways).filter((name) => name.includes(values.only ?? ''))
    if (round % 2 === 1) names.reverse()
    const took = new Map<string, number>()
    for (const name of names) took.set(name, await measure(name, file))
    const ratio = (took.get('by the pages') ?? Number.NaN) / (took.get('by the API') ?? Number.NaN)
    report([['by the pages to by the API', ratio.toFixed(2)]])
  }
} finally {
  rmSync(dir, { recursive: true, force: true })
}

/** One import into a fresh data directory. */
async function measure(name: string, file: string): Promise<number> {
  const dataDir = join(dir, 'data')
  const { apiKey, accountId } = initDataDir(dataDir)
  // No plan of ours lets an account hold so many contacts.
  const plans = readFileSync(packageFile('config/plans.toml'), 'utf8')
  const roomy = plans.replace(/^contacts = .+$/gm, `contacts = ${2 * rows}`)
  writeFileSync(join(dataDir, 'plans.toml'), roomy)
  const store = await openBeside(dataDir)
  const { id: listId } = await createList({ store, clock }, accountId, 'Bench')
  const prof = values.prof && ['--cpu-prof', `--cpu-prof-dir=${values.prof}`]
  const appliance = await serveAppliance({
    dataDir,
    apiKey,
    sinkPort: 9,
    connections: 1,
    nodeArgs: prof || [],
  })
  try {
    return await timed(name, { ...appliance, dataDir, accountId, listId, store }, file)
  } finally {
    await appliance.stop()
    await store.close()
    rmSync(dataDir, { recursive: true, force: true })
  }
}

async function timed(name: string, place: Place, file: string): Promise<number> {
  const { pid, url, apiKey, listId } = place
  const until = performance.now() + 5_000
  const alone = await paced(place, () => performance.now() < until)
  const before = memoryMb(pid, 'VmRSS')
  let peak = before
  const watch = setInterval(() => {
    peak = Math.max(peak, memoryMb(pid, 'VmRSS'))
  }, 200)
  const cpu = cpuSeconds(pid)
  let importing = true
  const during = paced(place, () => importing)
  const { seconds, told } = await (ways[name] ?? byApi)(place, file)
  importing = false
  clearInterval(watch)
  const us = (1e6 * (cpuSeconds(pid) - cpu)) / rows
  const meanwhile = await during
  const pages: number[] = []
  for (let cursor = '', n = 0; n < 100; n++) {
    const start = performance.now()
    const from = `${url}/v1/contacts/${listId}?limit=100${cursor && `&cursor=${cursor}`}`
    const answer = await fetch(from, { headers: { authorization: `Bearer ${apiKey}` } })
    cursor = ((await answer.json()) as { nextCursor: string | null }).nextCursor ?? ''
    pages.push(performance.now() - start)
  }
  report([
    [name, `${seconds.toFixed(1)} s; ${told}`],
    ['  processor time of the appliance, a row', `${us.toFixed(1)} µs`],
    ['  sends beside nothing, p50 / p99 / max', figures(alone)],
    ['  sends meanwhile', figures(meanwhile)],
    [
      '  RSS before, peak, growth',
      [before, peak, peak - before].map((mb) => `${mb.toFixed(0)} MB`).join(', '),
    ],
    ['  pages of 100 contacts', figures(pages)],
    ['  load average', loadAverage()],
  ])
  return seconds
}

/** Sends at a fixed pace while `on`, whatever the answers do. */
async function paced({ post }: Appliance, on: () => boolean) {
  const mail = {
    from: 'a@example.test',
    to: 'r@d1.test',
    subject: 'x',
    html: '<p>x</p>',
    scheduledAt: new Date(clock.now() + 86_400_000).toISOString(),
  }
  const took: number[] = []
  const pending: Promise<unknown>[] = []
  const began = performance.now()
  for (let n = 0; on(); n++) {
    const due = began + (n * 1_000) / sendsPerSecond
    const wait = due - performance.now()
    if (wait > 0) await pause(clock, wait)
    pending.push(post('/v1/emails/send', mail).then(() => took.push(performance.now() - due)))
  }
  await Promise.all(pending)
  return took
}

function upload(file: string, to: string, apiKey: string): Promise<string> {
  // No wait for a 100 that does not come.
  const headers = ['-H', `Authorization: Bearer ${apiKey}`, '-H', 'Expect:']
  const child = spawn('curl', ['-sS', ...headers, '-F', `file=@${file};type=text/csv`, to])
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  return new Promise((resolve) => child.once('close', () => resolve(output)))
}

function writeContacts(file: string): void {
  const fd = openSync(file, 'w')
  let text = 'email,firstName,lastName,phone\n'
  for (let i = 0; i < rows; i++) {
    // A prime walks over all of them in no order.
    const n = (i * 7_919) % rows
    text += `user${n}@example${n % 500}.com,First${n % 1_000},Last${n % 777},+23480${10_000_000 + ((i * 31) % rows)}\n`
    if (text.length < 1e6) continue
    writeSync(fd, text)
    text = ''
  }
  writeSync(fd, text)
  closeSync(fd)
}

function figures(took: readonly number[]): string {
  const ms = [0.5, 0.99, 1].map((share) => quantile(took, share).toFixed(1))
  return `${ms.join(' / ')} ms of ${took.length}`
}
