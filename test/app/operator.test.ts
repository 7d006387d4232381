import { fork } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { createAccount } from '../../src/accounts/index.js'
import type { Observed } from '../../src/app/conditions.js'
import { operatorChores } from '../../src/app/operator.js'
import { tryWays } from '../../src/app/operator-test.js'
import { operatorWays } from '../../src/app/operator-ways.js'
import { type Config, loadConfig, makeApplianceKey } from '../../src/config/index.js'
import { addDomain } from '../../src/domains/index.js'
import { ApiError } from '../../src/errors/index.js'
import { silentLog } from '../../src/log/index.js'
import { openNotices, pastNotices, type Raised } from '../../src/notices/index.js'
import { databaseFile, type Store } from '../../src/store/index.js'
import { FakeClock } from '../support/clock.js'
import { type FakeMx, fakeMx, type MxScript } from '../support/fake-mx.js'
import { aboutSqlite } from '../support/postgres.js'
import { makeTempDir, openTestStore } from '../support/store.js'

const minuteMs = 60_000
const quiet: Observed = {
  kinds: ['disk', 'queue-stuck', 'thread', 'failover', 'held', 'job'],
  raised: [],
  fault: undefined,
}
const burns: Raised = {
  kind: 'thread',
  key: 'outbound-0',
  severity: 'burning',
  fix: 'posthorn status',
  text: 'The thread outbound-0 of Posthorn is down',
}

/** The chore over a store that a test breaks, with a relay that it scripts and a command. */
async function openChore(
  t: Test,
  { relay = {}, notify = 'ops@example.org' }: { relay?: MxScript; notify?: string } = {},
) {
  const clock = new FakeClock()
  const dataDir = makeTempDir(t)
  const store = await openTestStore(t, { clock, dataDir })
  const { id } = await createAccount({ store, clock }, 'Library')
  const key = makeApplianceKey(Buffer.alloc(32, 7))
  await addDomain({ store, clock, key }, id, 'sender.test', { trust: true })
  const mx = await fakeMx(t, relay)
  const dir = makeTempDir(t)
  const pages = join(dir, 'pages.txt')
  const pager = join(dir, 'pager')
  writeFileSync(pager, `#!/bin/sh\n{ echo "$POSTHORN_SUBJECT [$1]"; cat; } >> ${pages}\n`)
  chmodSync(pager, 0o700)
  const file = join(dir, 'posthorn.toml')
  writeFileSync(
    file,
    `[operator]\nnotify = "${notify}"\ncommand = ["${pager}", "a b; $HOME"]\n[[operator.relays]]\nhost = "127.0.0.1"\nport = ${mx.port}\ntls = "off"\n`,
  )
  const config: Config = loadConfig({ file, env: {} })
  let seen = quiet
  let broken: Error | undefined
  const fragile: Store = {
    ...store,
    write: (work) => (broken === undefined ? store.write(work) : Promise.reject(broken)),
  }
  const ways = operatorWays({ config, clock, env: {} })
  const [chore] = operatorChores({
    store: fragile,
    clock,
    log: silentLog,
    config,
    ways,
    backlog: { change() {} },
    ring() {},
    observe: async () => seen,
  })
  return {
    clock,
    store,
    config,
    dataDir,
    mx,
    sees: (next: Partial<Observed>) => {
      seen = { ...quiet, ...next }
    },
    breaks: (error?: Error) => {
      broken = error
    },
    look: async () => await chore?.run(new AbortController().signal),
    pages: () => {
      try {
        return readFileSync(pages, 'utf8')
      } catch {
        return ''
      }
    },
    queued: () => store.read.selectFrom('queue').select('id').execute(),
    mails: () => store.read.selectFrom('notice_mails').selectAll().execute(),
  }
}

const full = () =>
  new ApiError('service_unavailable', 'The database cannot be written just now', {})

const textOf = (mx: FakeMx) => mx.messages.map(({ raw }) => raw.toString())

t.test('what the queue does not bring in time leaves by the relay, and out of it', async (t) => {
  const { look, sees, clock, mx, queued, mails } = await openChore(t)
  sees({ raised: [burns] })
  await look()
  await clock.advance(minuteMs)
  await look()
  t.equal((await queued()).length, 1)
  t.equal(mx.messages.length, 0, 'the queue has its time')
  await clock.advance(10 * minuteMs)
  await look()
  t.equal(mx.messages.length, 1)
  t.match(textOf(mx)[0], /Subject: .*BURNS/)
  t.same(await queued(), [])
  t.match(await mails(), [{ state: 'sent', path: /^relay 127\.0\.0\.1:/, result: /^250 / }])
  await clock.advance(10 * minuteMs)
  await look()
  t.equal(mx.messages.length, 1)
})

t.test(
  'a clock that was set back keeps no mail from the relay, nor what burns from memory',
  async (t) => {
    const { look, sees, breaks, clock, mx } = await openChore(t)
    sees({ raised: [burns] })
    await look()
    await clock.advance(minuteMs)
    await look()
    clock.setBack(24 * 60 * minuteMs)
    await look()
    t.equal(mx.messages.length, 1)
    breaks(full())
    sees({ raised: [{ ...burns, kind: 'disk', key: 'data', text: 'The disk fills' }] })
    await look()
    clock.setBack(24 * 60 * minuteMs)
    await look()
    t.match(textOf(mx)[1], /The disk fills/)
  },
)

