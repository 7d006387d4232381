import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { makeTempDir } from '../support/store.js'
import { jsonOf, outcomeOf, runCli, startCli } from './run.js'

// On a machine that may have other work.
t.setTimeout(300_000)

// Nobody listens there, so nothing depends on the DNS of the machine that tests run on.
const env = {
  POSTHORN_DNS_SERVERS: '127.0.0.1:9',
  POSTHORN_DNS_TIMEOUT: '100ms',
  POSTHORN_DOCTOR_TIMEOUT: '100ms',
  POSTHORN_INBOUND_PORT: '0',
}

const answers = [
  '--host-name',
  'mail.shop.test',
  '--address',
  '192.0.2.25',
  '--domain',
  'shop.test',
  '--operator',
  'ann@ops.test',
  '--no-acme',
]

interface Outcome {
  settings: string
  differences: string[]
  account: { name: string; isNew: boolean }
  apiKey: string | null
  appliance: string
  zone: string
  records: { type: string; host: string }[]
  left: { where: string; what: string }[]
  findings: { check: string; subject: string; state: string }[]
}

const newData = (t: Test) => join(makeTempDir(t), 'data')
const setUp = (t: Test, data: string, ...args: string[]) =>
  jsonOf<Outcome>(t, ['setup', '--data', data, ...args], { env })
const mode = (file: string) => (statSync(file).mode & 0o777).toString(8)

t.test('setup by options makes everything, for its owner alone', async (t) => {
  const data = newData(t)
  const made = await setUp(t, data, ...answers)
  t.match(made, {
    settings: 'written',
    differences: [],
    appliance: 'not started',
    account: { name: 'shop.test', isNew: true },
    apiKey: /^ph_[A-Za-z0-9_-]{43}$/,
  })
  t.equal(mode(data), '700')
  t.same(readdirSync(data).sort(), ['appliance.key', 'posthorn.db', 'posthorn.toml'])
  for (const name of readdirSync(data)) t.equal(mode(join(data, name)), '600', name)
  t.match(await runCli(['config', 'check', '--data', data]), { status: 0, stderr: '' })
  t.match(await jsonOf(t, ['domain', 'list', '--data', data]), {
    domains: [{ name: 'shop.test' }],
  })

  const types = made.records.map(({ type }) => type)
  t.same(types, ['A', 'PTR', 'MX', 'TXT', 'TXT', 'TXT', 'MX', 'TXT', 'TXT'])
  t.match(made.zone, /^mail\.shop\.test\. +3600 IN A +192\.0\.2\.25$/m)
  t.notMatch(made.zone, 'PTR', 'whoever gave the address has that zone')
  t.match(made.left[0], { where: 'here', what: `start it: posthorn serve --data ${data}` })
  t.match(made.left.at(-1)?.what, 'posthorn domain verify shop.test')
  const named = made.left.map(({ what }) => what).join('\n')
  t.match(named, 'let in TCP ports 25, 80 and 443', 'a proxy proves its certificate on 80')
  const of = (name: string) => made.findings.find(({ check }) => check === name)
  t.match(
    [of('dns'), of('helo'), of('listener')],
    [{ state: 'fail' }, { state: 'unchecked' }, { state: 'unchecked' }],
  )
})

t.test('a second run keeps what is there, and takes a new answer', async (t) => {
  const data = newData(t)
  await setUp(t, data, ...answers)
  const key = readFileSync(join(data, 'appliance.key'), 'utf8')
  t.match(await setUp(t, data), {
    settings: 'kept',
    apiKey: null,
    account: { name: 'shop.test', isNew: false },
  })
  const settings = join(data, 'posthorn.toml')
  t.match(await setUp(t, data, '--operator', 'bob@ops.test'), { settings: 'written anew' })
  t.match(readFileSync(settings, 'utf8'), 'notify = "bob@ops.test"')
  t.equal(readFileSync(join(data, 'appliance.key'), 'utf8'), key)
  t.equal((await jsonOf<{ keys: object[] }>(t, ['key', 'list', '--data', data])).keys.length, 1)
})

