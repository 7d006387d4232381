import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { commandGroups } from '../../src/cli/index.js'
import { runtimeInUse } from '../../src/config/index.js'
import { plainly } from '../support/plain-program.js'
import { makeTempDir } from '../support/store.js'
import { openPlace } from './place.js'
import { jsonOf, runCli } from './run.js'

t.setTimeout(300_000)

// The other tests share one process among their commands.
t.test('commands work as processes of their own', async (t) => {
  const cwd = makeTempDir(t)
  const answer = (...args: string[]) => jsonOf<object>(t, args, { cwd, alone: true })
  t.match(await answer('init', '--sandbox'), { domain: 'example.test' })
  for (const args of [
    ['config', 'check'],
    ['account', 'list'],
    ['key', 'list'],
    ['domain', 'list'],
    ['template', 'list'],
    ['plan', 'list'],
    ['topic', 'list'],
    ['suppression', 'list'],
    ['webhook', 'list'],
    ['queue', 'list'],
    ['postmaster', 'list'],
    ['bounce', 'explain', '550 5.1.1 No'],
    ['failover', 'status'],
    ['version'],
  ]) {
    t.type(await answer(...args), 'object')
  }
})

t.test('a wrong command line is answered on stderr with status 2', async (t) => {
  const data = join(makeTempDir(t), 'data')
  const table: [args: string[], expected: RegExp][] = [
    [[], /Usage: posthorn/],
    [['acount', 'list'], /unknown command 'acount'\n\(Did you mean account\?\)/],
    [['domain', 'verfy', 'a.test'], /unknown command 'verfy'\n\(Did you mean verify\?\)/],
    [['notice', 'lst'], /unknown command 'lst'\n\(Did you mean list\?\)\n'posthorn notice --help'/],
    [['help', 'queue', 'rety'], /Did you mean retry\?\)\n'posthorn queue --help' shows how/],
    [['queue', 'help', 'rety'], /Did you mean retry\?/],
    [['helpp'], /Did you mean help\?/],
    [['account'], /Usage: posthorn account/],
    [
      ['account', 'create'],
      /missing required argument 'name'\n'posthorn account create --help' shows how it is used/,
    ],
    [['account', 'create', 'City', 'library'], /too many arguments/],
    [['account', 'list', '--jsn'], /unknown option '--jsn'\n\(Did you mean --json\?\)/],
    [['account', 'list', '--data'], /option '--data <dir>' argument missing/],
    [['serve', 'now'], /too many arguments/],
    [['init', '--smtp-port', '70000', '--sandbox'], /'70000' is invalid. It must be .* 65535/],
    [['init', '--public-port', 'x', '--sandbox'], /'x' is invalid/],
    [['init', '--private-port', '8080'], /ports can be given only with --sandbox/],
  ]
  for (const [i, [args, expected]] of table.entries()) {
    const options = { alone: i < 2, env: { POSTHORN_DATA: data } }
    const { status, stdout, stderr } = await runCli(args, options)
    t.match({ status, stdout, stderr }, { status: 2, stdout: '', stderr: expected }, args.join(' '))
  }
  t.notOk(existsSync(data), 'nothing was made')
})

t.test('posthorn alone lists the commands by task, on one screen', async (t) => {
  const { status, stdout, stderr } = await runCli([])
  t.match({ status, stdout }, { status: 2, stdout: '' })
  const names = Object.values(commandGroups).flatMap(Object.keys)
  for (const name of names) t.match(stderr, new RegExp(`^ .* ${name}( |$)`, 'm'))
  t.ok(stderr.split('\n').length <= 24)
})

t.test('help is the same however it is asked for, and never runs what it is about', async (t) => {
  const env = { POSTHORN_DATA: join(makeTempDir(t), 'data') }
  const asked = (...args: string[]) => runCli(args, { env })
  const expected = await asked('queue', 'retry', '--help')
  t.match(expected, { status: 0, stdout: /^Usage: posthorn queue retry/, stderr: '' })
  for (const args of [
    ['help', 'queue', 'retry'],
    ['queue', 'help', 'retry'],
    ['queue', 'retry', '-h'],
    ['--json', 'help', 'queue', 'retry'],
  ]) {
    t.same(await asked(...args), expected, args.join(' '))
  }
  t.same(await asked('help'), await asked('--help'))
  t.match(await asked('help', 'backup', 'anything'), {
    status: 0,
    stdout: /^Usage: posthorn backup/,
  })
  t.notOk(existsSync(env.POSTHORN_DATA))
})

