import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { plainly } from '../support/plain-program.js'
import { makeTempDir } from '../support/store.js'
import { jsonOf, runCli } from './run.js'

t.setTimeout(300_000)

// The other tests share one process among their commands.
t.test('commands work as processes of their own', async (t) => {
  const cwd = makeTempDir(t)
  const answer = (...args: string[]) => jsonOf<object>(t, args, { cwd, alone: true })
  t.match(await answer('init', '--sandbox'), { domain: 'example.test' })
  for (const args of [
    ...[
      ['config', 'check'],
      ['account', 'list'],
      ['key', 'list'],
      ['domain', 'list'],
    ],
    ...[
      ['template', 'list'],
      ['plan', 'list'],
      ['topic', 'list'],
      ['suppression', 'list'],
    ],
    ...[
      ['webhook', 'list'],
      ['queue', 'list'],
      ['postmaster', 'list'],
    ],
    ...[['bounce', 'explain', '550 5.1.1 No'], ['failover', 'status'], ['version']],
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
    [['account'], /Usage: posthorn account/],
    [['account', 'create'], /missing required argument 'name'/],
    [['account', 'create', 'City', 'library'], /too many arguments/],
    [['account', 'list', '--jsn'], /unknown option '--jsn'\n\(Did you mean --json\?\)/],
    [['account', 'list', '--data'], /option '--data <dir>' argument missing/],
    [['serve', 'now'], /too many arguments/],
    [['init', '--smtp-port', '70000', '--sandbox'], /'70000' is invalid. A port is .* 65535/],
    [['init', '--public-port', 'x', '--sandbox'], /'x' is invalid/],
    [['init', '--private-port', '8080'], /the ports are for --sandbox/],
  ]
  for (const [i, [args, expected]] of table.entries()) {
    const options = { alone: i < 2, env: { POSTHORN_DATA: data } }
    const { status, stdout, stderr } = await runCli(args, options)
    t.match({ status, stdout, stderr }, { status: 2, stdout: '', stderr: expected }, args.join(' '))
  }
  t.notOk(existsSync(data), 'nothing was made')
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
  t.match(bad.stderr, 'http.private.hsot: no such setting; known here: host, port')

  const absent = await runCli(['config', 'check', '--config', join(cwd, 'absent.toml')])
  t.match(absent, { status: 1, stdout: '', stderr: /Cannot read the configuration .*absent\.toml/ })

  const env = { POSTHORN_OUTBOND_ROUTE: 'sandbox', POSTHORN_DATA: cwd }
  const good = await runCli(['config', 'check'], { env, cwd })
  t.match(good, { status: 0, stderr: /POSTHORN_OUTBOND_ROUTE in the environment is no setting/ })
  t.match(good.stderr, 'outbound.helo_name is "localhost"')
})

t.test('a directory that is none of ours is not written to', async (t) => {
  const data = join(makeTempDir(t), 'data')
  for (const args of [
    ['serve'],
    ['account', 'list'],
    ['account', 'create', 'City'],
    ['key', 'list'],
  ]) {
    const { status, stdout, stderr } = await runCli([...args, '--data', data])
    t.match({ status, stdout }, { status: 1, stdout: '' })
    t.match(
      stderr,
      `error: ${data} is no data directory of Posthorn yet. 'posthorn init' makes one`,
    )
    t.notOk(existsSync(data))
  }
})

t.test('the package says its version', async (t) => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
  t.equal(
    (await runCli(['version'])).stdout,
    `posthorn ${version} (Node ${process.versions.node})\n`,
  )
  t.equal((await runCli(['--version'])).stdout, `${version}\n`)
  t.same(await jsonOf(t, ['version']), { version, node: process.versions.node })
})

t.test('bin/posthorn says what it lacks', async (t) => {
  const folder = makeTempDir(t)
  mkdirSync(join(folder, 'bin'))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  const copy = join(folder, 'bin', 'posthorn')
  copyFileSync('bin/posthorn', copy)
  t.match(await runCli([], { program: [...plainly, copy] }), {
    ...{ status: 1, stdout: '' },
    stderr: "posthorn: it is not built yet; run 'npm install && npm run build' in its directory\n",
  })
  const old = `Object.defineProperty(process, 'versions', { value: { node: '18.20.1' } })`
  const preload = `data:text/javascript,${encodeURIComponent(old)}`
  t.match(
    await runCli([], { program: [...plainly, process.execPath, '--import', preload, copy] }),
    {
      ...{ status: 1, stdout: '' },
      stderr: 'posthorn: Node 18.20.1 is in use; it needs 20.20 or a later 20.x\n',
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
