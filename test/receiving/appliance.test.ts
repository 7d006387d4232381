import t from 'tap'
import { openReceiver } from '../support/receiver.js'
import { addRule, giveMail, startReceiving, whenRead } from '../support/receiving.js'

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