t.test('the help that the build keeps in a file is what the commands say now', async (t) => {
  t.ok(existsSync('dist/packed/cli/help.txt'))
  const [kept, now] = await Promise.all([
    runCli(['--help'], { alone: true }),
    runCli(['--help', '--quiet'], { alone: true }),
  ])
  t.equal(kept.status, 0)
  t.equal(kept.stdout, now.stdout)
})

t.test('under --json an error is a line of JSON on stderr, with the same status', async (t) => {
  const { run, json, data } = await openPlace(t)
  await json('account', 'create', 'City')
  writeFileSync(join(data, 'bad.toml'), '[http]\nhsot = 1\n')
  const table: [args: string[], status: number, error: object][] = [
    [[], 2, { code: 'usage', advice: "'posthorn --help' shows how it is used" }],
    [['queue'], 2, { code: 'usage', message: 'a sub-command is missing' }],
    [['key', 'lst'], 2, { code: 'usage', message: "unknown command 'lst' (Did you mean list?)" }],
    [
      ['queue', 'hold', '--older-than', 'x'],
      2,
      { code: 'usage', advice: "'posthorn queue hold --help' shows how it is used" },
    ],
    [['notice', 'show', '17'], 1, { code: 'refused', message: /There is no notice 17/ }],
    [
      ['template', 'show', 'nope'],
      1,
      { code: 'not_found', advice: "'posthorn template list' shows them" },
    ],
    [['account', 'logo', 'City', join(data, 'none.png')], 1, { code: 'ENOENT' }],
    [['config', 'check', '--config', join(data, 'bad.toml')], 1, { code: 'refused' }],
    [['account', 'list', '--data', join(data, 'other')], 1, { code: 'refused' }],
  ]
  for (const [args, status, error] of table) {
    const result = await run(...args, '--json')
    t.match(result, { status, stdout: '' }, args.join(' '))
    const lines = result.stderr.trimEnd().split('\n')
    t.equal(lines.length, 1, result.stderr)
    const said = JSON.parse(lines[0] ?? '')
    t.match(said, { error }, args.join(' '))
    t.same(Object.keys(said.error), ['code', 'message', 'advice'])
    const plainly = await run(...args)
    t.match(plainly, { status, stdout: '' }, 'the same status')
  }
})

t.test('remarks are JSON too, and --quiet leaves warnings and errors alone', async (t) => {
  const { run, json } = await openPlace(t)
  await json('account', 'create', 'City')
  const { id } = await json<{ id: string }>('key', 'create', 'only')
  t.match(await run('key', 'create', 'a'), { stdout: /^ph_/, stderr: /^Keep it now/ })
  t.match(await run('key', 'create', 'b', '-q'), { status: 0, stdout: /^ph_/, stderr: '' })
  for (const key of (await json<{ keys: { id: string; name: string }[] }>('key', 'list')).keys) {
    if (key.name !== 'only') await run('key', 'delete', key.id, '--yes')
  }
  // An id is the same in capitals: the key itself is not another one that is left.
  const last = await run('key', 'delete', id.toUpperCase(), '--quiet', '--json', '--yes')
  t.equal(last.status, 0)
  t.match(JSON.parse(last.stderr), { warning: /^it was the last key with all rights/ })
})

t.test('colours come only where they are wanted', async (t) => {
  const wrong = async (args: string[], env: Record<string, string>) => {
    const { stderr } = await runCli(['account', 'list', '--data', '/nowhere/at/all', ...args], {
      env,
      alone: true,
    })
    return stderr.includes('\u001b[')
  }
  t.equal(await wrong([], {}), false, 'no terminal')
  t.equal(await wrong([], { FORCE_COLOR: '1' }), true)
  t.equal(await wrong(['--no-color'], { FORCE_COLOR: '1' }), false)
  t.equal(await wrong([], { NO_COLOR: '1' }), false)
})

