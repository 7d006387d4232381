// Issue 46: a second machine joins by a code, and both have the certificates that one of them gets.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import t from 'tap'
import { systemClock as clock } from '../../src/clock/index.js'
import { faultOfNodeName } from '../../src/config/index.js'
import type { PageHandler, Pages } from '../../src/http/index.js'
import { keepInvite, makeInviteCode } from '../../src/nodes/index.js'
import { invitePages } from '../../src/nodes/routes.js'
import { makeTurns, openStore, type Store } from '../../src/store/index.js'
import { acmeDirectory } from '../support/acme-directory.js'
import { acmeSettings, offeredAt } from '../support/acme-rig.js'
import { freePort } from '../support/free-port.js'
import { logIn } from '../support/log-in.js'
import { becomes, nodesRig } from '../support/nodes.js'
import { noPostgres } from '../support/postgres.js'
import { cliEntry, freePorts, serve } from '../support/process.js'
import { makeTempDir, openTestStore } from '../support/store.js'
import { testCertificates } from '../support/tls.js'

const made = testCertificates(t, 'acme.test')

/** A command on a machine that knows nothing yet. */
async function onNewMachine(
  args: readonly string[],
  { stdin, env = {} }: { stdin?: string; env?: Record<string, string> } = {},
) {
  const child = spawn(process.execPath, [cliEntry, ...args], {
    env: { PATH: process.env.PATH ?? '', ...freePorts, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  child.stdin.end(stdin)
  const [stdout, stderr, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ])
  return { status, stdout, stderr }
}

t.test('no code can be taken for an option of the command that it is given to', async (t) => {
  const codes = Array.from({ length: 1000 }, () => makeInviteCode('http://127.0.0.1:1').code)
  t.same(
    codes.filter((code) => code.startsWith('-')),
    [],
  )
})

t.test(
  'a code that nobody gave costs no transaction, and no name is taken as it comes',
  async (t) => {
    const store = await openTestStore(t)
    let handler: PageHandler | undefined
    const post: Pages['post'] = (_path, _shape, answers) => {
      handler = answers
    }
    let writes = 0
    const write: Store['write'] = (work) => {
      writes++
      return store.write(work)
    }
    invitePages({ post } as Pages, { store: { ...store, read: store.read, write }, clock })
    const ask = async (body: unknown) =>
      await handler?.({
        rawBody: Buffer.from(JSON.stringify(body)),
        clientAddressKey: 'a',
      } as Parameters<PageHandler>[0])
    await t.rejects(ask({ lookup: makeInviteCode('http://127.0.0.1:1').lookup }), {
      code: 'not_found',
    })
    t.equal(writes, 0)
    const invite = makeInviteCode('http://127.0.0.1:1')
    await store.write((tx) => keepInvite(tx, invite, 'what it gets'))
    t.ok(await ask({ lookup: invite.lookup, name: 'mail2\n<b>' }))
    const rows = await store.read.selectFrom('audit_log').select(['action', 'target']).execute()
    t.same(rows, [{ action: 'node.join', target: '' }])
    for (const name of ['mail2', 'a.b-c', 'x']) t.equal(faultOfNodeName(name), undefined, name)
    for (const name of ['', 'a@b', 'mail_2', 'Mail2', '-a', 'a-', 'ä', 'a'.repeat(64), 'a\nb'])
      t.match(faultOfNodeName(name), /A node cannot be called/, name)
  },
)

t.test('a node that joins', { skip: noPostgres ?? false }, async (t) => {
  const rig = await nodesRig(t)
  const trusted = { POSTHORN_STORE_TRUST_DURABILITY: 'true' }
  const settings = readFileSync(join(rig.dirOf('mail1'), 'posthorn.toml'), 'utf8')
  const own = 'source_addresses = ["127.0.0.1"]\nhelo_name = "mail1.example.test"\n'
  writeFileSync(
    join(rig.dirOf('mail1'), 'posthorn.toml'),
    settings.replace('[outbound]\n', `[outbound]\n${own}`),
  )
  const first = await rig.start('mail1')
  const invited = async () => {
    const { status, stdout, stderr } = await rig.run('mail1', [
      'node',
      'invite',
      '--json',
      '--at',
      first.url,
    ])
    t.equal(status, 0, stderr)
    return JSON.parse(stdout) as { code: string; left: string[] }
  }
  const joined = makeTempDir(t)
  const dir = join(joined, 'posthorn')

  await t.test('has the key, the settings and the rules by a code, once', async (t) => {
    const { code, left } = await invited()
    t.same(left.sort(), ['outbound.helo_name', 'outbound.threads'])
    const done = await onNewMachine(
      ['node', 'join', '-', '--name', 'mail2', '--json', '--data', dir],
      { stdin: `${code}\n` },
    )
    t.equal(done.status, 0, done.stderr)
    t.match(JSON.parse(done.stdout), { node: 'mail2', problem: null })
    for (const file of ['appliance.key', 'posthorn.toml', 'shaping.toml'])
      t.equal(statSync(join(dir, file)).mode & 0o777, 0o600, file)
    const keyOf = (from: string) => readFileSync(join(from, 'appliance.key'), 'utf8')
    t.equal(keyOf(dir), keyOf(rig.dirOf('mail1')))
    t.notMatch(readFileSync(join(dir, 'posthorn.toml'), 'utf8'), /mail1/)
    const own = await onNewMachine([
      'node',
      'join',
      code,
      '--address',
      '10.0.0.2',
      '--data',
      join(joined, 'other'),
    ])
    t.match(
      [own.status, own.stderr],
      [1, /--address: it must be an IP address of this machine with a port/],
    )
    const again = await onNewMachine(['node', 'join', code, '--data', join(joined, 'other')])
    t.equal(again.status, 1)
    t.match(again.stderr, /This code is not known here: it was used/)
    t.notOk(existsSync(join(joined, 'other')), 'nothing was made')
    const [row] = await rig.ask<{ actor: string; target: string }>(
      "select actor, target from audit_log where action = 'node.join'",
    )
    t.match(row, { actor: 'system', target: 'mail2' })
    const told = await rig.ask<{ detail: string }>(
      "select detail from audit_log where action = 'posthorn node invite'",
    )
    t.equal(told.length, 1)
  })

  await t.test("the operator's page shows a code, once", async (t) => {
    const dataDir = rig.dirOf('mail1')
    const url = `${rig.server.url}/mail`
    const store = await openStore({ dataDir, url, clock, turns: makeTurns(), slot: 20 })
    t.teardown(() => store.close())
    const operator = await logIn({ url: first.url, dataDir, store }, '', 'operator')
    t.match((await operator.get('/operator/nodes')).text, /Invite a machine/)
    const refused = await operator.post('/operator/nodes/invite', { at: 'somewhere' })
    t.match([refused.status, refused.text], [422, /Give an address such as http/])
    const shown = await operator.post('/operator/nodes/invite', { at: first.url })
    t.equal(shown.status, 200)
    t.equal(shown.headers.get('cache-control'), 'no-store')
    const [, code = ''] = /([\w-]{43}@http:[\w.:/]+)/.exec(shown.text) ?? []
    const audited = await rig.ask<{ target: string; detail: string | null }>(
      "select target, detail from audit_log where action = 'node.invite'",
    )
    t.match(audited, [{ target: first.url }])
    t.notMatch(JSON.stringify(audited), code.slice(0, 43))
    t.notMatch(first.log(), code.slice(0, 43))
    const by = join(joined, 'by-page')
    const done = await onNewMachine(['node', 'join', code, '--name', 'mail3', '--data', by])
    t.equal(done.status, 0, done.stderr)
    t.ok(existsSync(join(by, 'appliance.key')))
  })

  await t.test('an old, a wrong and a stolen code tell nothing', async (t) => {
    const { code } = await invited()
    const rows = await rig.ask<{ sealed: Buffer }>('select sealed from node_invites')
    t.notMatch(rows[0]?.sealed.toString('latin1'), /postgres:|applianceKey/)
    const join2 = (with_: string) =>
      onNewMachine(['node', 'join', with_, '--data', join(joined, 'thief')])
    const [secret = '', at = ''] = code.split('@')
    const wrong = await join2(makeInviteCode(at).code)
    await rig.ask("update node_invites set until = '0'")
    const old = await join2(code)
    t.equal(wrong.status, 1)
    t.equal(old.stderr, wrong.stderr, 'old and wrong are not told apart')
    t.match((await join2(secret)).stderr, /This is no code of 'posthorn node invite'/)
    t.notOk(existsSync(join(joined, 'thief')))
    // Who has listened to a code's use has neither the code nor what was sealed with it.
    const asked = (body: unknown) =>
      fetch(`${first.url}/node/join`, { method: 'POST', body: JSON.stringify(body) })
    for (const body of [{}, { lookup: '' }, { lookup: 'x'.repeat(43) }, [], 'x']) {
      const answer = await asked(body)
      t.equal(answer.status, 404)
      t.match(await answer.json(), { code: 'not_found' })
    }
  })

  await t.test('a machine that has an appliance keeps it, and the code stays good', async (t) => {
    const { code } = await invited()
    const before = readFileSync(join(dir, 'appliance.key'), 'utf8')
    const refused = await onNewMachine(['node', 'join', code, '--data', dir])
    t.equal(refused.status, 1)
    t.match(refused.stderr, /appliance\.key is there already, and nothing is written over/)
    t.equal(readFileSync(join(dir, 'appliance.key'), 'utf8'), before)
    const third = join(joined, 'third')
    mkdirSync(third, { mode: 0o700 })
    const given = [
      '--name',
      'mail4',
      '--host-name',
      'mail4.example.test',
      '--private-host',
      '127.0.0.4',
    ]
    const done = await onNewMachine(['node', 'join', code, ...given, '--json', '--data', third])
    t.match([done.status, JSON.parse(done.stdout)], [0, { left: ['outbound.threads'] }])
    t.match(
      readFileSync(join(third, 'posthorn.toml'), 'utf8'),
      /\[http\.private\]\nhost = "127\.0\.0\.4"/,
    )
    t.match(
      readFileSync(join(third, 'posthorn.toml'), 'utf8'),
      /helo_name = "mail4\.example\.test"/,
    )
    t.same(readdirSync(third).sort(), ['appliance.key', 'posthorn.toml', 'shaping.toml'])
  })

  await t.test('works beside the first, and is told of other rules than its', async (t) => {
    writeFileSync(join(dir, 'shaping.toml'), '# Nothing.\n')
    await serve(t, dir, trusted)
    const list = async () =>
      JSON.parse((await rig.run('mail1', ['node', 'list', '--json'])).stdout) as object[]
    t.match(await list(), [
      { name: 'mail1', state: 'up' },
      { name: 'mail2', state: 'up' },
    ])
    t.match(
      (await rig.run('mail1', ['node', 'list'])).stderr,
      /the nodes go by different rule files: shaping\.toml/,
    )
  })

  await t.test('one with other plans or another key does not', async (t) => {
    const third = join(joined, 'third')
    writeFileSync(join(third, 'plans.toml'), '[plans.only]\nname = "Only"\n')
    // Of the release, which may have others than the release before.
    t.same(await rig.ask('select distinct plans from nodes'), [{ plans: '' }])
    const serving = () => onNewMachine(['serve', '--data', third], { env: trusted })
    t.match(await serving(), {
      status: 1,
      stderr: /The plans of this node \(plans\.toml\) are other/,
    })
    writeFileSync(join(third, 'appliance.key'), `${Buffer.alloc(32, 1).toString('base64')}\n`)
    t.match(await serving(), { status: 78, stderr: /made with another appliance\.key/ })
  })
})

t.test('certificates of two nodes', { skip: noPostgres ?? false }, async (t) => {
  const tls = await made
  const rig = await nodesRig(t)
  let asks = 1
  const directory = await acmeDirectory(t, {
    tls: tls.valid,
    host: 'acme.test',
    port80: () => asks,
  })
  const dir = rig.dirOf('mail1')
  const names = ['acme.test', 'mail.test'].map(
    (name) => `[dns.static."${name}"]\na = ["127.0.0.1"]\n`,
  )
  writeFileSync(
    join(dir, 'posthorn.toml'),
    `${readFileSync(join(dir, 'posthorn.toml'), 'utf8')}${names.join('')}`,
  )
  const ports = {
    mail1: [await freePort(), await freePort()],
    mail2: [await freePort(), await freePort()],
  }
  const start = (name: 'mail1' | 'mail2') =>
    rig.start(name, {
      ...acmeSettings(rig.dirOf(name), directory, tls),
      POSTHORN_INBOUND_ENABLED: 'false',
      POSTHORN_HTTP_PUBLIC_HOST: '127.0.0.1',
      POSTHORN_HTTP_PUBLIC_PORT: String(ports[name][0]),
      POSTHORN_HTTP_PUBLIC_URL: 'https://mail.test',
      POSTHORN_HTTP_PUBLIC_TLS_ENABLED: 'true',
      POSTHORN_HTTP_PUBLIC_TLS_PORT: String(ports[name][1]),
    })
  // What asks for it is the first; the directory looks at the second alone.
  asks = ports.mail2[0] ?? 1
  await start('mail1')
  await start('mail2')
  const offered = (name: 'mail1' | 'mail2') => offeredAt(ports[name][1] ?? 1, 'mail.test')
  const issued = (found: Awaited<ReturnType<typeof offered>>) =>
    found?.issuer === 'ACME test authority'
  const one = await becomes(() => offered('mail1'), issued, 60_000)
  const two = await becomes(() => offered('mail2'), issued, 60_000)
  t.equal(one?.serial, two?.serial, 'it was got once, and both offer it')
  const orders = directory.orders.filter(({ status }) => status === 'valid')
  t.equal(orders.length, 1)
  const [row] = await rig.ask<{ sealed: Buffer }>('select sealed from certificates')
  t.notMatch(row?.sealed.toString('latin1'), /BEGIN/)
})
