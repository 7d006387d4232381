// Issue 'what operators and developers ask' 7: names are proved by the DNS through a server that takes updates (RFC 2136).
import { execFileSync, spawn } from 'node:child_process'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { makeDnsHook } from '../../src/certificates/dns-hook.js'
import { systemClock as clock } from '../../src/clock/index.js'
import { loadConfig } from '../../src/config/index.js'
import { systemResolver } from '../../src/dns/index.js'
import { eventually } from '../support/eventually.js'
import { freePort } from '../support/free-port.js'
import { absent } from '../support/tools.js'

/** The program as the documents have it. */
function documented(): string {
  const text = readFileSync('src/certificates/README.md', 'utf8')
  const found = /```sh\n(#!\/bin\/sh\n[\s\S]*?nsupdate[\s\S]*?)```/.exec(text)?.[1]
  if (found === undefined) throw new Error('The documents have no program')
  return found
}

const skip = absent('named', 'nsupdate', 'tsig-keygen')
const zone = `$TTL 60
@ SOA ns.example.test. ops.example.test. 1 60 60 60 60
@ NS ns.example.test.
ns A 127.0.0.1
`

t.test('the program of the documents publishes a record and takes it back', { skip }, async (t) => {
  const dir = t.testdir({ 'example.zone': zone })
  const port = await freePort()
  const keyOf = (name: string) =>
    execFileSync('tsig-keygen', ['-a', 'hmac-sha256', name], { encoding: 'utf8' })
  const key = keyOf('posthorn')
  writeFileSync(join(dir, 'tsig.key'), key)
  writeFileSync(join(dir, 'other.key'), keyOf('posthorn'))
  writeFileSync(
    join(dir, 'named.conf'),
    `${key}
options { directory "${dir}"; listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; };
  pid-file none; recursion no; };
controls { };
zone "example.test" { type primary; file "example.zone";
  update-policy { grant posthorn name _acme-challenge.mail.example.test TXT; }; };
`,
  )
  const named = spawn('named', ['-f', '-c', join(dir, 'named.conf')], { stdio: 'ignore' })
  const ended = new Promise((resolve) => named.once('exit', resolve))
  t.teardown(async () => {
    named.kill('SIGTERM')
    await ended
  })
  const resolver = systemResolver({ clock, servers: [`127.0.0.1:${port}`] })
  const hookWith = (file: string) => {
    const hook = join(dir, `hook-${file}`)
    const settings = `server="127.0.0.1 ${port}" key=${join(dir, file)}`
    writeFileSync(hook, documented().replace(/^server=.*$/m, settings))
    chmodSync(hook, 0o700)
    const config = loadConfig({ env: { POSTHORN_TLS_DNS_HOOK: hook } })
    return makeDnsHook({ config, clock, resolver, signal: new AbortController().signal })
  }
  await eventually(async () => (await resolver.a('ns.example.test')).kind === 'records', 10_000)

  const name = 'mail.example.test'
  const records = async () => {
    const found = await resolver.txt(`_acme-challenge.${name}`)
    return found.kind === 'records' ? found.records : []
  }
  const hook = hookWith('tsig.key')
  await hook.add(name, 'first')
  await hook.add(name, 'second')
  t.same([...(await records())].sort(), ['first', 'second'])
  await hook.remove(name, 'first')
  t.same(await records(), ['second'])
  await hook.remove(name, 'second')
  t.same(await records(), [])

  const failing = (work: Promise<void>) =>
    work.then(
      () => 'it was done',
      (error: Error) => error.message,
    )
  t.match(await failing(hookWith('other.key').add(name, 'x')), /failed: .*tsig/i)
  t.match(await failing(hook.add('other.example.test', 'x')), /failed: update failed: REFUSED/)
  t.same(await records(), [])
})