t.test(
  'the data directory is named before or after the sub-command, or by who starts it',
  async (t) => {
    const cwd = makeTempDir(t)
    const made = async (args: string[], env: Record<string, string> = {}) => {
      const { dataDir } = await jsonOf<{ dataDir: string }>(t, args, { cwd, env })
      t.ok(existsSync(join(dataDir, 'posthorn.db')))
      return dataDir
    }
    const [a, b] = ['a', 'b'].map((name) => join(cwd, name))
    t.equal(await made(['--data', 'a', 'init'], { POSTHORN_DATA: 'b' }), a)
    t.equal(await made(['init', '--data=b'], { POSTHORN_DATA: 'a' }), b)
    t.equal(await made(['init'], { POSTHORN_DATA: 'b', STATE_DIRECTORY: 'c' }), b)
    // systemd.exec(5): several, separated by colons.
    t.equal(await made(['init'], { STATE_DIRECTORY: `${cwd}/c:${cwd}/d` }), join(cwd, 'c'))
    t.equal(await made(['init'], { POSTHORN_DATA: '' }), join(cwd, 'data'))
  },
)

t.test('settings come from --config, else POSTHORN_CONFIG, else the data directory', async (t) => {
  const cwd = makeTempDir(t)
  mkdirSync(join(cwd, 'data'))
  const files = ['a.toml', 'b.toml', 'data/posthorn.toml']
  for (const [index, file] of files.entries()) {
    writeFileSync(join(cwd, file), `[http.private]\nport = ${index + 1}\n`)
  }
  const check = (args: string[], env: Record<string, string> = {}) =>
    jsonOf<{ file: string; settings: { http: { private: { port: number } } } }>(
      t,
      ['config', 'check', ...args],
      { cwd, env },
    )
  const seen = await Promise.all([
    check(['--config', 'a.toml'], { POSTHORN_CONFIG: 'b.toml' }),
    check([], { POSTHORN_CONFIG: 'b.toml' }),
    check([]),
  ])
  t.same(
    seen.map(({ file, settings }) => [file, settings.http.private.port]),
    files.map((file, index) => [join(cwd, file), index + 1]),
  )
  const overridden = await check([], { POSTHORN_HTTP_PRIVATE_PORT: '99' })
  t.equal(overridden.settings.http.private.port, 99, 'the environment wins')
})

t.test('config check says what is wrong, what was expected, and what has no effect', async (t) => {
  const cwd = makeTempDir(t)
  const file = join(cwd, 'bad.toml')
  writeFileSync(file, '[http.private]\nport = 99999\nhsot = "::1"\n')
  const bad = await runCli(['config', 'check', '--config', file])
  t.match(bad, { status: 1, stdout: '' })
  t.match(bad.stderr, `error: Bad configuration (${file}):`)
  t.match(bad.stderr, 'http.private.port: 99999 given, expected a whole number from 0 to 65535')
  t.match(bad.stderr, 'http.private.hsot: no such setting; is http.private.host meant?')

  const absent = await runCli(['config', 'check', '--config', join(cwd, 'absent.toml')])
  t.match(absent, {
    status: 1,
    stdout: '',
    stderr: /There is no configuration file .*absent\.toml, which --config names/,
  })

  const env = { POSTHORN_OUTBOND_ROUTE: 'sandbox', POSTHORN_DATA: cwd }
  const good = await runCli(['config', 'check'], { env, cwd })
  t.match(good, { status: 0, stderr: /POSTHORN_OUTBOND_ROUTE in the environment is not a setting/ })
  t.match(good.stderr, 'outbound.helo_name is "localhost"')
  const doubtful = {
    POSTHORN_DATA: cwd,
    POSTHORN_OUTBOUND_HELO_NAME: 'mailhost',
    POSTHORN_OUTBOUND_SOURCE_ADDRESSES: '198.51.100.77,127.0.0.3',
    POSTHORN_BACKUP_HOOK: '/nowhere/rclone copy far',
    POSTHORN_TLS_ACME: 'true',
    POSTHORN_TLS_AGREE_TO_TERMS: 'true',
    POSTHORN_TLS_DNS_HOOK: '/nowhere/hook',
    POSTHORN_TLS_EAB_KEY_ID: 'kid-1',
    POSTHORN_TLS_EAB_KEY_FILE: '/nowhere/eab',
  }
  const told = (await runCli(['config', 'check'], { env: doubtful, cwd })).stderr
  t.match(told, 'outbound.helo_name is "mailhost"')
  t.match(told, 'has 198.51.100.77, which this machine has not')
  t.notMatch(told, '127.0.0.3')
  t.match(told, 'backup.hook: there is no program /nowhere/rclone copy far')
  t.match(told, 'tls.dns_hook: there is no program /nowhere/hook')
  t.match(told, /key of tls.eab_key_id.*\/nowhere\/eab/)
  const { POSTHORN_TLS_DNS_HOOK: _, ...others } = doubtful
  const updates = {
    POSTHORN_TLS_DNS_SERVER: 'ns1.test',
    POSTHORN_TLS_DNS_KEY_FILE: '/nowhere/tsig',
  }
  const more = await runCli(['config', 'check'], { env: { ...others, ...updates }, cwd })
  t.match(more.stderr, /key of tls.dns_server.*\/nowhere\/tsig/)
})

