import t from 'tap'
import { logIn } from '../support/log-in.js'
import {
  addRule,
  giveMail,
  receiveAt,
  startReceiving,
  when,
  whenRead,
} from '../support/receiving.js'

t.setTimeout(300_000)

const mail = `From: Ann <ann@example.test>
Subject: <script>alert(1)</script>
Content-Type: multipart/mixed; boundary=b

--b
Content-Type: text/html

<h1 onclick="x()">Hello</h1><script>x()</script>
--b
Content-Type: text/html; name="page.html"
Content-Disposition: attachment; filename="page.html"

<script>x()</script>
--b--
`

t.test('a page shows what came in, with nothing of it that runs', async (t) => {
  const posthorn = await startReceiving(t)
  const { accountId, appliance } = posthorn
  const owner = await logIn(posthorn, accountId, 'owner')
  const base = `/a/${accountId}`
  t.match((await owner.get(`${base}/received`)).text, 'No mail came in yet')
  const added = await owner.post(`${base}/receiving`, {
    pattern: '*@in.sender.test',
    action: 'store',
    forwardTo: '',
  })
  t.equal(added.status, 303)
  t.match(
    (await owner.get(`${base}/receiving?address=a%40in.sender.test`)).text,
    /It is stored, by rule 1/,
  )
  for (const typed of ['a', 'a@b..c', 'a@@b.test']) {
    const { text } = await owner.get(`${base}/receiving?address=${typed}`)
    t.match(text, 'This is no address', typed)
  }
  t.notMatch((await owner.get(`${base}/received?recipient=b%40x.test`)).text, 'publish the MX')
  const long = mail.replace('</script>\nC', `</script>${' long'.repeat(300)}\nC`)
  await giveMail(t, appliance.inboundSmtpPort, 'a@in.sender.test', long)
  const [one] = await whenRead(posthorn)
  const list = await owner.get(`${base}/received`)
  t.match(list.text, 'alert(1)')
  t.notMatch(list.text, /(?: long){40}/, 'two lines of a long subject')
  const { cookie } = owner
  const written = await fetch(`${posthorn.url}${base}/received`, { headers: { cookie } })
  t.notMatch(await written.text(), '<script>alert')
  const shown = await owner.get(`${base}/received/${one.id}`)
  t.match(shown.text, 'The whole subject')
  t.match(shown.text, 'sandbox="allow-popups allow-popups-to-escape-sandbox"')
  t.match(shown.text, /Came in<\/dt>\s*<dd>(?!\d{4}-)/, 'a time for people')
  const framed = await owner.get(`${base}/received/${one.id}/html`)
  t.match(framed.headers.get('content-security-policy'), /default-src 'none'.*sandbox/)
  const file = await owner.get(`${base}/received/${one.id}/files/1`)
  t.match(file.headers.get('content-disposition'), /^attachment; filename="page\.html"/)
  t.equal(file.headers.get('content-type'), 'application/octet-stream')
  t.match((await owner.get(`${base}/received/${one.id}/source`)).text, /^From: Ann/)
  const viewer = await logIn(posthorn, accountId, 'viewer')
  t.equal((await viewer.post(`${base}/received/${one.id}/delete`, {})).status, 403)
  t.equal((await owner.post(`${base}/received/${one.id}/delete`, {})).status, 303)
  t.match((await owner.get(`${base}/audit`)).text, 'Received mail “for a@in.sender.test” deleted')
})

