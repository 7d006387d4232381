import t from 'tap'
import { Talk } from '../sandbox/talk.js'
import { addRule, giveMail, startReceiving, whenRead } from '../support/receiving.js'

const hello = 'From: Ann <ann@example.test>\r\nSubject: Hello\r\n\r\nHello\r\n'

t.test('a quoted local part is taken, as sender and as recipient', async (t) => {
  const posthorn = await startReceiving(t)
  const port = posthorn.appliance.inboundSmtpPort ?? 0
  await addRule(posthorn, { pattern: 'support@in.sender.test', action: 'store' })
  await addRule(posthorn, { pattern: '*@in.sender.test', action: 'store' })
  const senders = [
    ['<"a b"@x.test>', '"a b"@x.test'],
    ['<"a\\"b"@x.test> SIZE=2000 BODY=8BITMIME', '"a\\"b"@x.test'],
    ['<"a@b"@x.test>', '"a@b"@x.test'],
    ['<"a>b:c"@x.test> SIZE=2000', '"a>b:c"@x.test'],
    ['<""@x.test>', '""@x.test'],
    ['<"ann"@x.test>', 'ann@x.test'],
    ['<@relay.test,@other.test:"a b"@x.test>', '"a b"@x.test'],
    ['"a b"@x.test SIZE=2000', '"a b"@x.test'],
    ['<"a b"@[192.0.2.1]>', '"a b"@[192.0.2.1]'],
    ['<ann@[IPv6:2001:db8::1]>', 'ann@[IPv6:2001:db8::1]'],
  ] as const
  for (const [path, address] of senders) {
    const { talk } = await Talk.greeted(t, port)
    await talk.say('EHLO client.test')
    t.match(await talk.say(`MAIL FROM:${path}`), /^250 /, path)
    t.match(await talk.say('RCPT TO:<"support"@in.sender.test> '), /^250 /)
    await talk.say('DATA')
    talk.write(hello)
    t.match(await talk.say('\r\n.'), /^250 /)
    const [mail] = await whenRead(posthorn)
    t.equal(mail.envelopeFrom, address)
    t.equal(mail.recipient, 'support@in.sender.test', 'the same mailbox as without quotes')
    await posthorn.call('DELETE', `/v1/received/${mail.id}`)
  }
  t.match(await giveMail(t, port, '"A @ B"@in.sender.test', hello), /^250 /)
  t.match((await whenRead(posthorn))[0], { recipient: '"a @ b"@in.sender.test' })
  const { talk } = await Talk.greeted(t, port)
  await talk.say('EHLO client.test')
  for (const path of [
    '<"a b@x.test>',
    '<"a b"@>',
    '<"a b"c@x.test>',
    '<"a\u0001b"@x.test>',
    '<"a\u200bb"@x.test>',
    '<"a b"@x..test>',
    '<"a b"@x.test>SIZE=1',
  ]) {
    t.match(await talk.say(`MAIL FROM:${path}`), /^501 /, path)
  }
  t.match(
    await talk.say('MAIL FROM:<"a b"@x.test> SIZE=99999999'),
    /^552 /,
    'what stands behind counts',
  )
})

t.test('a rule that is deleted after RCPT still decides about that mail', async (t) => {
  const posthorn = await startReceiving(t)
  const port = posthorn.appliance.inboundSmtpPort ?? 0
  const { id } = await addRule(posthorn, { pattern: '*@in.sender.test', action: 'store' })
  const { talk } = await Talk.greeted(t, port)
  await talk.say('EHLO client.test')
  await talk.say('MAIL FROM:<ann@example.test>')
  t.match(await talk.say('RCPT TO:<a@in.sender.test>'), /^250 /)
  t.equal((await posthorn.call('DELETE', `/v1/receiving/rules/${id}`)).status, 200)
  await talk.say('DATA')
  talk.write(hello)
  t.match(await talk.say('\r\n.'), /^250 /)
  const [mail] = await whenRead(posthorn)
  t.match(mail, { ruleId: id, action: 'store', state: 'read' })
  await new Promise((resolve) => setTimeout(resolve, 1_100))
  t.match(await giveMail(t, port, 'a@in.sender.test', hello), /^550 5\.1\.1/, 'and no other')
})
