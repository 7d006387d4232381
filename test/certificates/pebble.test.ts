// Issue 48, 7: a directory that others wrote, Debian's pebble, with its name server beside it.
import { type ChildProcess, spawn } from 'node:child_process'
import { chmodSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { openCertificates, renewCertificates } from '../../src/certificates/index.js'
import { systemClock } from '../../src/clock/index.js'
import { loadConfig, makeApplianceKey } from '../../src/config/index.js'
import { systemResolver } from '../../src/dns/index.js'
import { silentLog } from '../../src/log/index.js'
import { eventually } from '../support/eventually.js'
import { freePort } from '../support/free-port.js'
import { openTestStore } from '../support/store.js'
import { testCertificates } from '../support/tls.js'
import { absent } from '../support/tools.js'

t.setTimeout(120_000)

const macKey = 'zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W'

t.test(
  'pebble, which wants an account elsewhere, has a name proved by a hook',
  { skip: absent('pebble', 'pebble-challtestsrv') },
  async (t) => {
    const dir = t.testdir({})
    const file = (name: string, text: string) => {
      writeFileSync(join(dir, name), text, { mode: 0o600 })
      return join(dir, name)
    }
    const run = (command: string, ...args: string[]): ChildProcess => {
      const child = spawn(command, args, {
        stdio: 'ignore',
        env: { ...process.env, PEBBLE_VA_NOSLEEP: '1' },
      })
      const ended = new Promise((resolve) => child.once('exit', resolve))
      t.teardown(async () => {
        child.kill()
        await ended
      })
      return child
    }
    const [dns, records, acme, management] = [
      await freePort(),
      await freePort(),
      await freePort(),
      await freePort(),
    ]
    const { valid, ca } = await testCertificates(t, 'acme.test')
    run(
      'pebble-challtestsrv',
      ...['-dns01', `127.0.0.1:${dns}`, '-management', `127.0.0.1:${records}`],
      ...['-http01', '', '-https01', '', '-tlsalpn01', '', '-defaultIPv6', ''],
    )
    const settings = {
      listenAddress: `127.0.0.1:${acme}`,
      managementListenAddress: `127.0.0.1:${management}`,
      certificate: file('acme.pem', valid.cert),
      privateKey: file('acme.key', valid.key),
      externalAccountBindingRequired: true,
      externalAccountMACKeys: { 'kid-1': macKey },
    }
    const server = `127.0.0.1:${dns}`
    run(
      'pebble',
      '-config',
      file('pebble', JSON.stringify({ pebble: settings })),
      '-dnsserver',
      server,
    )
    const hook = file(
      'hook',
      `#!${process.execPath}
const [verb, name, value] = process.argv.slice(2)
fetch('http://127.0.0.1:${records}/' + (verb === 'add' ? 'set-txt' : 'clear-txt'), {
  method: 'POST', body: JSON.stringify({ host: name + '.', value }) })
`,
    )
    chmodSync(hook, 0o700)
    const resolver = systemResolver({ clock: systemClock, servers: [server] })
    await eventually(async () => (await resolver.a('acme.test')).kind === 'records', 10_000)
    await eventually(() => isListening(acme), 10_000)
    const config = loadConfig({
      env: {
        POSTHORN_INBOUND_ENABLED: 'false',
        POSTHORN_TLS_ACME: 'true',
        POSTHORN_TLS_AGREE_TO_TERMS: 'true',
        POSTHORN_TLS_DIRECTORY: `https://acme.test:${acme}/dir`,
        POSTHORN_TLS_DIRECTORY_CA: file('ca.pem', ca.cert),
        POSTHORN_TLS_EAB_KEY_ID: 'kid-1',
        POSTHORN_TLS_EAB_KEY_FILE: file('eab', macKey),
        POSTHORN_TLS_DNS_HOOK: hook,
        POSTHORN_TLS_NAMES: 'mail.example.test',
      },
    })
    const store = await openTestStore(t)
    const deps = { store, config, resolver, dataDir: dir, clock: systemClock, log: silentLog }
    const done = await renewCertificates({
      ...deps,
      key: makeApplianceKey(Buffer.alloc(32, 7)),
      random: () => 0,
      signal: new AbortController().signal,
    })
    t.same(done, { issued: ['mail.example.test'], failed: [], removed: [] })
    const usual = 'mail.example.test'
    const held = openCertificates({ dataDir: dir, log: silentLog, files: [], usual })
    t.same(held.forName(usual)?.names, [usual])
    const [account] = await store.read.selectFrom('acme_accounts').selectAll().execute()
    t.match(account, { url: /^https:\/\/acme\.test:\d+\/my-account\// })
    const left = await resolver.txt(`_acme-challenge.${usual}`)
    t.not(left.kind, 'records', 'the record is taken away')
  },
)

const isListening = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
