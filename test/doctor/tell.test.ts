import type { AddressInfo } from 'node:net'
import { createServer } from 'node:tls'
import t from 'tap'
import { orphansChore } from '../../src/app/several.js'
import { dayMs } from '../../src/clock/index.js'
import { loadConfig } from '../../src/config/index.js'
import { tellBlocklists, tellCertificates } from '../../src/doctor/index.js'
import { othersThan, takeDatabase } from '../../src/nodes/index.js'
import { notice, openNotices, pastNotices } from '../../src/notices/index.js'
import { makeTurns, noteOthers } from '../../src/store/index.js'
import { FakeClock } from '../support/clock.js'
import { doctorRig, goodWorld } from '../support/doctor.js'
import { fakeResolver } from '../support/resolver.js'
import { openTestStore } from '../support/store.js'
import { testCertificates } from '../support/tls.js'

const listed = '1.2.0.192.list.test'

t.test('a listing burns until the list says otherwise; no answer says nothing', async (t) => {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  const resolver = fakeResolver({ '2.0.0.127.list.test': { a: ['127.0.0.2'] } })
  const env = {
    POSTHORN_OUTBOUND_SOURCE_ADDRESSES: '192.0.2.1',
    POSTHORN_DOCTOR_BLOCKLISTS: 'list.test',
  }
  const look = () => tellBlocklists({ store, clock, resolver, config: loadConfig({ env }) })
  resolver.set(listed, { a: ['127.255.255.254'] })
  t.match(await look(), { asked: 1, unanswered: 1, listed: 0 })
  t.same(await openNotices(store.read), [])
  resolver.set(listed, { a: ['127.0.0.4'], txt: ['spam was seen'] })
  t.match(await look(), { listed: 1 })
  t.match(await openNotices(store.read), [
    { kind: 'blocklist', severity: 'burning', key: '192.0.2.1 list.test', text: /spam was seen/ },
  ])
  for (const none of [{ fail: 'SERVFAIL' }, { a: ['127.255.255.255'] }]) {
    resolver.set(listed, none)
    await look()
    t.equal((await openNotices(store.read)).length, 1)
  }
  resolver.set(listed, undefined)
  await look()
  t.same(await openNotices(store.read), [])
  t.match(await pastNotices(store.read, 1), [{ kind: 'blocklist' }])
})

t.test('of several nodes each settles its own listings alone', async (t) => {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  const resolver = fakeResolver({ '2.0.0.127.list.test': { a: ['127.0.0.2'] } })
  const lookAt = (name: string, address: string) => {
    const env = {
      POSTHORN_STORE_URL: 'postgres://db.test/mail',
      POSTHORN_NODE_JOIN: 'true',
      POSTHORN_NODE_NAME: name,
      POSTHORN_OUTBOUND_SOURCE_ADDRESSES: address,
      POSTHORN_DOCTOR_BLOCKLISTS: 'list.test',
    }
    return tellBlocklists({ store, clock, resolver, config: loadConfig({ env }) })
  }
  resolver.set(listed, { a: ['127.0.0.4'] })
  await lookAt('one', '192.0.2.1')
  t.match(await lookAt('two', '192.0.2.9'), { listed: 0 })
  t.match(await openNotices(store.read), [
    { kind: 'blocklist', key: '192.0.2.1 list.test@one', text: /\(on one\)/ },
  ])
  resolver.set(listed, undefined)
  await lookAt('one', '192.0.2.1')
  t.same(await openNotices(store.read), [])
})

t.test('a certificate is told at each step before its end, the last burns', async (t) => {
  const { valid } = await testCertificates(t)
  const { X509Certificate } = await import('node:crypto')
  const ends = Date.parse(new X509Certificate(valid.cert).validTo)
  const clock = new FakeClock(ends - 30 * dayMs)
  const store = await openTestStore(t, { clock })
  const env = {
    POSTHORN_INBOUND_TLS_CERTIFICATE: valid.certFile,
    POSTHORN_INBOUND_TLS_KEY: valid.keyFile,
    POSTHORN_INBOUND_PORT: '0',
  }
  const config = loadConfig({ env })
  const look = () =>
    tellCertificates({ store, clock, resolver: fakeResolver(), config, dataDir: '/tmp' })
  t.match(await look(), { looked: 1, told: 0 })
  // Of a life of 30 days: a third of the settings' times, which are for one of 90.
  const seen: string[] = []
  for (const days of [6, 5, 2, 1, 0.5]) {
    await clock.advance(ends - days * dayMs - clock.now())
    await look()
    const [row] = await store.read.selectFrom('notices').selectAll().execute()
    seen.push(`${days} ${row?.severity} ${row?.fresh}`)
    await store.write((tx) => tx.updateTable('notices').set({ fresh: 0 }).execute())
  }
  t.same(seen, ['6 daily 1', '5 daily 0', '2 daily 1', '1 daily 0', '0.5 burning 1'])
  await clock.advance(2 * dayMs)
  await look()
  t.match(await openNotices(store.read), [{ text: /inbound listener has ended/ }])
})

