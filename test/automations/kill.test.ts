// Thorough: processes that are killed while runs go on.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { createAutomation, enableAutomation } from '../../src/automations/index.js'
import { readBilling, setMarketingPlan } from '../../src/billing/index.js'
import { systemClock } from '../../src/clock/index.js'
import { silentLog } from '../../src/log/index.js'
import { openRenderer, putTemplate } from '../../src/templates/index.js'
import { delay, inARow, send, trigger } from '../support/automation-rig.js'
import { plans } from '../support/campaigns.js'
import { fakeMx } from '../support/fake-mx.js'
import { shapedTo } from '../support/outbound.js'
import { isPostgres } from '../support/postgres.js'
import { initSandbox, type Serving, serve } from '../support/process.js'
import { makeTempDir, openTestStore } from '../support/store.js'
import { thoroughly } from '../support/thorough.js'

// 300 of them, with 2,000 runs: POSTHORN_TEST_KILLS=300 node dist/test/automations/kill.test.js
const kills = Number(process.env.POSTHORN_TEST_KILLS ?? thoroughly(2, 8))
const runs = Math.min(2_000, kills * 40)
const connections = 20
const domains = 8
// Each run goes through its steps in about three seconds, so that most lives see all kinds of them.
const from = 'Us <us@example.test>'
const steps = [
  trigger('signup'),
  send('first', { from, type: 'transactional' }),
  delay('pause', 'PT1S'),
  send('second', { from }),
  delay('rest', 'PT1S'),
  send('third', { from }),
]
const sends = 3
/** Where an appliance dies, and at which of such moments at the latest; see `die-in-step.ts`. */
const points = [
  { point: 'plan', among: 12 },
  { point: 'write', among: 40 },
  { point: 'commit', among: 4 },
  { point: 'ring', among: 4 },
  { point: 'outside', among: 1 },
]
const dieInStep = fileURLToPath(new URL('../support/die-in-step.js', import.meta.url))

t.setTimeout(0)

t.test(
  `kill -9 at ${kills} moments: each step of ${runs} runs is taken exactly once`,
  async (t) => {
    const dataDir = makeTempDir(t)
    const { apiKey, accountId } = initSandbox(dataDir)
    const mx = await fakeMx(t)
    settle(dataDir, mx.port)
    await prepare(t, dataDir, accountId)
    const events = Array.from({ length: runs }, (_, n) => ({
      event: 'signup',
      email: `p${n}@d${n % domains}.test`,
      idempotencyKey: `event-${n}`,
    }))
    const perLife = Math.ceil(runs / kills)
    const moments: Record<string, number> = {}
    for (let life = 0; life < kills; life++) {
      const { point, among } = points[life % points.length] ?? { point: 'outside', among: 1 }
      const dieAt = `${point}:${1 + Math.floor(Math.random() * among)}`
      const moment = await liveAndDie(t, dataDir, dieAt, async (posthorn) => {
        // What an earlier life has not answered is sent again, and is the same event.
        await ingest(posthorn, apiKey, events.slice(0, (life + 1) * perLife).slice(-2 * perLife))
      })
      moments[moment] = (moments[moment] ?? 0) + 1
    }
    t.comment(`killed at: ${JSON.stringify(moments)}`)
    // SQLite: the moments of the engine are seen at its driver; over PostgreSQL all kills come from outside.
    if (!isPostgres) t.ok(Object.keys(moments).length > 1, 'in the engine and from outside')

    const last = await serve(t, dataDir, {})
    await ingest(last, apiKey, events)
    const ended = await untilEnded(t, dataDir)
    t.equal(await last.kill('SIGTERM'), 0)
    t.equal(ended.length, runs)
    const lines = ended.map(
      ({ history }) => JSON.parse(history) as [number, number, string, string?][],
    )
    const stories = new Set(lines.map((all) => all.map(([, , result]) => result).join(' ')))
    t.same([...stories], ['started sent waited sent waited sent'])
    const mails = lines.flat().flatMap(([, , result, id]) => (result === 'sent' ? [id] : []))
    t.equal(mails.length, sends * runs, 'no send step is lost and none is taken twice')
    const arrived = mx.messages.map(
      ({ raw }) => /^Message-ID: <([^@>]*)/m.exec(raw.toString('latin1'))?.[1],
    )
    const distinct = new Set(arrived)
    t.equal(distinct.size, mails.length, 'the sink has one mail of each')
    t.ok(mails.every((id) => distinct.has(id)))
    // What was at its final dot at a kill may come again, as the same message.
    const repeats = arrived.length - distinct.size
    t.comment(`${repeats} of ${arrived.length} mails came again`)
    t.ok(repeats <= kills * connections)
  },
)