t.test(
  'rules are moved, switched and deleted on their page; a domain says where it receives',
  async (t) => {
    const posthorn = await startReceiving(t)
    const { accountId } = posthorn
    const owner = await logIn(posthorn, accountId, 'owner')
    const base = `/a/${accountId}`
    const first = await addRule(posthorn, { pattern: 'a@in.sender.test', action: 'store' })
    const second = await addRule(posthorn, { pattern: '*@in.sender.test', action: 'webhook' })
    const inOrder = async () =>
      (await posthorn.call('GET', '/v1/receiving/rules')).json.rules.map(
        ({ id }: { id: string }) => id,
      )
    await owner.post(`${base}/receiving/${second.id}/up`, {})
    t.same(await inOrder(), [second.id, first.id])
    await owner.post(`${base}/receiving/${second.id}/down`, {})
    t.same(await inOrder(), [first.id, second.id])
    await owner.post(`${base}/receiving/${first.id}/off`, {})
    const log = await owner.get(`${base}/audit`)
    t.match(log.text, /Rule for incoming mail “a@in\.sender\.test” changed/, 'by its pattern')
    const form = await owner.get(`${base}/receiving/${second.id}`)
    t.match(form.text, 'is refused from then on. 0 mails that came in by it stay.')
    const filled = { pattern: '*@in.sender.test', action: 'webhook', enabled: 'on' }
    const refused = await owner.post(`${base}/receiving/${second.id}`, {
      ...filled,
      pattern: 'x@elsewhere.test',
      place: '1',
    })
    t.equal(refused.status, 422)
    t.match(refused.text, 'x@elsewhere.test', 'what was typed is kept')
    const changed = await owner.post(`${base}/receiving/${second.id}`, {
      ...filled,
      action: 'forward',
      forwardTo: 'team@elsewhere.test',
      place: '1',
    })
    t.equal(changed.status, 303)
    t.same(await inOrder(), [second.id, first.id], 'to place 1')
    t.match((await owner.get(`${base}/receiving`)).text, 'forwarded to team@elsewhere.test')
    const back = await owner.post(`${base}/receiving/${second.id}`, {
      ...filled,
      forwardTo: 'team@elsewhere.test',
      place: '2',
    })
    t.equal(back.status, 303, 'the address of before is no matter of a webhook')
    const moved = await posthorn.call('PATCH', `/v1/receiving/rules/${second.id}`, {
      body: { place: 1 },
    })
    t.match(moved.json, {
      place: 1,
      action: 'webhook',
      moved: [{ id: first.id, pattern: 'a@in.sender.test', place: 2, was: 1 }],
    })
    const stale = await owner.post(`${base}/receiving/${second.id}`, {
      ...filled,
      place: '2',
      revision: 'another',
    })
    t.equal(stale.status, 422)
    t.match(stale.text, 'Changed meanwhile')
    await owner.post(`${base}/receiving/${second.id}/delete`, {})
    await posthorn.call(
      'DELETE',
      `/v1/receiving/rules/${(await addRule(posthorn, { pattern: 'b*@in.sender.test', action: 'store' })).id}`,
    )
    const deleted = (await owner.get(`${base}/audit`)).text
    t.match(deleted, 'Rule for incoming mail “*@in.sender.test” deleted', 'by a page')
    t.match(deleted, 'Rule for incoming mail “b*@in.sender.test” deleted', 'by the API')
    const { rules } = (await posthorn.call('GET', '/v1/receiving/rules')).json
    t.match(rules, [{ id: first.id, enabled: false }])
    const wrong = await owner.post(`${base}/domains/sender.test/receiving`, {
      receivingHost: 'x.test',
    })
    t.equal(wrong.status, 422)
    await owner.post(`${base}/domains/sender.test/receiving`, { receivingHost: '' })
    t.match((await owner.get(`${base}/receiving`)).text, 'No domain receives yet')
    await receiveAt(posthorn, 'sender.test')
    t.match((await owner.get(`${base}/domains/sender.test`)).text, 'Incoming mail: MX')
  },
)

t.test(
  'mail that came in is found by what people know of it, and its answers stand at a mail',
  async (t) => {
    const posthorn = await startReceiving(t)
    const { accountId, appliance, store } = posthorn
    const owner = await logIn(posthorn, accountId, 'owner')
    const base = `/a/${accountId}`
    const kept = await addRule(posthorn, { pattern: 'a@in.sender.test', action: 'store' })
    await addRule(posthorn, {
      pattern: '*@in.sender.test',
      action: 'forward',
      forwardTo: 'bounced@simulator.posthorn.test',
    })
    const { id: sent } = (
      await posthorn.send({
        from: 'shop@sender.test',
        to: 'ann@example.test',
        subject: 'Hello',
        html: 'Hello',
      })
    ).json
    const { messageId } = await posthorn.email(sent)
    const answer = `From: Ann <ann@example.test>\nSubject: Re: yours\nDate: Mon, 30 Nov 2026 10:00:00 +0100\nIn-Reply-To: ${messageId}\n\nThanks\n`
    await giveMail(t, appliance.inboundSmtpPort, 'a@in.sender.test', answer)
    const other = 'From: Bob <bob@example.test>\nSubject: Other\n\nHello\n'
    await giveMail(t, appliance.inboundSmtpPort, 'b@in.sender.test', other)
    const all = await when(
      () => whenRead(posthorn, 2),
      (found) => found.some(({ forward }) => forward?.status === 'bounced'),
    )
    const one = all.find(({ subject }) => subject === 'Re: yours')
    const failed = all.find(({ subject }) => subject === 'Other')
    const listed = async (query: string) => (await owner.get(`${base}/received?${query}`)).text
    for (const query of [
      'recipient=a%40in.sender.test',
      'from=ann',
      `ruleId=${kept.id}`,
      `emailId=${sent}`,
      'state=read&from=ann&range=1h',
    ]) {
      const text = await listed(query)
      t.match(text, 'Re: yours', query)
      t.notMatch(text, '>Other<', query)
    }
    t.match(await listed('state=unreadable'), 'No mail fits')
    t.match(await listed(''), 'not sent on')
    const { received } = (
      await posthorn.call('GET', `/v1/received?receivedBefore=${one.receivedAt}`)
    ).json
    t.same(received, [], 'before the first')
    const shown = (await owner.get(`${base}/received/${one.id}`)).text
    t.match(shown, 'Mon, 30 Nov 2026 10:00:00 +0100')
    t.match(shown, '1: a@in.sender.test')
    const bad = (await owner.get(`${base}/received/${failed.id}`)).text
    t.match(bad, /It was not sent on to bounced@simulator\.posthorn\.test: 550/)
    t.match((await owner.get(`${base}/emails/${sent}`)).text, /Answers to it.*Re: yours/s)
    const { forward_id: copy } = await store.read
      .selectFrom('received')
      .select('forward_id')
      .where('id', '=', failed.id)
      .executeTakeFirstOrThrow()
    await store.write((tx) =>
      tx
        .deleteFrom('emails')
        .where('id', '=', copy ?? '')
        .execute(),
    )
    const { forward } = (await posthorn.call('GET', `/v1/received/${failed.id}`)).json
    t.match(forward, { status: 'gone' }, 'its log is not kept for ever')
  },
)
