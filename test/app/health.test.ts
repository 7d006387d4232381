import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import { type HealthDeps, healthRoutes, openHealth } from '../../src/app/health.js'
import { databaseFile } from '../../src/store/index.js'
import { FakeClock } from '../support/clock.js'
import { aboutSqlite, isPostgres } from '../support/postgres.js'
import { type Posthorn, startPosthorn } from '../support/posthorn.js'
import { cliEntry } from '../support/process.js'
import { makeTempDir } from '../support/store.js'

t.setTimeout(120_000)

interface Answered {
  status: number
  text: string
  reasons: { what: string; says: string }[]
}

async function ask(url: string, path: '/healthz' | '/readyz'): Promise<Answered> {
  const response = await fetch(url + path)
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json')
  return { status: response.status, text, reasons: isJson ? JSON.parse(text).reasons : [] }
}

async function until(posthorn: Posthorn, path: '/healthz' | '/readyz', status: number) {
  for (;;) {
    const answered = await ask(posthorn.url, path)
    if (answered.status === status) return answered
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

const mail = { from: 'Shop <shop@sender.test>', to: 'a@one.test', subject: 'Hi', html: '<p>Hi</p>' }
const later = new Date(Date.now() + 86_400_000).toISOString()

t.test('all is well: ok without a key, on the private listener alone', async (t) => {
  const posthorn = await startPosthorn(t)
  for (const path of ['/healthz', '/readyz'] as const) {
    t.match(await ask(posthorn.url, path), { status: 200, text: 'ok\n' })
    t.equal((await fetch(posthorn.url + path, { method: 'HEAD' })).status, 200)
    t.equal((await fetch(posthorn.publicUrl + path)).status, 404, 'strangers learn nothing')
  }
  const read = () => posthorn.store.read.selectFrom('appliance').select('alive_at')
  const { alive_at: first } = await read().executeTakeFirstOrThrow()
  t.ok(first > 0, 'it did write')
  for (let i = 0; i < 20; i++) await ask(posthorn.url, '/healthz')
  const { alive_at: last } = await read().executeTakeFirstOrThrow()
  t.ok(last - first < 20 * 5_000, 'those who poll share a write')
})

t.test(
  'while somebody holds the database both answer, and it is well again after',
  aboutSqlite,
  async (t) => {
    const posthorn = await startPosthorn(t)
    const other = new BetterSqlite3(databaseFile(posthorn.dataDir))
    t.teardown(() => other.close())
    other.exec('begin immediate')
    const unready = await until(posthorn, '/readyz', 503)
    t.match(unready.reasons, [
      { what: 'database', says: /^The database has not taken a write for \d/ },
    ])
    const unhealthy = await until(posthorn, '/healthz', 503)
    const says = 'The database cannot be written: database is locked'
    t.match(unhealthy.reasons, [{ what: 'database', says }])
    other.exec('rollback')
    t.match(await until(posthorn, '/healthz', 200), { text: 'ok\n' })
    t.match(await until(posthorn, '/readyz', 200), { text: 'ok\n' })
  },
)

t.test(
  'a write that waits for minutes is told to whoever would start the process anew',
  async (t) => {
    const clock = new FakeClock()
    let release = () => {}
    const hung = new Promise<void>((resolve) => {
      release = resolve
    })
    const health = openHealth({
      clock,
      dataDir: '/',
      maxQueued: 1,
      freeBytes: async () => 1e12,
      store: { write: () => hung },
      crew: { unwell: () => [], tick() {} },
      backlog: { size: 0, outOfRoom: false },
      meter: {},
    } as unknown as HealthDeps)
    const asked = new Map<string, () => Promise<{ status?: number; text?: string }>>()
    const pages = { get: (path: string, page: never) => asked.set(path, page) }
    healthRoutes(pages as unknown as Parameters<typeof healthRoutes>[0], health)
    health.become('running')
    const answer = async (path: string) => {
      const page = asked.get(path)?.()
      // No look waits for longer than a second.
      await clock.advance(1_000)
      return await page
    }
    t.match(await answer('/healthz'), { text: 'ok\n' })
    await clock.advance(10_000)
    t.match(await answer('/readyz'), { status: 503 }, 'no place to send mail to, yet')
    t.match(await answer('/healthz'), { text: 'ok\n' }, 'and no reason to start it anew')
    await clock.advance(120_000)
    const says = /The database has not taken a write for 13\d s/
    t.match(await answer('/healthz'), { status: 503, text: says })
    release()
    await clock.advance(0)
    t.match(await answer('/healthz'), { text: 'ok\n' })
  },
)

// Minutes go by in which no thread has time to say a word; while a server is asked, they have.
t.test(
  'threads that say nothing for a minute are named until they answer again',
  aboutSqlite,
  async (t) => {
    const clock = new FakeClock()
    const posthorn = await startPosthorn(t, { clock })
    const silent = async () => {
      await clock.advance(70_000)
      return await ask(posthorn.url, '/healthz')
    }
    const isNamed = ({ reasons }: Awaited<ReturnType<typeof silent>>) =>
      reasons.some(({ says }) => says.includes('outbound-0'))
    let found = await silent()
    // It may have said something just between the minute and the question.
    for (let i = 0; i < 20 && !isNamed(found); i++) found = await silent()
    const { status, reasons } = found
    t.equal(status, 503)
    t.match(reasons, [{ what: 'thread', says: /^The thread \S+ does not answer, for \d+ s$/ }])
    t.ok(isNamed(found))
    t.equal((await ask(posthorn.url, '/readyz')).status, 200, 'mail is taken all the same')
    t.match(await until(posthorn, '/healthz', 200), { text: 'ok\n' })
  },
)

t.test('a full queue is no place to send mail to', async (t) => {
  const posthorn = await startPosthorn(t, { env: { POSTHORN_OUTBOUND_MAX_QUEUED: '1' } })
  t.equal((await posthorn.send({ ...mail, scheduledAt: later })).status, 200)
  const { reasons } = await until(posthorn, '/readyz', 503)
  t.match(reasons, [{ what: 'queue', says: /^The queue is full: 1 deliveries wait/ }])
  t.equal((await ask(posthorn.url, '/healthz')).status, 200, 'a new start would not help')
})

t.test('one that stops says so while it still takes mail', async (t) => {
  const clock = new FakeClock(Date.now())
  const env = { POSTHORN_HTTP_SHUTDOWN_NOTICE: '5s' }
  const posthorn = await startPosthorn(t, { clock, env })
  t.equal((await ask(posthorn.url, '/readyz')).status, 200)
  const closed = posthorn.appliance.close()
  const { reasons } = await until(posthorn, '/readyz', 503)
  t.match(reasons, [{ what: 'stopping', says: 'Posthorn stops' }])
  t.equal((await ask(posthorn.url, '/healthz')).status, 200)
  t.equal((await posthorn.send({ ...mail, scheduledAt: later })).status, 200)
  await clock.advance(5_000)
  await closed
  await t.rejects(fetch(`${posthorn.url}/readyz`))
})

t.test('one of which only a part has started is not ready', async (t) => {
  const posthorn = await startPosthorn(t, { isLate: true })
  t.match(await ask(posthorn.url, '/readyz'), { status: 503, reasons: [{ what: 'starting' }] })
  await posthorn.appliance.complete()
  t.equal((await ask(posthorn.url, '/readyz')).status, 200)
})

const skip =
  spawnSync('unshare', ['-rm', 'true']).status !== 0 &&
  'no name spaces for users here (unshare -rm)'

t.test(
  'on a disk that is really full both answer, the one by saying so',
  isPostgres ? aboutSqlite : { skip },
  async (t) => {
    const folder = makeTempDir(t)
    const script = `
    set -e
    mkdir "$1/disk" && mount -t tmpfs -o size=300m none "$1/disk"
    "$2" "$3" init --sandbox --json --data "$1/disk/data" >/dev/null
    { while [ ! -e "$1/full" ]; do sleep 0.1; done; cat /dev/zero >"$1/disk/fill" 2>/dev/null || :
      touch "$1/filled"
      while [ ! -e "$1/room" ]; do sleep 0.1; done; rm "$1/disk/fill"; } &
    exec "$2" "$3" serve --json --data "$1/disk/data"`
    const names = ['HTTP_PRIVATE_PORT', 'HTTP_PUBLIC_PORT', 'SANDBOX_SMTP_PORT', 'INBOUND_PORT']
    const ports = Object.fromEntries(names.map((name) => [`POSTHORN_${name}`, '0']))
    const args = ['-rm', 'sh', '-c', script, '-', folder, process.execPath, cliEntry]
    const child = spawn('unshare', args, {
      env: { ...process.env, ...ports },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    t.teardown(() => child.kill('SIGKILL'))
    const exited = once(child, 'exit')
    const [line] = await once(createInterface({ input: child.stdout }), 'line')
    const { privateUrl: url } = JSON.parse(line) as { privateUrl: string }
    const wait = async (status: number) => {
      for (;;) {
        const answered = await ask(url, '/readyz')
        if (answered.status === status) return answered
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    }
    await wait(200)
    writeFileSync(join(folder, 'full'), '')
    const { reasons } = await wait(503)
    t.ok(
      reasons.some(({ what, says }) => what === 'disk' && / MiB are left on the disk/.test(says)),
    )
    t.ok([200, 503].includes((await ask(url, '/healthz')).status), 'it answers')
    writeFileSync(join(folder, 'room'), '')
    await wait(200)
    child.kill('SIGTERM')
    t.same(await exited, [0, null])
  },
)
