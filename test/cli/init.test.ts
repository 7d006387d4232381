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
import t from 'tap'
import { serve } from '../support/process.js'
import { makeTempDir } from '../support/store.js'
import { jsonOf, runCli } from './run.js'

interface Sandbox {
  accountId: string
  apiKey: string
  domain: string
  privateUrl: string
  publicUrl: string
  setupUrl: string
}

const mode = (file: string) => (statSync(file).mode & 0o777).toString(8)

// On a machine that may have other work.
t.setTimeout(300_000)

t.test('init makes a data directory that is its owner’s alone', async (t) => {
  const data = join(makeTempDir(t), 'deep', 'data')
  const { status, stdout, stderr } = await runCli(['init', '--data', data])
  t.match({ status, stderr }, { status: 0, stderr: '' })
  t.equal(mode(data), '700')
  t.same(readdirSync(data).sort(), ['appliance.key', 'posthorn.db', 'posthorn.toml'])
  for (const name of readdirSync(data)) t.equal(mode(join(data, name)), '600', name)
  t.equal(
    readFileSync(join(data, 'posthorn.toml'), 'utf8'),
    readFileSync('config/posthorn.example.toml', 'utf8'),
  )
  t.match(stdout, 'Next:\n  posthorn account create NAME')
})

t.test('a second init overwrites nothing and says so', async (t) => {
  const data = join(makeTempDir(t), 'data')
  await jsonOf(t, ['init', '--data', data])
  writeFileSync(join(data, 'posthorn.toml'), '# mine\n')
  await jsonOf(t, ['account', 'create', 'City', '--data', data])
  const key = readFileSync(join(data, 'appliance.key'), 'utf8')

  const { status, stdout } = await runCli(['init', '--data', data])
  t.equal(status, 0)
  t.match(stdout, `Data directory ${data}: exists and is kept`)
  t.match(stdout, `Settings ${data}/posthorn.toml: exist and are kept`)
  t.match(stdout, `Appliance key ${data}/appliance.key: exists and is kept`)
  t.equal(readFileSync(join(data, 'posthorn.toml'), 'utf8'), '# mine\n')
  t.equal(readFileSync(join(data, 'appliance.key'), 'utf8'), key)
  t.match(await jsonOf(t, ['account', 'list', '--data', data]), [{ name: 'City' }])
})

t.test('init --sandbox --json prints what a script needs, and nothing else', async (t) => {
  const data = join(makeTempDir(t), 'data')
  const ports = [
    '--private-port',
    '18080',
    '--public-port',
    '18081',
    '--smtp-port',
    '12525',
    '--inbound-port',
    '12526',
  ]
  const sandbox = await jsonOf<Sandbox>(t, ['init', '--sandbox', ...ports, '--data', data])
  t.same(sandbox, {
    accountId: sandbox.accountId,
    apiKey: sandbox.apiKey,
    domain: 'example.test',
    privateUrl: 'http://127.0.0.1:18080',
    publicUrl: 'http://127.0.0.1:18081',
    setupUrl: sandbox.setupUrl,
  })
  t.match(sandbox.setupUrl, /^http:\/\/127\.0\.0\.1:18080\/setup\/[\w-]{43}$/)
  t.match(sandbox.accountId, /^[0-9a-f-]{36}$/)
  t.match(sandbox.apiKey, /^ph_[A-Za-z0-9_-]{43}$/)
  t.match(await jsonOf(t, ['config', 'check', '--data', data]), {
    settings: {
      http: { private: { port: 18080 }, public: { host: '127.0.0.1', port: 18081 } },
      outbound: { route: 'sandbox', heloName: 'localhost', sourceAddresses: ['127.0.0.1'] },
      inbound: { host: '127.0.0.1', port: 12526 },
      sandbox: { smtpPort: 12525 },
    },
  })
  t.match(await jsonOf(t, ['domain', 'list', '--data', data]), {
    domains: [{ name: 'example.test', status: 'verified', trusted: true, returnPath: true }],
  })
  t.match(await jsonOf(t, ['account', 'billing', 'Sandbox', '--data', data]), {
    plan: { name: 'Unlimited' },
    marketingPlan: { name: 'Marketing Pro' },
  })
})

t.test('a second init --sandbox keeps account, domain and ports, and renews the key', async (t) => {
  const data = join(makeTempDir(t), 'data')
  const first = await jsonOf<Sandbox>(t, ['init', '--sandbox', '--data', data])
  const own = await jsonOf<{ last4: string }>(t, ['key', 'create', 'mine', '--data', data])
  const before = await jsonOf(t, ['domain', 'list', '--data', data])
  const args = ['init', '--sandbox', '--private-port', '9999', '--data', data]
  const second = await jsonOf<Sandbox>(t, args)
  const rest = { apiKey: '', setupUrl: '' }
  t.same({ ...second, ...rest }, { ...first, ...rest })
  t.not(second.setupUrl, first.setupUrl, 'the link of before does not work any more')
  t.not(second.apiKey, first.apiKey)
  t.same(await jsonOf(t, ['domain', 'list', '--data', data]), before)
  const { keys } = await jsonOf<{ keys: { name: string; last4: string }[] }>(t, [
    'key',
    'list',
    '--data',
    data,
  ])
  t.same(
    keys.map(({ name, last4 }) => [name, last4]),
    [
      ['mine', own.last4],
      ['sandbox', second.apiKey.slice(-4)],
    ],
  )
  const { stdout } = await runCli(['init', '--sandbox', '--data', data])
  t.match(stdout, 'Account "Sandbox": exists and is kept')
  t.match(stdout, 'Domain example.test: exists and is kept')
  t.match(stdout, 'API key "sandbox": new, the previous one is deleted')
})

