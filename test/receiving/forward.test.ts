import { authenticate } from 'mailauth'
import t from 'tap'
import { listMessages, rawMessage } from '../../src/sandbox/index.js'
import { addRule, giveMail, startReceiving, when, whenRead } from '../support/receiving.js'

t.setTimeout(300_000)

const mail = `From: Ann <ann@example.test>\nTo: all@in.sender.test\nSubject: Hello\nMessage-ID: <1@example.test>\nContent-Type: text/plain\n\nHow are you?  \n\nAnn\n`

t.test('a mail is sent on as it came, signed and sealed, with a return path of ours', async (t) => {
  const posthorn = await startReceiving(t)
  const { inboundSmtpPort: port } = posthorn.appliance
  await addRule(posthorn, {
    pattern: '*@in.sender.test',
    action: 'forward',
    forwardTo: 'team@elsewhere.test',
  })
  t.match(await giveMail(t, port, 'all@in.sender.test', mail), /^250 /)
  const arrived = await when(
    () => listMessages(posthorn.store, { limit: 10 }),
    (messages) => messages.length > 0,
  )
  const [copy] = arrived
  t.same(copy?.recipients, ['team@elsewhere.test'])
  t.match(copy?.mailFrom, /^ba[a-z2-7]{29}@/, 'the envelope is ours')
  const raw = (await rawMessage(posthorn.store, copy?.id ?? 0)) ?? Buffer.alloc(0)
  const text = raw.toString()
  t.ok(text.endsWith(`${mail}\n`.replaceAll('\n', '\r\n')), 'byte for byte')

  const { domains } = (await posthorn.call('GET', '/v1/domains')).json
  const { records } = (await posthorn.call('GET', `/v1/domains/${domains[0].id}`)).json
  const found = await authenticate(raw, {
    ip: '127.0.0.1',
    helo: 'mail.test',
    sender: copy?.mailFrom ?? '',
    mta: 'mx.elsewhere.test',
    disableBimi: true,
    resolver: async (name: string, type: string) => {
      const of = records.filter(
        (record: { name: string; type: string }) => record.name === name && record.type === type,
      )
      if (of.length === 0) throw Object.assign(new Error('none'), { code: 'ENODATA' })
      return of.map(({ value }: { value: string }) => [value])
    },
  })
  t.match(found.arc, { status: { result: 'pass' } })
  t.match(
    found.dkim.results.map(({ status, signingDomain }) => `${signingDomain} ${status.result}`),
    ['sender.test pass', 'sender.test pass'],
  )
  t.match(text, /^ARC-Authentication-Results: i=1; .*\r\n(?:[ \t].*\r\n)*/m)

  const [first] = await whenRead(posthorn)
  t.match(first.forward, { to: 'team@elsewhere.test' })
  await when(
    () => whenRead(posthorn),
    ([one]) => one.forward.status === 'delivered',
  )
  t.equal(
    (await posthorn.call('GET', '/v1/emails')).json.emails.length,
    0,
    'it is no mail of theirs',
  )

  // It comes back to where it was sent on from.
  t.match(await giveMail(t, port, 'all@in.sender.test', raw), /^250 /)
  const [again] = await whenRead(posthorn, 2)
  t.match(again, { loop: true, forward: { status: 'refused', detail: /sent on from here before/ } })
})

t.test('a mail that cannot be sent on is told at the mail, and counts for no rate', async (t) => {
  const posthorn = await startReceiving(t)
  await addRule(posthorn, {
    pattern: 'a@in.sender.test',
    action: 'forward',
    forwardTo: 'bounced@simulator.posthorn.test',
  })
  await giveMail(t, posthorn.appliance.inboundSmtpPort, 'a@in.sender.test', mail)
  const [one] = await when(
    () => whenRead(posthorn),
    ([one]) => one.forward.status === 'bounced',
  )
  t.match(one.forward.detail, /550 5\.1\.1/)
  const rows = await posthorn.store.read
    .selectFrom('protection_hours')
    .selectAll()
    .where('account_id', '=', posthorn.accountId)
    .execute()
  t.same(rows, [])
  const there = await listMessages(posthorn.store, { limit: 10 })
  t.same(there, [], 'nobody is told by mail')
})