/** Starts the appliance and sees it die; resolves with the moment's name. */
async function liveAndDie(
  t: Test,
  dataDir: string,
  dieAt: string,
  work: (posthorn: Serving) => Promise<void>,
): Promise<string> {
  const env = {
    NODE_OPTIONS: `--import=${dieInStep}`,
    POSTHORN_TEST_DIE_AT: dieAt,
  }
  const momentIn = (log: string) => /died at: (\w+)/.exec(log)?.[1]
  let posthorn: Serving
  try {
    posthorn = await serve(t, dataDir, env)
  } catch (error) {
    // Runs were due at its start, and it was dead before its API answered.
    const moment = momentIn(String(error))
    if (moment === undefined) throw error
    return moment
  }
  await work(posthorn)
  const enough = new AbortController()
  const patienceMs = dieAt.startsWith('outside') ? Math.random() * 1_000 : 3_000
  await Promise.race([posthorn.exited, pauseFor(patienceMs, enough.signal)])
  enough.abort()
  await posthorn.kill('SIGKILL')
  return momentIn(posthorn.log()) ?? 'outside'
}

function settle(dataDir: string, port: number): void {
  writeFileSync(
    join(dataDir, 'posthorn.toml'),
    `[outbound]\nroute = "direct"\nport = ${port}\nallow_private_addresses = true\nwarm_up = "off"\nthreads = 1\n` +
      `[outbound.retry.transactional]\nschedule = ["1s"]\n[outbound.retry.automation]\nschedule = ["1s"]\n` +
      `[http.rate_limit]\nrequests = 0\n[dns.static."mx.test"]\na = ["127.0.0.1"]\n` +
      `[dns.static."*"]\nmx = [{ preference = 10, exchange = "mx.test" }]\n`,
  )
  writeFileSync(join(dataDir, 'shaping.toml'), shapedTo({ connections }))
}

/** The automation, in a database in which nothing runs yet. */
async function prepare(t: Test, dataDir: string, accountId: string): Promise<void> {
  const clock = systemClock
  const store = await openTestStore(t, { dataDir })
  const renderer = openRenderer({ log: silentLog, clock })
  await store.write((tx) => setMarketingPlan(tx, accountId, plans.marketing.at(-1) ?? null))
  const draft = { slug: 'hello', subject: 'Hello {{ contact.email }}', html: '<p>Hello</p>' }
  await putTemplate({ store, clock, renderer }, accountId, draft)
  const billing = await readBilling(store.read, plans, accountId)
  const made = await createAutomation({ store, clock }, billing, {
    name: 'Welcome',
    steps,
    connections: inARow(steps),
    settings: undefined,
  })
  await enableAutomation({ store, clock, renderer }, billing, made.id)
  await renderer.close()
  await store.close()
}

/** Sends events in batches until all are answered, or the appliance is dead. */
async function ingest(
  { url, exited }: Serving,
  apiKey: string,
  events: readonly object[],
): Promise<void> {
  let isDead = false
  void exited.then(() => {
    isDead = true
  })
  for (let at = 0; at < events.length && !isDead; at += 100) {
    const response = await fetch(`${url}/v1/events/batch`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ events: events.slice(at, at + 100) }),
    }).catch(() => undefined)
    if (response === undefined) return
    if (response.status !== 202) throw new Error(`${response.status} ${await response.text()}`)
    await response.text().catch(() => '')
  }
}

/** Waits until no run is live and no mail is queued, then reads what the runs came to. */
async function untilEnded(t: Test, dataDir: string): Promise<{ history: string }[]> {
  const store = await openTestStore(t, { dataDir })
  const live = store.read.selectFrom('automation_live').select('id').limit(1)
  const queued = store.read.selectFrom('queue').select('id').limit(1)
  while ((await live.executeTakeFirst()) ?? (await queued.executeTakeFirst())) await pauseFor(100)
  const ended = await store.read.selectFrom('automation_runs').selectAll().execute()
  const steps = await store.read.selectFrom('automation_steps').selectAll().execute()
  for (const { key, entered, done, mails, type } of steps) {
    t.match({ entered, done }, { entered: runs, done: runs }, `${key} is counted as often as taken`)
    t.equal(mails, type === 'send_email' ? runs : 0)
  }
  t.match(await store.read.selectFrom('automations').selectAll().executeTakeFirst(), {
    running: 0,
    waiting: 0,
    completed: runs,
    failed: 0,
    exited: 0,
    enrolled: runs,
  })
  t.ok(ended.every(({ status }) => status === 'completed'))
  await store.close()
  return ended
}

const pauseFor = (ms: number, signal?: AbortSignal) =>
  new Promise<void>((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal?.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