t.test(
  'config check knows the variables that are no settings, and the relays of the operator',
  async (t) => {
    const cwd = makeTempDir(t)
    const file = join(cwd, 'relay.toml')
    const relay = '[[operator.relays]]\nhost = "smtp.example.net"\nuser = "posthorn"'
    writeFileSync(file, `${relay}\npassword_env = "POSTHORN_RELAY_PASSWORD"\n`)
    const args = ['config', 'check', '--config', file]
    const known = {
      POSTHORN_RELAY_PASSWORD: 'secret',
      POSTHORN_BACKUP_PASSPHRASE: 'some words',
      POSTHORN_URL: 'http://[::1]:8080',
      POSTHORN_API_KEY: 'ph_key',
    }
    const good = await runCli(args, { env: known, cwd })
    t.match(good, { status: 0 })
    t.notMatch(good.stderr, /is not a setting/)

    const provider = join(cwd, 'provider.toml')
    writeFileSync(
      provider,
      '[dashboard.oidc]\nissuer = "https://id.test"\nclient_id = "x"\nclient_secret_file = "/tmp/none"\n',
    )
    const secretless = await runCli(['config', 'check', '--config', provider], { cwd })
    t.match(secretless, {
      status: 1,
      stderr: /dashboard\.oidc \(client_secret_file\).*\/tmp\/none/,
    })

    const bad = await runCli(args, { cwd })
    t.match(bad, { status: 1, stderr: /POSTHORN_RELAY_PASSWORD is not in the environment/ })
  },
)

t.test('a directory that is none of ours is not written to', async (t) => {
  const data = join(makeTempDir(t), 'data')
  for (const args of [
    ['serve'],
    ['account', 'list'],
    ['account', 'create', 'City'],
    ['key', 'list'],
  ]) {
    // `serve` writes it into its log, not by what the process that commands share listens to.
    const alone = args[0] === 'serve'
    const { status, stdout, stderr } = await runCli([...args, '--data', data], { alone })
    t.match({ status, stdout }, { status: 1, stdout: '' })
    t.match(stderr, `${data} is not a data directory of Posthorn yet. 'posthorn init' makes one`)
    t.notOk(existsSync(data))
  }
})

t.test(
  'settings or a data directory that are named must be there, for every command',
  async (t) => {
    const { run, data } = await openPlace(t)
    const nowhere = join(data, 'nowhere')
    const config = new RegExp(
      `^error: There is no configuration file ${nowhere}, which (--config|POSTHORN_CONFIG) names`,
    )
    for (const args of [
      ['version'],
      ['notice', 'kinds'],
      ['plan', 'list'],
      ['bounce', 'explain', '550 5.1.1 No'],
      ['init'],
      ['account', 'list'],
      ['completions', 'bash'],
    ]) {
      t.match(await run(...args, '--config', nowhere), { status: 1, stdout: '', stderr: config })
      const env = { POSTHORN_CONFIG: nowhere, POSTHORN_DATA: data }
      t.match(
        await runCli(args, { env }),
        { status: 1, stdout: '', stderr: config },
        args.join(' '),
      )
    }
    for (const args of [
      ['notice', 'kinds'],
      ['config', 'check'],
      ['bounce', 'explain', '550 x'],
    ]) {
      const { stderr, status } = await run(...args, '--data', nowhere)
      t.match(
        { stderr, status },
        { status: 1, stderr: /nowhere is not a data directory of Posthorn yet/ },
      )
    }
    t.equal((await run('version', '--data', nowhere)).status, 0, 'it needs none')
  },
)

