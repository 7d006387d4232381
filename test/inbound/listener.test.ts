import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { createAccount } from '../../src/accounts/index.js'
import { listOperatorMails } from '../../src/inbound/index.js'
import { firstSerialAt } from '../../src/store/index.js'
import { FakeClock } from '../support/clock.js'
import { makeTempDir, openTestStore } from '../support/store.js'
import { testCertificates } from '../support/tls.js'
import { dayMs, returnHost, returnPathOf, returnPaths, startInbound } from './start.js'

const mail = 'From: <ada@example.test>\r\nSubject: =?utf-8?q?Hall=C3=B6chen?=\r\n\r\nHello\r\n'
const spooled = (store: Awaited<ReturnType<typeof openTestStore>>) =>
  store.read.selectFrom('inbound_spool').selectAll().execute()

t.test(
  'it takes mail for signed return paths and its few mailboxes, and for no other',
  async (t) => {
    const clock = new FakeClock()
    const store = await openTestStore(t, { clock })
    const account = await createAccount({ store, clock }, 'Shop')
    for (const [name, status] of [
      ['sender.test', 'verified'],
      ['xn--mnchen-3ya.test', 'verified'],
      ['pending.test', 'pending'],
    ] as const) {
      const of = { id: name, account_id: account.id, name, status, trusted: 1, return_path: 1 }
      const at = { created_at: 0, verified_at: null, checked_at: null }
      await store.write((tx) =>
        tx
          .insertInto('domains')
          .values({ ...of, ...at })
          .execute(),
      )
    }
    const inbound = await startInbound(t, { reads: false, store, clock })
    const own = returnPathOf(store)
    const old = returnPaths.addressOf(store.ids.serial(), 'gone.test')
    const expired = returnPaths.addressOf(firstSerialAt(clock.now() - 65 * dayMs), returnHost)
    const forged = own.replace(
      /^(.{10})(.)/,
      (_, head, letter) => head + (letter === 'a' ? 'b' : 'a'),
    )

    const client = await inbound.talk()
    t.match(await client.say('EHLO client.test'), /SIZE 20971520/)
    t.equal(await client.say(`RCPT TO:<${own}>`), '503 Error: need MAIL command')
    t.match(await client.say('MAIL FROM:<>'), /^250 /)
    for (const [recipient, reply] of [
      [own, '250 Accepted'],
      [own.toUpperCase(), '250 Accepted'],
      // Its host is none of ours any more; its signature is.
      [old, '250 Accepted'],
      ['postmaster', '250 Accepted'],
      ['PostMaster@mail.posthorn.test', '250 Accepted'],
      ['abuse@returns.posthorn.test', '250 Accepted'],
      ['abuse@bounce.sender.test', '250 Accepted'],
      ['abuse@bounce.xn--mnchen-3ya.test', '250 Accepted'],
      ['feedback@Bounce.Sender.Test', '250 Accepted'],
      [expired, '550 5.1.1 This return path has expired'],
      [forged, '550 5.1.1 No such mailbox'],
      [own.replace('bounce.sender.test', 'mail.posthorn.test'), '550 5.1.1 No such mailbox'],
      ['ada@mail.posthorn.test', '550 5.1.1 No such mailbox'],
      ['postmaster@sender.test', '550 5.7.1 No mail is relayed'],
      ['postmaster@bounce.pending.test', '550 5.7.1 No mail is relayed'],
      ['ada@elsewhere.test', '550 5.7.1 No mail is relayed'],
      ['ada%elsewhere.test@mail.posthorn.test', '550 5.1.1 No such mailbox'],
      ['@mail.posthorn.test:ada@elsewhere.test', '550 5.7.1 No mail is relayed'],
    ] as const) {
      t.equal(await client.say(`RCPT TO:<${recipient}>`), reply, recipient)
    }
    const refused = (codes: string) =>
      inbound.counted.get(`posthorn_inbound_refusals_total ${codes}`)
    t.same([refused('550 5.1.1'), refused('550 5.7.1')], [5, 4])
  },
)

t.test(
  'a mail is on disk when its final dot is answered, the same once for all of its kind',
  async (t) => {
    const store = await openTestStore(t)
    const inbound = await startInbound(t, { reads: false, store })
    const [one, two] = [returnPathOf(store), returnPathOf(store)]
    t.match(await inbound.give(mail, [one, two, 'postmaster', 'ABUSE@mail.posthorn.test']), /^250 /)
    const [row, ...others] = await spooled(store)
    t.same(others, [])
    t.same(JSON.parse(row?.recipients ?? ''), [one, two])
    t.equal(row?.raw.toString(), `${mail}\r\n`)
    t.match(await listOperatorMails(store.read, 10), [
      { recipient: 'abuse@mail.posthorn.test', subject: 'Hallöchen', mailFrom: '' },
      { recipient: 'postmaster@mail.posthorn.test', headerFrom: '<ada@example.test>' },
    ])
  },
)