t.test('settings that a person wrote are kept, and told where they differ', async (t) => {
  const data = newData(t)
  await setUp(t, data, ...answers)
  const settings = join(data, 'posthorn.toml')
  const own = `${readFileSync(settings, 'utf8')}\n[log]\nlevel = "debug"\n`
  writeFileSync(settings, own)
  t.match(await setUp(t, data, '--host-name', 'mx.shop.test'), {
    settings: 'kept',
    differences: ['outbound.helo_name is "mail.shop.test", not "mx.shop.test"'],
  })
  t.equal(readFileSync(settings, 'utf8'), own)
  const told = await runCli(['setup', '--data', data, '--acme'], { env })
  t.match(told.stdout, /differs: tls\.acme is "false", not "true"/)
})

t.test('without a terminal a missing answer is an error that names its option', async (t) => {
  const data = newData(t)
  const refused = async (expected: string | RegExp, ...args: string[]) => {
    const { status, stdout, stderr } = await runCli(['setup', '--data', data, ...args], { env })
    t.match({ status, stdout, stderr }, { status: 1, stdout: '', stderr: expected })
    t.notOk(existsSync(data), 'nothing was made')
  }
  await refused('needs --host-name, --address, --domain, --operator, --acme or --no-acme;')
  await refused(
    'needs --domain, --acme or --no-acme',
    ...answers.slice(0, 4),
    ...answers.slice(6, 8),
  )
  await refused(/needs [^;]*--operator;/, '--yes', '--host-name', 'mail.shop.test')
  await refused('--address: "1.2.3" is not an IP address', ...answers, '--address', '1.2.3')
  await refused('--operator: "ann" is not a mail address', ...answers, '--operator', 'ann')
})

t.test('--dry-run shows files and commands, and makes nothing', async (t) => {
  const data = newData(t)
  const { status, stdout } = await runCli(['setup', '--data', data, '--dry-run', ...answers], {
    env,
  })
  t.equal(status, 0)
  t.match(stdout, `write     ${data}/posthorn.toml`)
  t.match(stdout, '      helo_name = "mail.shop.test"')
  t.match(stdout, 'Nothing was changed.')
  t.notOk(existsSync(data))
  const plan = await jsonOf<object>(t, ['setup', '--data', data, '--dry-run', ...answers], { env })
  t.match(plan, { dryRun: true, answers: { hostName: 'mail.shop.test', certificates: 'proxy' } })
  t.notOk(existsSync(data))
})

t.test('--sandbox asks nothing and is replaced by the real thing', async (t) => {
  const data = newData(t)
  const trial = await setUp(t, data, '--sandbox')
  t.match(trial, { domain: 'example.test', records: [], findings: [], apiKey: /^ph_/ })
  t.match(await jsonOf(t, ['domain', 'list', '--data', data]), { domains: [{ trusted: true }] })
  const real = await setUp(t, data, ...answers)
  t.match(real, { settings: 'written anew', domain: 'shop.test', apiKey: null })
  t.match(readFileSync(join(data, 'posthorn.toml'), 'utf8'), 'helo_name = "mail.shop.test"')
  t.same(
    real.findings.filter(({ subject }) => /example\.test|127\.0\.0\.1$/.test(subject)),
    [],
    'the doctor looks for nothing of the trial',
  )
  const { domains } = await jsonOf<{ domains: object[] }>(t, ['domain', 'list', '--data', data])
  t.equal(domains.length, 1)
  t.match(domains, [{ name: 'shop.test', status: 'pending', trusted: false }])
  t.match(await jsonOf(t, ['account', 'list', '--data', data]), [{ name: 'shop.test' }])
  t.match(await setUp(t, data), { settings: 'kept', domain: 'shop.test' })
  const back = await runCli(['setup', '--data', data, '--sandbox'], { env })
  t.match(back, { status: 1, stderr: /outbound\.route is "direct" in .*choose another --data/s })
})

