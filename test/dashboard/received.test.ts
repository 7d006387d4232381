import t from 'tap'
import { logIn } from '../support/log-in.js'
import { addRule, giveMail, receiveAt, startReceiving, whenRead } from '../support/receiving.js'

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
