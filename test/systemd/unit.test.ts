import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { absent, missing } from '../support/tools.js'

const run = promisify(execFile)
const needsSystemd = missing('systemd-analyze')
const unit = readFileSync('systemd/posthorn.service', 'utf8')
const execStart = '/usr/lib/posthorn/current/bin/posthorn serve'

/** The unit with a program that exists here, as `verify` looks for it. */
function installed(t: Test): string {
  const path = join(t.testdir(), 'posthorn.service')
  writeFileSync(path, unit.replace(execStart, '/bin/true serve'))
  return path
}

t.test('systemd finds nothing to complain about', { skip: needsSystemd }, async (t) => {
  t.ok(unit.includes(`\nExecStart=${execStart} `))
  const { stdout, stderr } = await run('systemd-analyze', ['verify', installed(t)])
  t.equal(stdout + stderr, '')
})

t.test('the exposure is at most 2.0 of 10', { skip: needsSystemd }, async (t) => {
  // The threshold is in tenths; above it the command fails, which rejects.
  const { stdout } = await run('systemd-analyze', [
    'security',
    '--offline=true',
    '--threshold=20',
    '--no-pager',
    installed(t),
  ])
  t.match(stdout, /Overall exposure level for posthorn\.service: (1\.\d|2\.0)/)
})

t.test('what Node, the notifier and the database need is not taken away', async (t) => {
  for (const [setting, value, why] of [
    ['MemoryDenyWriteExecute', 'no', 'V8 compiles at run time'],
    ['NotifyAccess', 'all', 'a child process speaks to systemd'],
    ['KillMode', 'mixed', 'SIGTERM must not take the messenger before us'],
    ['AmbientCapabilities', 'CAP_NET_BIND_SERVICE', 'port 25 without root'],
    ['Restart', 'on-failure', 'a sync that failed ends the process (74)'],
    ['RestartPreventExitStatus', '65 78', 'no start mends a damaged or foreign database'],
    ['StateDirectory', 'posthorn', '/var/lib/posthorn is writable'],
  ]) {
    t.ok(unit.includes(`\n${setting}=${value}\n`), `${setting}=${value}: ${why}`)
  }
})

// A proxy is the operator's choice and no part of Posthorn: its absence is no failure in CI.
t.test('nginx takes the example', { skip: absent('nginx', 'openssl') }, async (t) => {
  const folder = t.testdir()
  await run('openssl', [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-subj',
    '/CN=links.example.com',
    '-days',
    '2',
    '-keyout',
    join(folder, 'privkey.pem'),
    '-out',
    join(folder, 'fullchain.pem'),
  ])
  const example = readFileSync('systemd/nginx.conf.example', 'utf8')
  const ours = example.replaceAll('/etc/letsencrypt/live/links.example.com', folder)
  const config = join(folder, 'nginx.conf')
  const temp = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${folder}/${name};`)
    .join('\n')
  writeFileSync(
    config,
    `pid ${folder}/pid;\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\n${temp}\n${ours}\n}\n`.replaceAll(
      // Syntax is tested, not the right to open ports below 1024.
      /listen (\[::\]:)?(80|443)/g,
      'listen $118$2',
    ),
  )
  const { stderr } = await run('nginx', ['-t', '-c', config])
  t.match(stderr, 'test is successful')
  t.notMatch(stderr, '[warn]', 'nothing that is deprecated')
})

t.test('Caddy takes the example', { skip: absent('caddy') }, async (t) => {
  const { stdout } = await run('caddy', [
    'adapt',
    '--config',
    'systemd/Caddyfile.example',
    '--adapter',
    'caddyfile',
    '--validate',
  ])
  t.match(stdout, '127.0.0.1:8081')
})

t.test('the proxies lead to the public listener alone, over HTTP/1.1', async (t) => {
  for (const name of ['Caddyfile.example', 'nginx.conf.example']) {
    const settings = readFileSync(join('systemd', name), 'utf8').replaceAll(/^\s*#.*$/gm, '')
    t.match(settings, '127.0.0.1:8081', name)
    t.notMatch(settings, '8080', `${name} does not show the private listener`)
    if (name.startsWith('nginx')) {
      t.match(settings, 'proxy_http_version 1.1;')
      t.notMatch(settings, /listen .*http2/, 'deprecated since nginx 1.25.1')
    }
  }
})
