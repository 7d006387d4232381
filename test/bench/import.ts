/*
 * A CSV file of a million contacts, imported while the API takes mail:
 * `node dist/test/bench/import.js --rows 1000000 --sends 100`
 * Four columns in no order (email, firstName, lastName, phone); curl sends the file; single sends,
 * scheduled for tomorrow so that outbound is idle, go out at a fixed pace, each timed from when it
 * was due. To be held: 60 s, RSS growth under 100 MB, p99 of the sends under 50 ms, pages of the
 * list under 50 ms. Then another account imports the same file by the pages, with the sends beside it: at most 1.1 times as
 * long as by the API.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
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
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { createAccount } from '../../src/accounts/index.js'
import { loadPlans, setMarketingPlan } from '../../src/billing/index.js'
import { systemClock as clock, pause } from '../../src/clock/index.js'
import { packageFile } from '../../src/config/index.js'
import { makeTurns, openStore } from '../../src/store/index.js'
import { logIn } from '../support/log-in.js'
import { cpuSeconds, launched, loadAverage, rsaSignatures } from './rig.js'

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    sends: { type: 'string', default: '100' },
  },
})
const rows = Number(values.rows)
const sendsPerSecond = Number(values.sends)
const port = 18_092
const url = `http://127.0.0.1:${port}`
const cli = fileURLToPath(new URL('../../../bin/posthorn', import.meta.url))
const dir = mkdtempSync(join(tmpdir(), 'posthorn-import-'))

try {
  const file = join(dir, 'contacts.csv')
  writeContacts(file)
  const { apiKey } = init()
  const { flags, env } = launched(cli)
  const child = spawn(process.execPath, [...flags, cli, 'serve', '--data', join(dir, 'data')], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  try {
    await answers(child)
    await measure(file, apiKey, child.pid ?? 0)
  } finally {
    child.kill('SIGTERM')
    await new Promise((resolve) => child.once('exit', resolve))
  }
} finally {
  rmSync(dir, { recursive: true, force: true })
}

async function measure(file: string, apiKey: string, pid: number): Promise<void> {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' }
  const call = async (method: string, path: string, body?: object) => {
    const response = await fetch(url + path, {
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
    })
    const json = await response.json()
    if (response.status >= 300) throw new Error(JSON.stringify(json))
    return json as Record<string, string>
  }
  const { id } = await call('POST', '/v1/contacts/lists', { name: 'Bench' })
  const send = () =>
    call('POST', '/v1/emails/send', {
      from: 'a@example.test',
      to: 'r@d1.test',
      subject: 'x',
      html: '<p>x</p>',
      scheduledAt: new Date(Date.now() + 86_400_000).toISOString(),
    })
  const until = performance.now() + 5_000
  const alone = await paced(send, () => performance.now() < until)
  line('RSA-2048 signatures/s of a core, load average', `${rsaSignatures()}, ${loadAverage()}`)
  line('sends beside nothing, p50 / p99 / max', figures(alone))

  const before = rssMb(pid)
  let peak = before
  const watch = setInterval(() => {
    peak = Math.max(peak, rssMb(pid))
  }, 200)
  const cpu = cpuSeconds(pid)
  const began = performance.now()
  let importing = true
  const during = paced(send, () => importing)
  const answer = await upload(file, `${url}/v1/contacts/${id}/import`, apiKey)
  const seconds = (performance.now() - began) / 1_000
  importing = false
  clearInterval(watch)
  line(
    `import of ${rows} rows, ${(statSync(file).size / 1e6).toFixed(0)} MB`,
    `${seconds.toFixed(1)} s ${answer}`,
  )
  line(
    'processor time of the appliance, us a row',
    ((1e6 * (cpuSeconds(pid) - cpu)) / rows).toFixed(1),
  )
  line('sends meanwhile, p50 / p99 / max', figures(await during))
  line(
    'RSS before, peak, growth',
    [before, peak, peak - before].map((mb) => `${mb.toFixed(0)} MB`).join(', '),
  )
  await measurePage(file, seconds, { send, pid })
  const pages: number[] = []
  for (let cursor = '', n = 0; n < 100; n++) {
    const start = performance.now()
    const page = await call('GET', `/v1/contacts/${id}?limit=100${cursor && `&cursor=${cursor}`}`)
    pages.push(performance.now() - start)
    cursor = page.nextCursor ?? ''
  }
  line('pages of 100 contacts, p50 / p99 / max', figures(pages))
  const start = performance.now()
  await call('GET', '/v1/contacts/lists')
  line('the lists with their counts', `${(performance.now() - start).toFixed(1)} ms`)
}

/** The same file by the pages of another account, as a browser that looks each second. */
async function measurePage(
  file: string,
  byApi: number,
  { send, pid }: { send: () => Promise<unknown>; pid: number },
): Promise<void> {
  const dataDir = join(dir, 'data')
  const store = await openStore({ dataDir, clock, turns: makeTurns(), slot: 15 })
  try {
    const { id: accountId } = await createAccount({ store, clock }, 'Pages')
    const [plan = null] = loadPlans(join(dataDir, 'plans.toml')).marketing.slice(-1)
    await store.write((tx) => setMarketingPlan(tx, accountId, plan))
    const member = await logIn({ url, dataDir, store }, accountId, 'member')
    const cpu = cpuSeconds(pid)
    let importing = true
    const during = paced(send, () => importing)
    const beganAt = clock.now()
    const body = new FormData()
    body.set('file', await openAsBlob(file), 'contacts.csv')
    const { to } = await member.post(`/a/${accountId}/contacts/import`, body)
    const uses = ['email', 'firstName', 'lastName', 'phone']
    const mapped = Object.fromEntries(uses.map((use, at) => [`use-${at}`, use]))
    const how = { list: '', newList: 'Readers', known: 'fill', agreed: 'At the till' }
    const uploaded = (clock.now() - beganAt) / 1_000
    await member.post(to, { header: 'yes', ...mapped, ...how })
    for (let text = ''; !/class="chip \w+">(done|failed)</.test(text); ) {
      await pause(clock, 1_000)
      text = (await member.get(to)).text
    }
    importing = false
    // As the import itself notes it: the look of each second would add up to one to what is compared with the API.
    const { ended_at } = await store.read
      .selectFrom('tasks')
      .select('ended_at')
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirstOrThrow()
    const seconds = ((ended_at ?? Number.NaN) - beganAt) / 1_000
    line(
      'the same by the pages, of it the upload; to the API’s',
      `${seconds.toFixed(1)} s, ${uploaded.toFixed(1)} s; ${(seconds / byApi).toFixed(2)}`,
    )
    const us = (1e6 * (cpuSeconds(pid) - cpu)) / rows
    line('processor time of the appliance, us a row', us.toFixed(1))
    line('sends meanwhile, p50 / p99 / max', figures(await during))
  } finally {
    await store.close()
  }
}