t.test('nothing leaves as proved that came in unproved, nor what no signature fits', async (t) => {
  const env = { POSTHORN_OUTBOUND_HELO_NAME: 'mx.own.test' }
  const posthorn = await startReceiving(t, { env })
  const { inboundSmtpPort: port } = posthorn.appliance
  const forwardTo = 'team@elsewhere.test'
  await addRule(posthorn, { pattern: '*@in.sender.test', action: 'forward', forwardTo })
  const forged = [
    'From: CEO <ceo@sender.test>',
    'From: ceo@sub.sender.test',
    'From: ceo@SENDER.TEST., a@x.test',
    'From: "a@x.test" <ceo@sender.test>',
    'From: a@x.test\n  , ceo@sender.test',
    'From: ceo@(a@x.test)sender.test',
    'From: (")ceo@sender (a (b)) . test(")',
    'From: ceo@\uff53ender\u3002test',
  ]
  const unfit = [
    'To: y',
    'From: a@x.test\nFrom: b@x.test',
    'From: a@x.test\nno field',
    'From: =?utf-8?Q?ceo=40sender.test?=',
    'From: ceo@=?utf-8?Q?sender.test?=',
    `From: ${'('.repeat(5_000)}ceo@sender.test`,
  ]
  for (const header of [...forged, ...unfit]) {
    const given = `Subject: x\n${header}\n\nx\n`
    t.match(await giveMail(t, port, 'b@in.sender.test', given, { from: 'evil@x.test' }), /^250 /)
  }
  const all = (await whenRead(posthorn, forged.length + unfit.length)).toReversed()
  for (const { forward } of all.slice(0, forged.length)) {
    t.match(forward, { status: 'refused', detail: /^Its From is at .*sender\.test.*proves/ })
  }
  t.match(
    all.slice(forged.length).map(({ forward }) => `${forward.status}: ${forward.detail}`),
    [
      /^refused: It has no From/,
      /^refused: It has 2 From/,
      /^refused: .*a line that is no field/,
      ...Array(3).fill(/^refused: Its From has no address/),
    ],
  )
  const result = 'Authentication-Results: (x) mx.own.test; dkim=pass'
  const pad = 'X-Pad: x\n'.repeat(210)
  const named = mail.replace('Ann <', '"ceo@sender.test" <')
  const thread = Array.from({ length: 90 }, (_, n) => `<${n}.0123456789012345@x.test>\n `)
  const marked = `${result}\nBcc: b@x.test\n${pad}References: ${thread.join('')}\n${named}`
  t.match(await giveMail(t, port, 'b@in.sender.test', marked), /^250 /)
  const [read] = await whenRead(posthorn, forged.length + unfit.length + 1)
  t.match(read, { subject: 'Hello', messageId: '<1@example.test>' }, 'behind 200 fields')
  t.equal(read.references[0], '<0.0123456789012345@x.test>')
  t.equal(read.references.at(-1), '<89.0123456789012345@x.test>')
  t.notMatch(JSON.stringify(read.headers), /dkim=pass/)
  const [copy] = await when(
    () => listMessages(posthorn.store, { limit: 10 }),
    (messages) => messages.length > 0,
  )
  const sent = String(await rawMessage(posthorn.store, copy?.id ?? 0))
  t.ok(sent.includes(`${pad}References: <0.`.replaceAll('\n', '\r\n')), 'the rest as it came')
  t.notMatch(sent, /^(?:Bcc|Authentication-Results):/m)
})

t.test('a rule leads nowhere that it comes back from at once', async (t) => {
  const posthorn = await startReceiving(t)
  const { status, json } = await posthorn.call('POST', '/v1/receiving/rules', {
    body: { pattern: '*@in.sender.test', action: 'forward', forwardTo: 'b@in.sender.test' },
  })
  t.match({ status, json }, { status: 422, json: { field: 'forwardTo', error: /in circles/ } })
})