t.test('config show tells where each setting comes from', async (t) => {
  const cwd = makeTempDir(t)
  const file = join(cwd, 'a.toml')
  const hook = '[\n  "rclone",\n  "https://me:word@x.test", "--token=abc"\n]'
  writeFileSync(
    file,
    `# mine\n[http.private]\nport = 17\n\n[backup]\nhook = ${hook}\nkeep_daily = 3\n`,
  )
  const options = { cwd, env: { POSTHORN_LOG_LEVEL: 'warn' } }
  const show = (...args: string[]) =>
    jsonOf<Record<string, unknown>[]>(t, ['config', 'show', '--config', file, ...args], options)
  t.same(await show('--changed'), [
    {
      name: 'log.level',
      value: 'warn',
      source: 'environment',
      file: null,
      line: null,
      variable: 'POSTHORN_LOG_LEVEL',
    },
    { name: 'http.private.port', value: 17, source: 'file', file, line: 3, variable: null },
    { name: 'backup.keep_daily', value: 3, source: 'file', file, line: 10, variable: null },
    {
      name: 'backup.hook',
      value: ['rclone', 'https://…@x.test', '--token=…'],
      source: 'file',
      file,
      line: 6,
      variable: null,
    },
  ])
  t.match(await show('http.private'), [
    { name: 'http.private.host', value: '127.0.0.1', source: 'default', line: null },
    { name: 'http.private.port' },
  ])
  const all = await show()
  t.ok(all.length > 100)
  const text = await runCli(['config', 'show', 'http.private.port', '--config', file], options)
  t.match(
    text.stdout,
    /^SETTING +VALUE +FROM\nhttp\.private\.port +17 +line 3\n\nThe lines are those of /,
  )
  t.match(await runCli(['config', 'show', 'htp', '--config', file], options), {
    status: 1,
    stdout: '',
    stderr: /^error: There is no setting or section htp; the sections are log, http, /,
  })
})

t.test('the package says its version', async (t) => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
  const { name, supportEnds } = runtimeInUse()
  const { stdout } = await runCli(['version'])
  t.match(stdout, `posthorn ${version} (Node ${process.versions.node}, ${name})\nNode g`)
  t.match(stdout, `fixes until ${supportEnds}`)
  t.equal((await runCli(['--version'])).stdout, `${version}\n`)
  t.match(await jsonOf(t, ['version']), {
    version,
    node: process.versions.node,
    runtime: { name, supportEnds, supported: name !== 'node20' },
  })
})

t.test('bin/posthorn says what it lacks', async (t) => {
  const folder = makeTempDir(t)
  mkdirSync(join(folder, 'bin'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  const copy = join(folder, 'bin', 'posthorn')
  copyFileSync('bin/posthorn', copy)
  cpSync('.runtimes', join(folder, '.runtimes'), { recursive: true })
  t.match(await runCli([], { program: [...plainly, copy] }), {
    status: 1,
    stdout: '',
    stderr:
      "posthorn: it is not built yet; run 'bin/runtime install && npm run build' in its directory\n",
  })
  const old = `Object.defineProperty(process, 'versions', { value: { node: '18.20.1' } })`
  const preload = `data:text/javascript,${encodeURIComponent(old)}`
  t.match(
    await runCli([], { program: [...plainly, process.execPath, '--import', preload, copy] }),
    {
      status: 1,
      stdout: '',
      stderr:
        'posthorn: Node 18.20.1 is in use; it needs 24.21 or a later 24.x, or 20.20 or a later 20.x\n',
    },
  )
  // It hands its arguments to the compiled command.
  mkdirSync(join(folder, 'dist', 'src', 'cli'), { recursive: true })
  writeFileSync(
    join(folder, 'dist', 'src', 'cli', 'main.js'),
    'console.log(process.argv.slice(2).join())',
  )
  t.match(await runCli(['key', 'list'], { program: [...plainly, copy] }), {
    status: 0,
    stdout: 'key,list\n',
  })
})
