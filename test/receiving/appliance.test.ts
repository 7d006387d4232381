import { randomBytes } from 'node:crypto'
import t from 'tap'
import { idOf, startSubmission, submit } from '../submission/start.js'
import { openReceiver } from '../support/receiver.js'
import {
  addRule,
  giveMail,
  receiveAt,
  startReceiving,
  when,
  whenRead,
} from '../support/receiving.js'

t.setTimeout(300_000)

const answer = (inReplyTo: string) => `From: Ann <ann@example.test>
To: support@in.sender.test
Subject: =?utf-8?q?Re:_Gr=C3=BC=C3=9Fe?=
Message-ID: <1@example.test>
In-Reply-To: ${inReplyTo}
Content-Type: multipart/mixed; boundary=b

--b
Content-Type: text/plain; charset=utf-8

Thank you!

On Friday, Shop <shop@sender.test> wrote:
> Your order is on its way.
--b
Content-Type: application/pdf; name="../../bill\u202e.pdf"
Content-Disposition: attachment
Content-Transfer-Encoding: base64

JVBERg==
--b--
`

t.test('mail for an address that a rule names is taken, read, told, and found', async (t) => {
  const posthorn = await startReceiving(t, { env: { POSTHORN_WEBHOOKS_ALLOW: '127.0.0.1' } })
  const { inboundSmtpPort: port } = posthorn.appliance
  const receiver = await openReceiver(t)
  await posthorn.call('POST', '/v1/webhooks', {
    body: { url: receiver.url, events: ['email.received'] },
  })
  const sent = await posthorn.send({
    from: 'shop@sender.test',
    to: 'ann@example.test',
    subject: 'Grüße',
    html: 'Hello',
  })
  const { messageId } = await posthorn.email(sent.json.id)
  const mail = answer(messageId ?? '')
  t.match(await giveMail(t, port, 'support@in.sender.test', mail), /^550 5\.1\.1 No such mailbox/)
  const added = await addRule(posthorn, { pattern: 'support@in.sender.test', action: 'webhook' })
  t.match(added, { place: 1, pattern: 'support@in.sender.test', enabled: true, forwardTo: null })
  t.match(await giveMail(t, port, 'other@in.sender.test', mail), /^550 5\.1\.1/)
  t.match(await giveMail(t, port, 'support@elsewhere.test', mail), /^550 5\.7\.1/)
  t.match(await giveMail(t, port, 'Support@in.sender.test', mail), /^250 /)
  const [found] = await whenRead(posthorn)
  t.match(found, {
    recipient: 'support@in.sender.test',
    from: 'Ann <ann@example.test>',
    envelopeFrom: 'ann@example.test',
    subject: 'Re: Grüße',
    messageId: '<1@example.test>',
    emailId: sent.json.id,
    ruleId: added.id,
    state: 'read',
    text: 'Thank you!',
    quoted: 'On Friday, Shop <shop@sender.test> wrote:\n> Your order is on its way.',
    checks: { dkim: 'none', arc: 'none' },
    automatic: null,
    attachments: [{ number: 1, filename: 'bill.pdf', contentType: 'application/pdf', size: 4 }],
  })
  await receiver.until((received) => received.length === 1)
  t.match(receiver.received[0]?.json, {
    event: 'email.received',
    emailId: found.id,
    to: ['support@in.sender.test'],
    subject: 'Re: Grüße',
    received: {
      text: 'Thank you!',
      answers: sent.json.id,
      attachments: [{ filename: 'bill.pdf' }],
    },
  })
  const stranger = await posthorn.addAccount('Other')
  const { status } = await posthorn.call('GET', `/v1/received/${found.id}`, {
    key: stranger.apiKey,
  })
  t.equal(status, 404)
  t.equal((await posthorn.call('DELETE', `/v1/received/${found.id}`)).status, 200)
  t.same((await posthorn.call('GET', '/v1/received')).json.received, [])
})

t.test(
  'an answer finds the mail that a program has handed in, at once, and nobody else’s',
  async (t) => {
    const posthorn = await startSubmission(t, { dns: { '*': {} } })
    await receiveAt(posthorn, 'in.sender.test')
    await addRule(posthorn, { pattern: '*@in.sender.test', action: 'store' })
    const { inboundSmtpPort: port } = posthorn.appliance
    const own = '<Order.17@Shop.example>'
    const message = `Message-ID: ${own}\r\nFrom: ada@sender.test\r\nSubject: Order\r\n\r\nHello\r\n`
    const id = idOf(await submit(await posthorn.loggedIn(), message))
    t.equal((await posthorn.email(id)).messageId, own)
    const stranger = await posthorn.addAccount('Other')
    const reply = (headers: string) => `From: ann@example.test\nSubject: Re\n${headers}\n\nThanks\n`
    const give = async (headers: string) => {
      await giveMail(t, port, 'a@in.sender.test', reply(headers))
      const all = await when(
        () => whenRead(posthorn),
        (found) => found.length > given,
      )
      given = all.length
      return all[0].emailId
    }
    let given = 0
    t.equal(await give(`In-Reply-To: ${own}`), id)
    t.equal(await give(`In-Reply-To: <else@x.test>\nReferences: ${own} <else@x.test>`), id)
    t.equal(await give('In-Reply-To: <order.18@shop.example>'), null)
    t.equal((await posthorn.call('GET', `/v1/received?emailId=${id}`)).json.received.length, 2)
    // Others who receive, and name what this account has sent, learn nothing of it.
    await posthorn.store.write((tx) =>
      tx
        .updateTable('emails')
        .set({ account_id: stranger.accountId })
        .where('id', '=', id)
        .execute(),
    )
    t.equal(await give(`In-Reply-To: ${own}`), null)
  },
)

t.test('a large mail and its file come whole, in pieces that hold up nobody', async (t) => {
  const posthorn = await startReceiving(t)
  await addRule(posthorn, { pattern: '*@in.sender.test', action: 'store' })
  // Lengths that no three octets make.
  const file = randomBytes(1_000_001)
  const raw = Buffer.from(
    `Subject: Large\r\nContent-Type: application/pdf; name=a.pdf\r\nContent-Transfer-Encoding: base64\r\n\r\n${file
      .toString('base64')
      .replace(/.{76}/g, '$&\r\n')}\r\n`,
  )
  const { inboundSmtpPort: port } = posthorn.appliance
  t.match(await giveMail(t, port, 'a@in.sender.test', raw), /^250 /)
  const [mail] = await whenRead(posthorn)
  const path = `/v1/received/${mail.id}`
  const source = await posthorn.call('GET', `${path}/raw`)
  t.equal(source.headers.get('content-length'), null, 'no answer of that length is held')
  t.ok(Buffer.from(source.json.content, 'base64').equals(Buffer.concat([raw, Buffer.from('\r\n')])))
  t.equal(source.json.id, mail.id)
  const one = (await posthorn.call('GET', `${path}/attachments/1`)).json
  t.match(one, { filename: 'a.pdf', size: 1_000_001, sha256: mail.attachments[0].sha256 })
  t.ok(Buffer.from(one.content, 'base64').equals(file))
  t.equal((await posthorn.call('GET', `${path}/attachments/2`)).status, 404)
})