t.test('what cannot be stored is not taken: the client is to come again', async (t) => {
  const store = await openTestStore(t)
  const full = () => Promise.reject(new Error('disk full'))
  const broken = { ...store, write: full, gather: () => full }
  const inbound = await startInbound(t, { reads: false, store: broken })
  t.match(await inbound.give(mail, returnPathOf(store)), /^451 4\.3\.0 /)
  t.same(await spooled(store), [])
})

t.test('too large, too many hops, too many recipients, mails or guesses are refused', async (t) => {
  const store = await openTestStore(t)
  const inbound = await startInbound(t, { reads: false, store })
  const own = returnPathOf(store)
  const hops = (count: number) => 'Received: from a by b; now\r\n'.repeat(count) + mail
  t.match(await inbound.give(hops(101), own), /^554 5\.4\.6 /)
  t.match(await inbound.give(hops(100), own), /^250 /)
  t.match(await inbound.give(Buffer.alloc(20 * 2 ** 20, 'x\r\n'), own), /^552 /)
  t.match(await inbound.give(Buffer.alloc(2 ** 20, 'x\r\n'), own), /^250 /)
  const [, large] = await spooled(store)
  t.equal(large?.raw.length, 512 * 1024, 'only what will be read is kept')

  const client = await inbound.talk()
  await client.say('EHLO client.test')
  t.match(await client.say('MAIL FROM:<> SIZE=99999999'), /^552 /)
  await client.say('MAIL FROM:<>')
  for (let i = 0; i < 100; i++) await client.say(`RCPT TO:<${returnPathOf(store)}>`)
  t.match(await client.say(`RCPT TO:<${returnPathOf(store)}>`), /^452 /)
  t.match(await client.say('RSET'), /^250 /)
  await client.say('MAIL FROM:<>')
  const replies = []
  for (let i = 0; i < 21; i++) replies.push(await client.say(`RCPT TO:<b${i}@mail.posthorn.test>`))
  t.match(replies.at(19), /^550 5\.1\.1 /)
  t.match(replies.at(20), /^421 4\.7\.0 /)

  const chatty = await inbound.talk()
  await chatty.say('EHLO client.test')
  const transaction = async () => {
    const begun = await chatty.say('MAIL FROM:<>')
    if (!begun.startsWith('250')) return begun
    await chatty.say(`RCPT TO:<${own}>`)
    await chatty.say('DATA')
    return await chatty.say('x\r\n.')
  }
  const answers = []
  for (let i = 0; i < 101; i++) answers.push(await transaction())
  t.match(answers.at(99), /^250 /)
  t.match(answers.at(100), /^421 4\.7\.0 /)
})

t.test('a flood from one address locks out nobody else', async (t) => {
  const inbound = await startInbound(t, {
    reads: false,
    config: { maxConnections: 6, connectionsPerAddress: 4 },
  })
  const flood = []
  for (let i = 0; i < 4; i++) flood.push(await inbound.talk('127.0.0.2'))
  t.match(await inbound.greeting('127.0.0.2'), /^421 4\.7\.0 /, 'no fifth one')
  const other = await inbound.talk('127.0.0.3')
  await inbound.talk('127.0.0.4')
  t.match(await inbound.greeting('127.0.0.5'), /^220 /, 'the flood makes room')
  t.match(await inbound.greeting('127.0.0.6'), /^220 /)
  t.equal(await flood[0]?.reply(), 'closed', 'its oldest connections go first')
  t.equal(await flood[1]?.reply(), 'closed')
  t.match(await flood[2]?.say('NOOP'), /^250 /)
  t.match(await other.say('NOOP'), /^250 /)
})

t.test('who has many reports waiting is asked to wait, others are not', async (t) => {
  const store = await openTestStore(t)
  const before = await startInbound(t, { reads: false, store, config: { maxWaiting: 10 } })
  const own = returnPathOf(store)
  t.match(await before.give(mail, own), /^250 /)
  await before.close()
  // What waited at the start counts.
  const inbound = await startInbound(t, { reads: false, store, config: { maxWaiting: 10 } })
  const full = await inbound.talk()
  await full.say('EHLO client.test')
  t.match(await full.say('MAIL FROM:<>'), /^452 4\.3\.1 /)
  const neighbour = await inbound.talk('127.0.0.2')
  await neighbour.say('EHLO client.test')
  t.match(await neighbour.say('MAIL FROM:<>'), /^452 4\.3\.1 /, 'of the same network')
  const other = await inbound.talk('127.0.1.2')
  await other.say('EHLO client.test')
  t.match(await other.say('MAIL FROM:<>'), /^250 /)
})

