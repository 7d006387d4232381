import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { databaseSettings } from '../support/postgres.js'
import { missing } from '../support/tools.js'
import { openPlace } from './place.js'
import { main, runCli } from './run.js'

interface Account {
  id: string
  name: string
  createdAt: string
}
interface Key {
  id: string
  key: string
  last4: string
}

// On a machine that may have other work.
t.setTimeout(300_000)

t.test('accounts are made, listed and shown', async (t) => {
  const { run, json, refused } = await openPlace(t)
  t.match(await run('account', 'list'), { status: 0, stdout: /^No account yet; 'posthorn acc/ })
  const made = await json<Account>('account', 'create', ' City library ')
  t.match(made, { name: 'City library', createdAt: /^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/ })
  t.same(await json('account', 'list'), [made])
  const { stdout } = await run('account', 'list')
  const [header = '', row = ''] = stdout.split('\n')
  t.match(header, /^ID {36}NAME {10}CREATED$/)
  t.equal(row.indexOf('City library'), header.indexOf('NAME'), 'columns are aligned')
  for (const name of ['City library', made.id, made.id.toUpperCase()]) {
    t.same(await json('account', 'show', name), { ...made, domains: [], keys: 0 })
  }
  t.match((await run('account', 'show', made.id)).stdout, /^Name +City library$/m)
  await refused(
    /error: No account "nobody"; 'posthorn account list' shows them/,
    'account',
    'show',
    'nobody',
  )
  await refused(
    /There is an account named "City library" already/,
    'account',
    'create',
    'City library',
  )
  for (const name of ['', '  ', 'a\nb', 'x'.repeat(101)]) {
    await refused(/name must have 1 to 100 characters and no control/, 'account', 'create', name)
  }
})

t.test('a logo is set from a file, shown and removed', async (t) => {
  const { run, json, refused, misused } = await openPlace(t)
  await json('account', 'create', 'City')
  const file = join(t.testdir({}), 'logo.png')
  writeFileSync(file, Buffer.from('89504e470d0a1a0a00', 'hex'))
  const logo = { contentType: 'image/png', sizeBytes: 9 }
  t.match(await json('account', 'logo', 'City', file), { name: 'City', logo })
  writeFileSync(file, '<svg/>')
  await refused(/A logo must be a PNG, JPEG or WebP picture/, 'account', 'logo', 'City', file)
  await misused(/give a file or --remove, not both/, 'account', 'logo', 'City', file, '--remove')
  t.match((await run('account', 'logo', 'City')).stdout, '"City" has a logo: image/png, 9 bytes')
  t.match(await json('account', 'logo', 'City', '--remove'), { logo: null })
})

t.test('the language of what recipients read is set and shown', async (t) => {
  const { run, json, refused } = await openPlace(t)
  await json('account', 'create', 'City')
  t.match(await json('account', 'language', 'City'), { name: 'City', language: 'en' })
  t.match(await json('account', 'language', 'City', 'fr'), { language: 'fr' })
  await refused(/expected en \(English\) or fr \(Français\)/, 'account', 'language', 'City', 'xx')
  t.match(
    (await run('account', 'language', 'City')).stdout,
    'Recipients of "City" read Français (fr)',
  )
})

t.test('a terminal is not moved by what others wrote', async (t) => {
  const { run, json, publish } = await openPlace(t)
  const { id } = await json<Account>('account', 'create', 'safe\u202egnp.exe')
  t.match((await run('account', 'list')).stdout, `${id}  safe\\u202egnp.exe  `)
  await json('domain', 'add', 'a.test')
  publish('_dmarc.a.test', { txt: ['v=DMARC1; p=none\u001b[2J\r\u0007gone'] })
  const { stdout } = await run('domain', 'verify', 'a.test')
  t.match(stdout, 'v=DMARC1; p=none\\u001b[2J\\u000d\\u0007gone')
  t.notMatch(stdout, /[^\P{Cc}\n]/u)
})

t.test('a key is shown once, listed by its end and deleted by its id', async (t) => {
  const { run, json, refused } = await openPlace(t)
  await refused(/There is no account yet; 'posthorn account create NAME'/, 'key', 'create', 'web')
  await json<Account>('account', 'create', 'City')
  const made = await json<Key>('key', 'create', 'web')
  t.match(made, { name: 'web', key: /^ph_[A-Za-z0-9_-]{43}$/ })
  t.equal(made.last4, made.key.slice(-4))

  const second = await run('key', 'create', 'shop')
  t.match(second, {
    status: 0,
    stdout: /^ph_[A-Za-z0-9_-]{43}\n$/,
    stderr: /cannot be shown again/,
  })
  const list = await run('key', 'list')
  t.notMatch(list.stdout, made.key)
  t.match(
    list.stdout,
    new RegExp(
      `^${made.id}  web   …${made.last4} +full +anywhere +any number +never +\\d{4}.* UTC  never$`,
      'm',
    ),
  )

  t.same(await json('key', 'delete', made.id.toUpperCase(), '--yes'), {
    id: made.id,
    deleted: true,
    message: 'Key deleted; requests with it fail from now on',
  })
  t.match(await json('key', 'list'), { keys: [{ name: 'shop', lastUsedAt: null }] })
  await refused(
    /The account has no key .*; 'posthorn key list' shows them/,
    'key',
    'delete',
    made.id,
  )
  await refused(/The account has no key nonsense/, 'key', 'delete', 'nonsense')
  await refused(/name: Expected a string of 1 to 100 characters/, 'key', 'create', 'a\tb')
})

t.test('with several accounts one has to be named', async (t) => {
  const { json, refused } = await openPlace(t)
  const [a, b] = [
    await json<Account>('account', 'create', 'One'),
    await json<Account>('account', 'create', 'Two'),
  ]
  const several = new RegExp(
    `There are several accounts; choose one by --account:\n  ${a.id}  One\n  ${b.id}  Two\n`,
  )
  for (const args of [
    ['key', 'create', 'web'],
    ['key', 'list'],
    ['domain', 'add', 'a.test'],
    ['domain', 'verify', 'a.test'],
  ]) {
    await refused(several, ...args)
  }
  const key = await json<Key>('key', 'create', 'web', '--account', 'Two')
  t.same(await json('key', 'list', '--account', a.id), { keys: [] })
  t.match(await json('key', 'list', '--account', b.id), { keys: [{ id: key.id }] })
  await refused(/has no key/, 'key', 'delete', key.id, '--account', 'One')
  await refused(/No account "Three"/, 'key', 'list', '--account', 'Three')
  await refused(/No account ""/, 'key', 'list', '--account', '')
})

t.test(
  'colours are for terminals, and NO_COLOR turns them off',
  { skip: missing('python3') },
  async (t) => {
    const { data, run } = await openPlace(t)
    await run('account', 'create', 'City')
    const python = 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) >> 8)'
    const program = ['python3', '-c', python, process.execPath, main]
    const args = ['account', 'list', '--data', data]
    const settings = databaseSettings(data)
    const onTerminal = await runCli(args, { program, env: { ...settings, TERM: 'xterm' } })
    t.match(onTerminal.stdout, /^\u001b\[1mID /)
    const plainly = { ...settings, TERM: 'xterm', NO_COLOR: '1' }
    const plain = await runCli(args, { program, env: plainly })
    t.match(plain.stdout, /^ID /)
    t.match((await run('account', 'list')).stdout, /^ID /)
  },
)