t.test('of several nodes each settles its own certificates alone', async (t) => {
  const { valid } = await testCertificates(t)
  const { X509Certificate } = await import('node:crypto')
  const ends = Date.parse(new X509Certificate(valid.cert).validTo)
  const clock = new FakeClock(ends - dayMs)
  const turns = makeTurns()
  const store = await openTestStore(t, { clock, turns })
  const lookAt = (name: string, files: Partial<typeof valid> = {}) => {
    noteOthers(turns, othersThan(name === 'one' ? ['calendar', 'chores'] : []))
    const env = {
      POSTHORN_STORE_URL: 'postgres://db.test/mail',
      POSTHORN_NODE_JOIN: 'true',
      POSTHORN_NODE_NAME: name,
      POSTHORN_INBOUND_TLS_CERTIFICATE: files.certFile ?? '',
      POSTHORN_INBOUND_TLS_KEY: files.keyFile ?? '',
      POSTHORN_INBOUND_PORT: '0',
    }
    const config = loadConfig({ env })
    return tellCertificates({ store, clock, resolver: fakeResolver(), config, dataDir: '/tmp' })
  }
  const open = async () => (await openNotices(store.read)).map(({ key }) => key).sort()
  const raise = (key: string, kind: 'certificate' | 'disk' = 'certificate') =>
    store.write((tx) =>
      notice(tx, { kind, key, severity: 'daily', text: 'x', fix: '', now: clock.now() }),
    )
  await raise('ACME mail.test')
  await lookAt('two', valid)
  t.match(await lookAt('two', valid), { looked: 1, told: 1 })
  t.same(await open(), ['ACME mail.test', 'the inbound listener@two'])
  t.match(await openNotices(store.read), [{ text: /the inbound listener .*\(on two\)/ }, {}])
  await lookAt('one')
  t.same(
    await open(),
    ['the inbound listener@two'],
    "what is all nodes' is settled by the calendar's",
  )
  await lookAt('one', valid)
  await lookAt('two')
  t.same(await open(), ['the inbound listener@one'])

  await takeDatabase(store, { name: 'one', joins: true })
  await raise('ACME mail.test')
  await raise('/var/lib/posthorn', 'disk')
  await raise('/var/lib/posthorn@one', 'disk')
  await raise('/var/lib/posthorn@gone', 'disk')
  await raise('the inbound listener@gone')
  await orphansChore({ store, clock }).run(new AbortController().signal)
  t.same(
    await open(),
    ['/var/lib/posthorn@one', 'ACME mail.test', 'the inbound listener@one'],
    'those of nodes that were forgotten',
  )
})

t.test('each failure of the examination is a notice with its fix, until it is good', async (t) => {
  const env = { POSTHORN_HTTP_PUBLIC_URL: 'http://127.0.0.1' }
  const { tell, resolver, store } = await doctorRig(t, { env })
  const open = async () => (await openNotices(store.read)).filter(({ kind }) => kind === 'doctor')
  const before = await tell()
  const usual = (await open()).length
  t.equal(usual, before.failures)
  const about = async () => (await open()).filter(({ key }) => key.startsWith('ptr'))
  t.same(await about(), [])

  resolver.set('127.0.0.1', { ptr: [] })
  t.match(await tell(), { failures: usual + 1 })
  t.match(await about(), [
    {
      severity: 'daily',
      count: 1,
      key: /^ptr 127\.0\.0\.1/,
      text: /^Doctor: ptr of 127\.0\.0\.1 fails\n./,
      fix: /.\nposthorn doctor$/,
    },
  ])
  await tell()
  t.match(await about(), [{ count: 2 }], 'it counts, and is one')
  // No answer is no knowledge: what was found stays as it was.
  resolver.set('127.0.0.1', { fail: 'SERVFAIL' })
  t.match(await tell(), { failures: usual })
  t.equal((await about()).length, 1)
  resolver.set('127.0.0.1', goodWorld['127.0.0.1'])
  await tell()
  t.same(await about(), [])
  t.match(await pastNotices(store.read, 1), [{ kind: 'doctor', key: /^ptr/ }])

  // A listing is told by the job that asks more often, and burns there.
  resolver.set('1.0.0.127.list.test', { a: ['127.0.0.4'] })
  t.match(await tell(), { failures: usual + 1 })
  t.equal((await open()).length, usual)
})

