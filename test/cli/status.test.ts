import { appendFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import { createAccount } from '../../src/accounts/index.js'
import { pauseSending } from '../../src/billing/index.js'
import { loadConfig } from '../../src/config/index.js'
import { type Overview, readStatus } from '../../src/doctor/index.js'
import { notice } from '../../src/notices/index.js'
import { databaseFile } from '../../src/store/index.js'
import { FakeClock } from '../support/clock.js'
import { fakeMx } from '../support/fake-mx.js'
import { aboutSqlite } from '../support/postgres.js'
import { directTo, type Posthorn, startPosthorn } from '../support/posthorn.js'
import { openTestStore } from '../support/store.js'
import { openPlace } from './place.js'
import { runCli } from './run.js'

t.setTimeout(120_000)

const status = async ({ dataDir }: Posthorn, ...args: string[]) =>
  await runCli(['status', ...args], { env: { POSTHORN_DATA: dataDir } })

const later = new Date(Date.now() + 86_400_000).toISOString()
const mail = { from: 'Shop <shop@sender.test>', to: 'a@one.test', subject: 'Hi', html: '<p>Hi</p>' }

/** The threads tell every two seconds, the queue is counted every ten. */
async function until<T>(ask: () => Promise<T>, isSo: (found: T) => boolean): Promise<T> {
  for (;;) {
    const found = await ask()
    if (isSo(found)) return found
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
}

t.test('an appliance that is well: version, listeners, rates, queue; status 0', async (t) => {
  const posthorn = await startPosthorn(t)
  const { json } = await posthorn.send(mail)
  await posthorn.until(json.id, ({ status }) => status === 'delivered')
  await posthorn.send({ ...mail, scheduledAt: later })
  const seen = await until(
    async () => JSON.parse((await status(posthorn, '--json')).stdout),
    ({ rates, queue }) => rates.hour.delivered === 1 && queue[0].waiting === '1',
  )
  t.match(seen, {
    running: true,
    ok: true,
    rates: { hour: { accepted: 2, delivered: 1, deferred: 0, bounced: 0 } },
    queue: [{ name: 'transactional', dueMs: null }, { waiting: '0' }, { waiting: '0' }],
    held: 'none',
    troubles: [],
  })
  t.ok(
    seen.listeners.some(
      ({ name, at }: { name: string; at: string }) => name === 'API' && at === posthorn.url,
    ),
  )
  const { status: code, stdout } = await status(posthorn)
  t.equal(code, 0)
  for (const words of [/^Posthorn \d.* up for .*healthy, takes mail/, /IN THE LAST +ACCEPTED/]) {
    t.match(stdout, words)
  }
  t.match(stdout, /Disk +\S+ GiB of .* free/)
  t.match(stdout, /Last backup +none: see 'posthorn job show backup'\n/)
  t.match(stdout, 'Nothing is wrong.')
  t.ok(stdout.split('\n').length < 24, 'one screen')
})

t.test('what is wrong is named with its fix, what burns first; status 1', async (t) => {
  const posthorn = await startPosthorn(t)
  const now = Date.now()
  await posthorn.store.write(async (tx) => {
    await pauseSending(tx, posthorn.accountId, 'bounce')
    const common = { now, text: 'MX of a.test\nis gone \x1b[31m', fix: 'publish it' }
    await notice(tx, { kind: 'domain-record', key: 'a.test', severity: 'daily', ...common })
    await tx
      .insertInto('job_runs')
      .values({
        name: 'retention',
        due_at: now,
        began_at: now,
        ended_at: now,
        result: 'failed',
        summary: null,
        problems: '[]',
        figures: '{}',
        error: 'no room',
      })
      .execute()
  })
  const { status: code, stdout } = await status(posthorn)
  t.equal(code, 1)
  const lines = stdout.split('\n')
  const at = lines.findIndex((line) => line.startsWith('!'))
  t.match(lines.slice(at, at + 2), [
    '! The account Test is paused',
    /^ {4}posthorn account protection 'Test' says why/,
  ])
  t.match(stdout, /- MX of a.test is gone.*\n {4}publish it/)
  t.match(stdout, '- The job retention: failed, no room\n    posthorn job show retention')
  t.notMatch(stdout, '\x1b[31m')
  t.match(JSON.parse((await status(posthorn, '--json')).stdout), { running: true, ok: false })
})

t.test('a database that somebody holds does not hold it up; it says so', aboutSqlite, async (t) => {
  const posthorn = await startPosthorn(t)
  const other = new BetterSqlite3(databaseFile(posthorn.dataDir))
  t.teardown(() => other.close())
  other.exec('begin immediate')
  const { stdout } = await until(
    () => status(posthorn),
    ({ status, stdout }) => status === 1 && stdout !== '',
  )
  t.match(stdout, /! The database (has not taken a write for|cannot be written)/)
  other.exec('rollback')
})

t.test('a site that takes nothing is named, with why', async (t) => {
  const mx = await fakeMx(t, { rcpt: '421 4.7.0 not today' })
  const posthorn = await startPosthorn(t, directTo(mx))
  await posthorn.send(mail)
  await posthorn.send({ ...mail, to: 'b@one.test' })
  const seen = await until(
    async () => JSON.parse((await status(posthorn, '--json')).stdout),
    ({ sites, rates }) => sites.length > 0 || rates.hour.deferred > 0,
  )
  t.ok(seen.sites.length > 0 || seen.rates.hour.deferred > 0)
})

t.test(
  'without a running appliance it says so and what the database knows; status 3',
  async (t) => {
    const place = await openPlace(t)
    appendFileSync(join(place.data, 'posthorn.toml'), '')
    const { status: code, stdout } = await place.run('status')
    t.equal(code, 3)
    t.match(
      stdout,
      /^Posthorn \S+ does not run on this data directory\.\n {4}systemctl start posthorn/,
    )
    t.match(stdout, /QUEUE +WAITING/)
    t.notMatch(stdout, 'Nothing is wrong')
    const { stdout: json } = await place.run('status', '--json')
    t.match(JSON.parse(json), { running: false, ok: false, rates: null, queue: [{ waiting: '0' }] })
  },
)

t.test('what burns and has a notice is said once, as it is now', async (t) => {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  const { id: accountId } = await createAccount({ store, clock }, 'Shop')
  const now = clock.now()
  await store.write(async (tx) => {
    const of = { severity: 'burning', now, text: 'noticed before', fix: 'df -h' } as const
    await notice(tx, { kind: 'disk', key: '/data', ...of })
    await notice(tx, { kind: 'thread', key: 'outbound-0', ...of })
    await pauseSending(tx, accountId, 'bounce')
    await notice(tx, { kind: 'account-paused', key: accountId, ...of })
    await notice(tx, { kind: 'account-paused', key: 'another', ...of, text: 'Another is paused' })
  })
  const disk = { what: 'disk', says: '100 MiB are left on the disk of /data' } as const
  const overview: Overview = {
    version: '1',
    release: '1',
    startedAt: now,
    now,
    listeners: [],
    unhealthy: [],
    unready: [disk],
    hasRoomForCampaigns: true,
    series: [],
    rates: null,
    sites: [],
    accounts: [],
  }
  const config = loadConfig({ env: {} })
  const of = { read: store.read, now, config, dataDir: tmpdir(), certificates: [] }
  const { troubles } = await readStatus(of, overview)
  t.same(
    troubles.map(({ text }) => text),
    [disk.says, 'The account Shop is paused', 'Another is paused', 'noticed before'],
    'the thread is known by its notice alone',
  )
})