t.test('the operator gets twenty mails an hour from one address', async (t) => {
  const clock = new FakeClock()
  const inbound = await startInbound(t, { reads: false, clock })
  const client = await inbound.talk()
  await client.say('EHLO client.test')
  const replies = []
  for (let i = 0; i < 21; i++) {
    await client.say('MAIL FROM:<>')
    replies.push(await client.say('RCPT TO:<postmaster>'))
    await client.say('RSET')
  }
  t.match(replies.at(19), /^250 /)
  t.match(replies.at(20), /^450 4\.7\.1 /)
  await clock.advance(3_600_000)
  t.match(await inbound.give(mail, 'postmaster'), /^250 /)
})

t.test('the silent and the slow are hung up on', async (t) => {
  const clock = new FakeClock()
  const inbound = await startInbound(t, { reads: false, clock, config: { idleTimeout: 300 } })
  const silent = await inbound.talk()
  t.match(await silent.reply(), /^421 /)
  const slow = await inbound.talk()
  // Never idle, but at it for half an hour.
  t.match(await slow.say('NOOP'), /^250 /)
  await clock.advance(30 * 60_000)
  t.equal(await slow.reply(), 'closed')
})

t.test('STARTTLS has the certificate of the files, a renewed one after a reload', async (t) => {
  const { valid, selfSigned } = await testCertificates(t, 'mail.posthorn.test')
  const dir = makeTempDir(t)
  const tls = { certificate: join(dir, 'cert.pem'), key: join(dir, 'key.pem') }
  const put = ({ certFile, keyFile }: typeof valid) => {
    copyFileSync(certFile, tls.certificate)
    copyFileSync(keyFile, tls.key)
  }
  put(valid)
  const store = await openTestStore(t)
  const inbound = await startInbound(t, { reads: false, store, config: { tls } })
  const secured = async ({ talk } = inbound) => {
    const client = await talk()
    t.match(await client.say('EHLO client.test'), /STARTTLS/)
    await client.say('STARTTLS')
    const certificate = await client.secure()
    return { client, pem: certificate.toString('base64') }
  }
  const body = (pem: string) => pem.split('-----')[2]?.replaceAll('\n', '')
  const { client, pem } = await secured()
  t.equal(pem, body(valid.cert))
  t.notMatch(await client.say('EHLO client.test'), /STARTTLS/)
  await client.say('MAIL FROM:<>')
  t.match(await client.say(`RCPT TO:<${returnPathOf(store)}>`), /^250 /)

  copyFileSync(selfSigned.certFile, tls.certificate)
  inbound.reload()
  t.equal((await secured()).pem, body(valid.cert), 'a pair that does not fit changes nothing')
  put(selfSigned)
  inbound.reload()
  t.equal((await secured()).pem, body(selfSigned.cert))
  await inbound.close()

  await t.rejects(startInbound(t, { reads: false, config: { tls: { ...tls, key: '/nowhere' } } }), {
    message: /cannot be used: ENOENT/,
  })
  const plain = await startInbound(t, { reads: false })
  const other = await plain.talk()
  t.notMatch(await other.say('EHLO client.test'), /STARTTLS/, 'none without files')
})

t.test(
  'sessions under TLS give their places back, when they end and when they are ended',
  async (t) => {
    const { valid } = await testCertificates(t)
    const tls = { certificate: valid.certFile, key: valid.keyFile }
    const inbound = await startInbound(t, { reads: false, config: { tls, maxConnections: 2 } })
    const secured = async () => {
      const client = await inbound.talk()
      await client.say('EHLO client.test')
      await client.say('STARTTLS')
      await client.secure()
      return client
    }
    const done = await secured()
    await done.say('QUIT')
    t.equal(await done.reply(), 'closed')
    const first = await secured()
    const second = await secured()
    t.match(await inbound.greeting('127.0.0.2'), /^220 /)
    t.equal(await first.reply(), 'closed')
    t.match(await second.say('NOOP'), /^250 /)
    t.match(await inbound.greeting('127.0.0.3'), /^421 /)
  },
)

t.test("the operator's oldest mails go first when there are too many", async (t) => {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  const inbound = await startInbound(t, { reads: false, store, clock, config: { keepMails: 2 } })
  for (const subject of ['one', 'two', 'three']) {
    t.match(await inbound.give(`Subject: ${subject}\r\n\r\n`, 'postmaster'), /^250 /)
  }
  await clock.advance(60_000)
  const subjects = async () =>
    (await listOperatorMails(store.read, 9)).map(({ subject }) => subject)
  while ((await subjects()).length > 2) await new Promise((resolve) => setTimeout(resolve, 5))
  t.same(await subjects(), ['three', 'two'])
  // However few they are, they have a size together.
  await store.write((tx) =>
    tx
      .updateTable('operator_mails')
      .set({ size_bytes: 300 * 2 ** 20 })
      .execute(),
  )
  await clock.advance(60_000)
  while ((await subjects()).length > 1) await new Promise((resolve) => setTimeout(resolve, 5))
  t.same(await subjects(), ['three'])
})