t.test("a quickstart's directory becomes a server's, once none of its mail waits", async (t) => {
  const data = newData(t)
  const { apiKey } = await jsonOf<{ apiKey: string }>(t, ['init', '--sandbox', '--data', data])
  t.match(apiKey, /^ph_/)
  const db = new Database(join(data, 'posthorn.db'))
  db.pragma('foreign_keys = off')
  db.exec(`insert into queue (id, email_id, account_id, recipient, lane, class, due_at, attempts, expires_at)
    values (1, 'x', 'y', 'ann@shop.test', 'z', 0, 0, 0, 0)`)
  const refused = await runCli(['setup', '--data', data, ...answers], { env })
  t.match(refused, {
    status: 1,
    stderr: /Mail of the trial still waits.*queue fail --all --yes --reason trial/s,
  })
  t.match(await jsonOf(t, ['domain', 'list', '--data', data]), {
    domains: [{ name: 'example.test' }],
  })
  db.exec('delete from queue')
  db.close()
  t.match(await setUp(t, data, ...answers), {
    settings: 'written anew',
    account: { name: 'shop.test' },
  })
  t.equal(
    (await jsonOf<{ domains: object[] }>(t, ['domain', 'list', '--data', data])).domains.length,
    1,
  )
})

t.test('killed after any step, the next run goes on and ends well', async (t) => {
  for (const step of [
    'written',
    'database and keys',
    'account shop',
    'added',
    'its API key',
    'not yet',
  ]) {
    const data = newData(t)
    const child = startCli(['setup', '--data', data, ...answers], { env })
    let said = ''
    child.stdout?.on('data', (text) => {
      said += text
      if (said.includes(step)) child.kill('SIGKILL')
    })
    await outcomeOf(child)
    const again = await setUp(t, data, ...answers)
    t.equal((await jsonOf<object[]>(t, ['account', 'list', '--data', data])).length, 1, step)
    t.equal(
      (await jsonOf<{ domains: object[] }>(t, ['domain', 'list', '--data', data])).domains.length,
      1,
      step,
    )
    const { keys } = await jsonOf<{ keys: { last4: string }[] }>(t, ['key', 'list', '--data', data])
    t.equal(keys.length, 1, step)
    const shown = again.apiKey ?? /ph_[A-Za-z0-9_-]{43}/.exec(said)?.[0]
    t.equal(shown?.slice(-4), keys[0]?.last4, `${step}: the key that counts was shown`)
    t.same(readdirSync(data).sort(), ['appliance.key', 'posthorn.db', 'posthorn.toml'], step)
  }
})

t.test('a key that was made and perhaps not shown is replaced, a shown one never', async (t) => {
  const data = newData(t)
  const first = await setUp(t, data, ...answers)
  // As a kill between the commit and the answer leaves it.
  writeFileSync(join(data, 'setup.unfinished'), '')
  const second = await setUp(t, data)
  t.match(second.apiKey, /^ph_/)
  t.not(second.apiKey, first.apiKey)
  t.equal((await jsonOf<{ keys: object[] }>(t, ['key', 'list', '--data', data])).keys.length, 1)
  t.equal((await setUp(t, data)).apiKey, null)
})

t.test(
  'what root makes in the directory of another user is that user’s',
  {
    skip: process.getuid?.() !== 0 && 'needs root',
  },
  async (t) => {
    const data = newData(t)
    const owner = 12_345
    mkdirSync(data, { mode: 0o700 })
    for (const folder of [data, join(data, '..')]) chownSync(folder, owner, owner)
    await setUp(t, data, ...answers)
    await setUp(t, data)
    t.same(readdirSync(data).sort(), ['appliance.key', 'posthorn.db', 'posthorn.toml'])
    for (const name of readdirSync(data)) {
      const { uid, gid } = statSync(join(data, name))
      t.same([uid, gid, mode(join(data, name))], [owner, owner, '600'], name)
    }
  },
)
