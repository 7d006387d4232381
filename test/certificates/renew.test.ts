// Thorough: whole appliances, each with an authority and a clock that moves.
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { dayMs } from '../../src/clock/index.js'
import { acmeRig } from '../support/acme-rig.js'
import { testCertificates } from '../support/tls.js'

const tls = testCertificates(t, 'acme.test')
const rig = async (t: Test, options: Parameters<typeof acmeRig>[2] = {}) =>
  await acmeRig(t, await tls, options)

const hourMs = 3_600_000

t.test('a name gets its certificate by a challenge that is answered on port 80', async (t) => {
  const { renew, certificate, directory, listener, isDue } = await rig(t)
  t.equal(await isDue(), true)
  t.same(await renew(), { issued: ['mail.test'], failed: [], removed: [] })
  t.same(certificate()?.names, ['mail.test'])
  t.equal(listener.asked.length, 1)
  t.match(listener.asked[0], /^mail\.test \/\.well-known\/acme-challenge\//)
  t.equal(directory.orders.length, 1)
  t.equal(await isDue(), false, 'and that is all')
})

t.test(
  'a certificate is renewed a third of its life before its end, year after year',
  async (t) => {
    const { renew, certificate, directory, isDue, clock, row } = await rig(t)
    await renew()
    for (let times = 1; times <= 6; times++) {
      const before = certificate()?.endsAt ?? 0
      await clock.advance(((await row())?.renew_at ?? 0) - clock.now() - 1)
      await renew()
      t.equal(certificate()?.endsAt, before, 'a moment before nothing happens')
      t.equal(Math.round((before - clock.now()) / dayMs), 30)
      await clock.advance(1)
      t.equal(await isDue(), true)
      await renew()
      t.equal(directory.orders.length, times + 1)
      t.equal(Math.round(((certificate()?.endsAt ?? 0) - clock.now()) / dayMs), 90)
    }
    t.equal(directory.accounts.size, 1, 'the account is made once')
  },
)

t.test('a certificate of six days is renewed at half of its life', async (t) => {
  const { renew, directory, clock, row } = await rig(t)
  directory.behaviour.life = (now) => ({ beganAt: now, endsAt: now + 6 * dayMs })
  await renew()
  t.equal((((await row())?.renew_at ?? 0) - clock.now()) / dayMs, 3)
})

t.test('a directory that says when to renew is followed', async (t) => {
  const { renew, directory, clock, row, isDue } = await rig(t)
  const at = (days: number) => clock.now() + days * dayMs
  directory.behaviour.renewal = { beganAt: at(40), endsAt: at(42), retryAfter: 21_600 }
  await renew()
  t.equal((await row())?.renew_at, at(40), 'a time of its window')
  t.equal((await row())?.next_at, clock.now() + 6 * hourMs, 'and it is asked again')
  // As after a revocation (RFC 9773 §4): the window is over.
  directory.behaviour.renewal = { beganAt: at(-2), endsAt: at(-1), retryAfter: 21_600 }
  await clock.advance(6 * hourMs)
  t.equal(await isDue(), true)
  t.same((await renew()).issued, ['mail.test'])
  t.match(directory.orders[1]?.replaces, /^[\w-]+\.AP[\w-]+$/, 'the order says which it replaces')
})

t.test('each name has a certificate of its own, one order after the other', async (t) => {
  const { renew, certificate, directory } = await rig(t, { names: 'mail.test,api.test,a.b.test' })
  t.same((await renew()).issued, ['mail.test', 'api.test', 'a.b.test'])
  t.same(certificate('a.b.test')?.names, ['a.b.test'])
  const steps = directory.requests.filter((one) => /new-order|finalize/.test(one))
  t.same(
    steps.map((one) => one.replace(/\/\d+$/, '')),
    Array.from({ length: 3 }, () => ['POST /new-order', 'POST /finalize']).flat(),
  )
})

t.test('a name that does not lead to this machine is not asked for', async (t) => {
  const { renew, resolver, directory, row, clock, isDue } = await rig(t)
  for (const [host, cause] of [
    [{ a: ['192.0.2.7'] }, /resolves to 192\.0\.2\.7, which is not an address of this machine/],
    [{ a: ['127.0.0.1'], aaaa: ['2001:db8::7'] }, /resolves to 2001:db8::7/],
    [{}, /has no address/],
    [{ fail: 'SERVFAIL' }, /the DNS did not answer \(SERVFAIL\)/],
  ] as const) {
    resolver.set('mail.test', host as Parameters<typeof resolver.set>[1])
    t.match((await renew()).failed, [cause])
    t.match((await row())?.error, cause)
    t.equal(await isDue(), false, 'not asked again at once')
    await clock.advance(2 * hourMs)
  }
  t.same(directory.requests, [], 'the directory was not asked at all')
  resolver.set('mail.test', { a: ['127.0.0.1'] })
  t.same((await renew()).issued, ['mail.test'])
  t.match(await row(), { failures: 0, error: null, failed_since: null })
})

t.test('behind a NAT the address that leads here is a setting', async (t) => {
  const { renew, resolver } = await rig(t, { env: { POSTHORN_TLS_ADDRESSES: '192.0.2.7' } })
  resolver.set('mail.test', { a: ['192.0.2.7'] })
  t.same((await renew()).issued, ['mail.test'])
})

t.test('a challenge that fails is told with its fix, and rests longer each time', async (t) => {
  const { renew, directory, row, clock, isDue, listener } = await rig(t)
  const { port } = listener
  listener.port = 1
  const rests: number[] = []
  for (let failures = 1; failures <= 9; failures++) {
    t.match((await renew()).failed, [/^mail\.test: .*ECONNREFUSED.* \(connection\)$/])
    const now = await row()
    t.match(now, { failures, fix: /reach port 80 of mail\.test/, order_url: null })
    rests.push(((now?.next_at ?? 0) - clock.now()) / hourMs)
    await clock.advance((now?.next_at ?? 0) - clock.now() - 1)
    t.equal(await isDue(), false)
    await clock.advance(1)
  }
  t.same(rests, [0.25, 0.5, 1, 2, 4, 8, 16, 24, 24])
  t.equal(directory.orders.length, 9, 'at most five an hour, which Let’s Encrypt bears')
  listener.port = port
  t.same((await renew()).issued, ['mail.test'])
})

t.test('a Retry-After is kept to, for all names', async (t) => {
  const { renew, directory, row, account, clock, isDue } = await rig(t, {
    names: 'mail.test,api.shop,www.test',
  })
  const detail = 'too many certificates (50)\nalready issued\u001b[2J'
  directory.behaviour.refusal = { type: 'rateLimited', detail, retryAfter: 172_800 }
  const { failed } = await renew()
  t.same(failed, [
    'mail.test: too many certificates (50) already issued [2J (rateLimited)',
    'api.shop: too many certificates (50) already issued [2J (rateLimited)',
  ])
  t.equal(((await row())?.next_at ?? 0) - clock.now(), 48 * hourMs)
  t.equal(((await account())?.next_at ?? 0) - clock.now(), 12 * hourMs)
  t.equal(await isDue(), false)
  directory.behaviour.refusal = undefined
  await clock.advance(12 * hourMs)
  t.same((await renew()).issued, ['www.test'], 'which was not asked for')
  await clock.advance(36 * hourMs)
  t.same((await renew()).issued, ['mail.test', 'api.shop'])
})

t.test('a limit before our account is there is one of all names', async (t) => {
  const { renew, directory, row, account, clock, isDue } = await rig(t)
  directory.behaviour.limited = /new-account/
  t.match((await renew()).failed, [/rateLimited/])
  t.match(await row(), { failures: 0 })
  t.ok(((await account())?.next_at ?? 0) > clock.now())
  t.equal(await isDue(), false)
  directory.behaviour.limited = undefined
  await clock.advance(hourMs)
  t.same((await renew()).issued, ['mail.test'])
})

t.test('a nonce that is used up is no failure', async (t) => {
  const { renew, directory } = await rig(t)
  directory.behaviour.badNonces = 3
  t.same((await renew()).issued, ['mail.test'])
})

t.test('a directory that is down for weeks takes nothing away', async (t) => {
  const { renew, certificate, directory, clock, account, row, isDue } = await rig(t, {
    names: 'mail.test,api.test',
  })
  await renew()
  const before = certificate()
  await clock.advance(((await row())?.renew_at ?? 0) - clock.now())
  directory.behaviour.fault = 'unavailable'
  const asked = directory.requests.length
  let looks = 0
  const look = async () => {
    if (!(await isDue())) return
    looks++
    const { failed } = await renew()
    t.match(failed, [/HTTP 503/], 'one name is enough to see it')
  }
  for (const end = clock.now() + dayMs; clock.now() < end; await clock.advance(10 * 60_000)) {
    await look()
  }
  t.ok(looks < 30, `asked every hour: ${looks}`)
  for (let days = 0; days < 34; days++) {
    await clock.advance(dayMs)
    await look()
  }
  t.ok(directory.requests.length - asked <= 2 * looks)
  t.same(certificate()?.cert, before?.cert, 'even after its end it is offered')
  t.match(await row(), { failures: 0, error: /HTTP 503/ })
  directory.behaviour.fault = undefined
  await clock.advance(hourMs)
  t.same((await renew()).issued, ['mail.test', 'api.test'])
  t.match(await account(), { failures: 0, error: null })
})

t.test('a hostile directory is left soon, and writes nowhere', async (t) => {
  for (const [fault, cause] of [
    ['endless', /longer than 131072 bytes/],
    ['redirect', /a redirect/],
    ['silent', /no answer within 30 s/],
  ] as const) {
    const { renew, directory, clock } = await rig(t)
    directory.behaviour.fault = fault
    const renewing = renew()
    while (fault === 'silent' && directory.requests.length === 0) await turn()
    if (fault === 'silent') await clock.advance(30_000)
    t.match((await renewing).failed, [cause], fault)
  }
})

t.test('a certificate for another key or name never gets to a listener', async (t) => {
  for (const certificate of ['of another key', 'of another name'] as const) {
    const { renew, directory, ...world } = await rig(t)
    directory.behaviour.certificate = certificate
    t.match((await renew()).failed, [/^mail\.test: The certificate it gave/], certificate)
    t.equal(world.certificate(), undefined)
  }
})

t.test('a directory that decides slowly is asked again later about the same order', async (t) => {
  const { renew, directory, clock, row, certificate, isDue } = await rig(t)
  directory.behaviour.validation = 'later'
  const renewing = renew()
  for (let isOver = false; !isOver; await turn()) {
    await clock.advance(1_000)
    isOver = (await row())?.error != null
  }
  t.same(await renewing, { issued: [], failed: [], removed: [] })
  t.match(await row(), { order_url: /\/order\/1$/, error: 'the directory has not decided yet' })
  t.equal(await isDue(), false)
  await directory.decide()
  t.equal(directory.orders[0]?.status, 'ready', 'the challenge is answered meanwhile')
  await clock.advance(2 * 60_000)
  t.same((await renew()).issued, ['mail.test'])
  t.equal(directory.orders.length, 1)
  t.ok(certificate())
})

t.test('an order that was cut off is taken up again, with its key', async (t) => {
  const { renew, directory, row, certificate, clock } = await rig(t)
  // What it had signed does not get here.
  directory.behaviour.failsAt = /^POST \/cert/
  t.match((await renew()).failed, [/HTTP 503/])
  t.match(await row(), { order_url: /\/order\/1$/, failures: 0 })
  directory.behaviour.failsAt = undefined
  await clock.advance(hourMs)
  t.same((await renew()).issued, ['mail.test'])
  t.equal(directory.orders.length, 1)
  t.ok(certificate(), 'the key is the one of the request')
  t.match(await row(), { order_url: null, order_key: null })
})

t.test(
  'a certificate whose file is gone is there again, and got again without its row',
  async (t) => {
    const { renew, directory, dataDir, isDue, listener, certificate, store } = await rig(t)
    await renew()
    rmSync(join(dataDir, 'certificates'), { recursive: true })
    t.equal(await isDue(), true, 'as after a restore')
    t.same((await renew()).issued, [])
    t.ok(certificate(), 'the database has it')
    const forget = () =>
      store.write((tx) =>
        tx.updateTable('certificates').set({ sealed: null, hash: null }).execute(),
      )
    await forget()
    rmSync(join(dataDir, 'certificates'), { recursive: true })
    t.same((await renew()).issued, ['mail.test'])
    await forget()
    rmSync(join(dataDir, 'certificates'), { recursive: true })
    listener.port = 1
    t.equal((await renew()).failed.length, 1)
    t.equal(await isDue(), false, 'but a directory that refuses is not asked every minute for it')
    t.equal(directory.orders.length, 3)
  },
)

t.test('what nobody wants any more is removed', async (t) => {
  const { renew, deps, certificate, row, isDue } = await rig(t, { names: 'mail.test,api.test' })
  await renew()
  Object.assign(deps.config.tls, { names: ['mail.test'] })
  t.equal(await isDue(), true)
  t.same(await renew(), { issued: [], failed: [], removed: ['api.test'] })
  t.equal(certificate('api.test'), undefined)
  t.equal(await row('api.test'), undefined)
  t.ok(certificate())
})

t.test('without tls.acme nothing is asked, and nothing is removed', async (t) => {
  const { renew, deps, certificate, directory, isDue } = await rig(t)
  await renew()
  const asked = directory.requests.length
  Object.assign(deps.config.tls, { acme: false, names: [] })
  t.equal(await isDue(), false)
  t.same(await renew(), { issued: [], failed: [], removed: [] })
  t.equal(directory.requests.length, asked)
  t.ok(certificate())
})

t.test('an account that the directory has forgotten is made again with its key', async (t) => {
  const { renew, directory, clock, row, account } = await rig(t)
  await renew()
  const [jwk] = [...directory.accounts.values()].map((one) => one.jwk)
  directory.forgetAccounts()
  directory.forgetOrders()
  await clock.advance(((await row())?.renew_at ?? 0) - clock.now())
  t.match((await renew()).failed, [/accountDoesNotExist/])
  await clock.advance(hourMs)
  t.same((await renew()).issued, ['mail.test'])
  t.same(
    [...directory.accounts.values()].map((one) => one.jwk),
    [jwk],
  )
  t.match(await account(), { failures: 0 })
})

t.test('the directory hears of a new address of the operator', async (t) => {
  const { renew, directory, deps, clock, row } = await rig(t)
  await renew()
  t.same([...directory.accounts.values()][0]?.contact, [])
  Object.assign(deps.config.tls, { email: 'ops@mail.test' })
  await clock.advance(((await row())?.renew_at ?? 0) - clock.now())
  await renew()
  t.same([...directory.accounts.values()][0]?.contact, ['mailto:ops@mail.test'])
})

t.test('no private key is in the database in clear', async (t) => {
  const { renew, account, certificate, clock, directory, row } = await rig(t)
  await renew()
  const { key } = (await account()) ?? {}
  t.ok(key && key.length > 100)
  t.notMatch(String(key), /PRIVATE KEY/)
  t.match(String(certificate()?.key), /PRIVATE KEY/)
  directory.behaviour.failsAt = /^POST \/cert/
  await clock.advance(70 * dayMs)
  await renew()
  const sealed = (await row())?.order_key
  t.ok(sealed && sealed.length > 100)
  t.notMatch(String(sealed), /PRIVATE KEY/)
})

const turn = () => new Promise((resolve) => setTimeout(resolve, 1))

t.test('a directory that wants it is told of the account elsewhere', async (t) => {
  const bound = { kid: 'k-1', hmacKey: Buffer.alloc(32, 3).toString('base64url') }
  const file = join(t.testdir({ key: `${bound.hmacKey}\n` }), 'key')
  const env = { POSTHORN_TLS_EAB_KEY_ID: bound.kid, POSTHORN_TLS_EAB_KEY_FILE: file }
  const { renew, directory, account } = await rig(t, { env })
  directory.behaviour.bound = bound
  t.same((await renew()).issued, ['mail.test'])
  t.match(await account(), { url: [...directory.accounts.keys()][0] })
  const without = await rig(t)
  without.directory.behaviour.bound = bound
  t.match((await without.renew()).failed, [/externalAccountRequired/])
})

t.test(
  'a name whose port 80 nobody reaches is proved by a record that a hook publishes',
  async (t) => {
    const dir = t.testdir({})
    const hook = join(dir, 'hook')
    writeFileSync(
      hook,
      `#!/bin/sh\necho "$@" >> ${dir}/calls\n[ ! -e ${dir}/broken ] || { echo no zone >&2; exit 1; }\n`,
    )
    chmodSync(hook, 0o700)
    const calls = () => readFileSync(join(dir, 'calls'), 'utf8').trim().split('\n')
    const { renew, directory, resolver, row, clock, certificate } = await rig(t, {
      env: { POSTHORN_TLS_DNS_HOOK: hook },
    })
    // It leads elsewhere, as behind a firewall.
    resolver.set('mail.test', { a: ['192.0.2.99'] })
    const published = (name: string) =>
      calls().flatMap((call) => {
        const [verb, of, value = ''] = call.split(' ')
        return verb === 'add' && of === name ? [value] : []
      })
    directory.behaviour.txt = (name) => published(name)
    writeFileSync(join(dir, 'broken'), '')
    t.match((await renew()).failed, [/dns_hook \(.+ add\) failed: no zone/])
    t.match(await row(), { failures: 1, error: /no zone/ })
    rmSync(join(dir, 'broken'))
    await clock.advance(hourMs)
    const renewing = renew()
    // What the hook has published is looked for first.
    for (let i = 0; i < 100 && calls().length < 2; i++)
      await new Promise((go) => setTimeout(go, 50))
    resolver.set('_acme-challenge.mail.test', { txt: published('_acme-challenge.mail.test') })
    const stop = setInterval(() => void clock.advance(2_000), 20)
    t.same((await renewing).issued, ['mail.test'])
    clearInterval(stop)
    t.same(certificate()?.names, ['mail.test'])
    t.match(calls().at(-1), /^remove _acme-challenge\.mail\.test [\w-]{43}$/)
  },
)