t.test('a sandbox is not made where mail really leaves', async (t) => {
  const data = join(makeTempDir(t), 'data')
  await jsonOf(t, ['init', '--data', data])
  const { status, stdout, stderr } = await runCli(['init', '--sandbox', '--data', data])
  t.match({ status, stdout }, { status: 1, stdout: '' })
  t.match(stderr, `outbound.route is "direct" in ${data}/posthorn.toml`)
  t.same(await jsonOf(t, ['account', 'list', '--data', data]), [])
})

t.test('wrong settings leave nothing behind', async (t) => {
  const folder = makeTempDir(t)
  const [data, file] = [join(folder, 'data'), join(folder, 'bad.toml')]
  writeFileSync(file, 'log = 1\n')
  for (const config of [file, join(folder, 'absent.toml')]) {
    for (const sandbox of [[], ['--sandbox']]) {
      const args = ['init', ...sandbox, '--config', config, '--data', data]
      t.match(await runCli(args), { status: 1, stdout: '', stderr: /configuration/i })
      t.notOk(existsSync(data))
    }
  }
})

t.test('what cannot be made or read is said with a way out', async (t) => {
  const folder = makeTempDir(t)
  writeFileSync(join(folder, 'file'), '')
  const blocked = await runCli(['init', '--data', join(folder, 'file', 'data')])
  t.match(blocked, { status: 1, stderr: /error: ENOTDIR/ })
  t.notMatch(blocked.stderr, '    at ', 'no stack')

  const data = join(folder, 'data')
  await jsonOf(t, ['init', '--sandbox', '--data', data])
  writeFileSync(join(data, 'appliance.key'), 'c2hvcnQ=\n')
  const damaged = await runCli(['domain', 'add', 'a.test', '--data', data])
  t.match(damaged, { status: 78, stderr: /appliance\.key is damaged: expected 32 bytes in base64/ })
  writeFileSync(
    join(data, 'posthorn.db'),
    'this is no database, whatever its name says\n'.repeat(99),
  )
  const broken = await runCli(['account', 'list', '--data', data])
  t.match(broken, {
    status: 65,
    stderr: /file is not a database\. Restore the database from a backup/,
  })
})

const notRoot = process.getuid?.() !== 0 && 'only root can act for another user'
t.test(
  'what root makes for the service’s user belongs to that user',
  { skip: notRoot },
  async (t) => {
    const data = join(makeTempDir(t), 'data')
    const owner = 65_534
    mkdirSync(data, { mode: 0o700 })
    chownSync(join(data, '..'), owner, owner)
    chownSync(data, owner, owner)
    // A process that has become another user cannot become root again.
    const alone = { alone: true }
    await jsonOf(t, ['init', '--sandbox', '--data', data], alone)
    await jsonOf(t, ['account', 'create', 'City', '--data', data], alone)
    t.same(readdirSync(data).sort(), ['appliance.key', 'posthorn.db', 'posthorn.toml'])
    for (const name of readdirSync(data)) {
      const { uid, gid } = statSync(join(data, name))
      t.same({ uid, gid }, { uid: owner, gid: owner }, name)
    }
    // For good: a command that the user's own settings name is not run as root.
    const asRoot = join(t.testdir(), 'as-whom')
    chownSync(t.testdirName, owner, owner)
    const command = ['/bin/sh', '-c', `id -ru > ${asRoot}`]
    const own = join(data, 'posthorn.toml')
    writeFileSync(
      own,
      `${readFileSync(own, 'utf8')}\n[operator]\ncommand = ${JSON.stringify(command)}\n`,
    )
    await runCli(['notice', 'test', '--data', data], alone)
    t.equal(readFileSync(asRoot, 'utf8'), `${owner}\n`)
    const served = await serve(t, data, {})
    const status = readFileSync(`/proc/${served.process.pid}/status`, 'utf8')
    t.match(status, `Uid:\t${owner}\t${owner}\t${owner}\t${owner}\n`)
    await served.kill('SIGTERM')
    // Root's check sees what this user will.
    const secret = join(data, 'secret')
    writeFileSync(secret, 'six words of a good passphrase', { mode: 0o600 })
    writeFileSync(own, `${readFileSync(own, 'utf8')}\n[backup]\npassphrase_file = "${secret}"\n`)
    for (const file of [own, secret]) chownSync(file, 0, 0)
    const warned = await runCli(['config', 'check', '--data', data], alone)
    t.match(warned, { status: 0, stdout: 'but for 2 warnings' })
    t.match(warned.stderr, /posthorn\.toml cannot be read by \S+, to whom .*'chmod 0644 /)
    t.match(warned.stderr, /Cannot read the passphrase of backups: EACCES/)
    writeFileSync(join(data, 'shaping.toml'), '', { mode: 0o600 })
    const refused = await runCli(['config', 'check', '--data', data], alone)
    t.match(refused, { status: 1, stderr: /shaping\.toml: EACCES.* It works as \S+, to whom/ })
    // Its user cannot get there: said as such, not taken for a directory that is not ours.
    chownSync(join(data, '..'), 0, 0)
    const hidden = await runCli(['account', 'list', '--data', data], alone)
    t.match(hidden, {
      status: 1,
      stdout: '',
      stderr: /EACCES.*\. It works as \S+, to whom \S+ belongs: use a/,
    })
  },
)