t.test('when the queue stands still nothing is waited for', async (t) => {
  const { look, sees, clock, mx } = await openChore(t)
  const text = 'Transactional mail is due, but nothing sends it'
  sees({ raised: [{ ...burns, kind: 'queue-stuck', key: 'transactional', text }] })
  await look()
  await clock.advance(minuteMs)
  await look()
  t.equal(mx.messages.length, 1)
})

t.test('a relay that refuses leaves it to the command, without a shell', async (t) => {
  const { look, sees, clock, mx, pages, mails } = await openChore(t, {
    relay: { rcpt: '550 5.7.1 not you' },
  })
  sees({ raised: [burns] })
  await look()
  await clock.advance(minuteMs)
  await look()
  await clock.advance(10 * minuteMs)
  await look()
  t.equal(mx.messages.length, 0)
  t.match(pages(), /BURNS: The thread outbound-0 of Posthorn is down \[a b; \$HOME\]\n/)
  t.match(await mails(), [{ state: 'sent', path: /^command / }])
})

t.test('without an address the command is the way', async (t) => {
  const { look, sees, clock, pages } = await openChore(t, { notify: '' })
  sees({ raised: [burns] })
  await look()
  await clock.advance(minuteMs)
  await look()
  t.match(pages(), /outbound-0/)
})

t.test('what cannot be written is told from memory, once, and noted afterwards', async (t) => {
  const { look, sees, breaks, clock, mx, store, mails, queued } = await openChore(t)
  sees({ raised: [burns] })
  breaks(full())
  for (let minutes = 0; minutes < 30; minutes++) {
    await look()
    await clock.advance(minuteMs)
  }
  t.equal(mx.messages.length, 1)
  t.match(textOf(mx)[0], /The database of Posthorn cannot be read or written/)
  t.match(textOf(mx)[0], /outbound-0/)
  t.same(await mails(), [])
  breaks()
  for (let minutes = 0; minutes < 30; minutes++) {
    await look()
    await clock.advance(minuteMs)
  }
  t.equal(mx.messages.length, 1, 'not told again')
  const told = {
    kind: 'burning',
    state: 'sent',
    path: /^relay /,
    subject: /BURNS/,
    text: /outbound-0/,
  }
  t.match(await mails(), [told], 'the mail is in the list with all others')
  t.same(await queued(), [])
  t.match(await openNotices(store.read), [{ kind: 'thread' }])
  t.match(await pastNotices(store.read, 5), [{ kind: 'database' }])
})

t.test(
  'a database that another process holds keeps nothing from the operator',
  aboutSqlite,
  async (t) => {
    const { look, sees, clock, mx, dataDir, mails, store } = await openChore(t)
    const program = fileURLToPath(new URL('../support/hold-lock.js', import.meta.url))
    const holder = fork(program, [databaseFile(dataDir)])
    t.teardown(() => holder.kill('SIGKILL'))
    await once(holder, 'message')
    sees({ raised: [burns] })
    // Each look waits ten seconds for the lock, as every write does.
    await look()
    await clock.advance(minuteMs)
    await look()
    t.equal(mx.messages.length, 1)
    t.match(textOf(mx)[0], /database is locked/)
    t.match(textOf(mx)[0], /outbound-0/)
    t.same(await mails(), [], 'nothing could be written down')
    holder.send('free')
    await once(holder, 'exit')
    for (let looks = 0; looks < 2; looks++) {
      await clock.advance(minuteMs)
      await look()
    }
    t.equal(mx.messages.length, 1, 'not told again')
    t.match(await openNotices(store.read), [{ kind: 'thread', key: 'outbound-0' }])
    t.match(await pastNotices(store.read, 1), [{ kind: 'database' }])
  },
)

t.test('a database that cannot even be read is told as well', async (t) => {
  const { look, sees, clock, mx } = await openChore(t)
  sees({ fault: 'disk I/O error' })
  await look()
  await clock.advance(minuteMs)
  await look()
  t.match(textOf(mx)[0], /disk I\/O error/)
})

t.test('what a look does not find any more is settled', async (t) => {
  const { look, sees, store } = await openChore(t)
  sees({ raised: [burns] })
  await look()
  t.equal((await openNotices(store.read)).length, 1)
  sees({ kinds: ['disk'] })
  await look()
  t.equal((await openNotices(store.read)).length, 1, 'threads were not looked at')
  sees({})
  await look()
  t.same(await openNotices(store.read), [])
})

t.test('the test mail tells of each way how it went', async (t) => {
  const { store, clock, config, mx } = await openChore(t)
  const tried = await tryWays({ store, clock, config, env: {} })
  t.match(tried, [
    { way: 'queue', ok: true },
    { way: `relay 127.0.0.1:${mx.port}`, ok: true, answer: /^250 / },
    { way: /^command /, ok: true },
  ])
  mx.change({ mail: '451 4.7.1 not now' })
  const again = await tryWays({ store, clock, config, env: {} })
  t.match(again[1], { ok: false, answer: /^451 4\.7\.1 not now/ })
})