t.test('where nobody answers, nothing that was told is settled', async (t) => {
  const env = {
    POSTHORN_OUTBOUND_SOURCE_ADDRESSES: '',
    POSTHORN_OUTBOUND_IP_FAMILY: 'both',
    POSTHORN_HTTP_PUBLIC_URL: 'http://127.0.0.1',
  }
  const { tell, resolver, store } = await doctorRig(t, { env })
  const home = goodWorld['mail.posthorn.test']
  const home6 = { ...home, aaaa: ['2001:db8::25'] }
  const about = async () =>
    (await openNotices(store.read))
      .map(({ key }) => key)
      .filter((key) => /^(ptr|listener)/.test(key))
  resolver.set('mail.posthorn.test', home6)
  resolver.set('127.0.0.1', { ptr: [] })
  await tell()
  const told = ['ptr 127.0.0.1', 'ptr 2001:db8::25']
  t.same((await about()).sort(), told)
  // The name answers for one family alone, then for none; then the whole DNS is silent.
  const { aaaa, mx, a, txt } = resolver
  const fail = async () => ({ kind: 'failed', cause: 'SERVFAIL' }) as const
  resolver.aaaa = fail
  await tell()
  t.same((await about()).sort(), told)
  resolver.a = fail
  await tell()
  t.same((await about()).sort(), told)
  Object.assign(resolver, { mx: fail, txt: fail })
  await tell()
  t.same((await about()).sort(), told)
  Object.assign(resolver, { aaaa, mx, a, txt })
  resolver.set('mail.posthorn.test', home)
  await tell()
  t.same(await about(), ['ptr 127.0.0.1'], 'the other address is gone')
})

t.test('a listing of an address that the DNS does not name just now burns on', async (t) => {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  const resolver = fakeResolver({
    '2.0.0.127.list.test': { a: ['127.0.0.2'] },
    'mail.shop.test': { a: ['192.0.2.1'] },
    [listed]: { a: ['127.0.0.4'] },
  })
  const env = {
    POSTHORN_OUTBOUND_HELO_NAME: 'mail.shop.test',
    POSTHORN_DOCTOR_BLOCKLISTS: 'list.test',
  }
  const look = () => tellBlocklists({ store, clock, resolver, config: loadConfig({ env }) })
  await look()
  t.equal((await openNotices(store.read)).length, 1)
  resolver.set('mail.shop.test', { fail: 'SERVFAIL' })
  t.match(await look(), { asked: 0, listed: 0 })
  t.equal((await openNotices(store.read)).length, 1)
  resolver.set('mail.shop.test', { a: ['192.0.2.9'] })
  await look()
  t.same(await openNotices(store.read), [], 'it is not ours any more')
})

t.test('a certificate that nobody shows just now is not mended', async (t) => {
  const { expired, ca } = await testCertificates(t)
  const server = createServer(expired, () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const clock = new FakeClock(Date.now())
  const store = await openTestStore(t, { clock })
  const env = { POSTHORN_HTTP_PUBLIC_URL: `https://mail.posthorn.test:${port}` }
  const config = loadConfig({ env })
  const resolver = fakeResolver({ 'mail.posthorn.test': { a: ['127.0.0.1'] } })
  const look = () =>
    tellCertificates({ store, clock, resolver, config, dataDir: '/tmp', ca: ca.cert })
  await look()
  const open = async () => (await openNotices(store.read)).map(({ key }) => key)
  t.same(await open(), ['mail.posthorn.test'])
  resolver.set('mail.posthorn.test', { fail: 'SERVFAIL' })
  t.match(await look(), { looked: 0 })
  t.same(await open(), ['mail.posthorn.test'], 'no answer of the DNS')
  resolver.set('mail.posthorn.test', { a: ['127.0.0.1'] })
  await new Promise((resolve) => server.close(resolve))
  await look()
  t.same(await open(), ['mail.posthorn.test'], 'no server')
})