/** Calls at a fixed pace while `on`, whatever the answers do. */
async function paced(call: () => Promise<unknown>, on: () => boolean) {
  const took: number[] = []
  const pending: Promise<unknown>[] = []
  const began = performance.now()
  for (let n = 0; on(); n++) {
    const due = began + (n * 1_000) / sendsPerSecond
    const wait = due - performance.now()
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
    pending.push(call().then(() => took.push(performance.now() - due)))
  }
  await Promise.all(pending)
  return took
}

function upload(file: string, to: string, apiKey: string): Promise<string> {
  const child = spawn('curl', [
    '-sS',
    '-H',
    `Authorization: Bearer ${apiKey}`,
    // No wait for a 100 that does not come.
    '-H',
    'Expect:',
    '-F',
    `file=@${file};type=text/csv`,
    to,
  ])
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

function init(): { apiKey: string } {
  const data = join(dir, 'data')
  const args = [cli, 'init', '--sandbox', '--json', '--data', data]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  writeFileSync(
    join(data, 'posthorn.toml'),
    `[http.private]\nport = ${port}\n[http.public]\nport = ${port + 1}\nhost = "127.0.0.1"\n` +
      '[http.rate_limit]\nrequests = 0\n[log]\nlevel = "warn"\n[outbound]\nroute = "direct"\nhelo_name = "bench.test"\n[inbound]\nenabled = false\n',
  )
  // No plan of ours lets an account hold so many contacts.
  const plans = readFileSync(packageFile('config/plans.toml'), 'utf8')
  writeFileSync(
    join(data, 'plans.toml'),
    plans.replace(/^contacts = .+$/gm, `contacts = ${2 * rows}`),
  )
  return JSON.parse(stdout) as { apiKey: string }
}

async function answers(child: ChildProcess): Promise<void> {
  for (let i = 0; i < 600; i++) {
    if (child.exitCode !== null) throw new Error('The server ended')
    if (
      await fetch(url).then(
        () => true,
        () => false,
      )
    )
      return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error('The server does not start')
}

function rssMb(pid: number): number {
  return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024
}

function figures(took: number[]): string {
  took.sort((a, b) => a - b)
  const at = (share: number) =>
    took[Math.min(took.length - 1, Math.floor(took.length * share))] ?? 0
  return `${[at(0.5), at(0.99), at(1)].map((ms) => ms.toFixed(1)).join(' / ')} ms of ${took.length}`
}

function line(name: string, value: string): void {
  console.log(`${name.padEnd(48)} ${value}`)
}
