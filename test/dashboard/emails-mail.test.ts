// Issue 15, point 2: one mail: what happened to it, why it waits, what it says, and what may be done.
import t from 'tap'
import { fakeMx } from '../support/fake-mx.js'
import { logIn } from '../support/log-in.js'
import { directTo, startPosthorn } from '../support/posthorn.js'

const mx = await fakeMx(t, {
  rcpt: (argument) => {
    if (argument.includes('gone@')) return '550 5.1.1 <i>No such user</i>'
    if (argument.includes('later@')) return '451 4.3.2 Come back <script>later</script>'
    return '250 Ok'
  },
})
const posthorn = await startPosthorn(t, directTo(mx))
const { accountId, store } = posthorn
const base = `/a/${accountId}`
const member = await logIn(posthorn, accountId, 'member')
const viewer = await logIn(posthorn, accountId, 'viewer')
const operator = await logIn(posthorn, accountId, 'operator')
const subject = '<img src=x onerror=alert(1)>'
const html = '<p>Hello <a href="https://shop.test/?a=1&b=2">shop</a></p><script>evil()</script>'
const mail = { from: 'Shop <shop@sender.test>', subject, html }
const send = async (to: string, more: object = {}) => {
  const { json, status } = await posthorn.send({ ...mail, to, ...more })
  if (status !== 200) throw new Error(JSON.stringify(json))
  return json.id as string
}
const inHours = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString()
const scheduled = () => send('ann@one.test', { scheduledAt: inHours(2) })
const show = async (id: string, who = member) => {
  const { status, text } = await who.get(`${base}/emails/${id}`)
  t.equal(status, 200, id)
  t.ok(text.length < 60_000)
  return text
}

t.test('of a delivered mail each step is shown, with the conversation', async (t) => {
  const id = await send('ann@one.test', { tags: [{ name: 'kind', value: 'order' }] })
  await posthorn.until(id, ({ status }) => status === 'delivered')
  const text = await show(id)
  for (const part of ['accepted', 'first attempt', 'delivered', '250', 'kind:order', 'RCPT TO']) {
    t.match(text, part)
  }
  t.notMatch(text, 'Why it waits')
  t.match(text, '&lt;img src=x onerror=alert(1)&gt;')
  t.notMatch(text, '<img src=x')
  const [, path = ''] = /href="([^"]+\/deliveries\/\d+)"/.exec(text) ?? []
  const conversation = await member.get(path)
  t.match(conversation.headers.get('content-type'), 'text/plain')
  t.match(conversation.text, 'RCPT TO:<ann@one.test>')
  t.equal((await member.get(`${base}/emails/${id}/deliveries/1`)).status, 404)
})

t.test('of a refused mail the reply stands word for word, and what it means', async (t) => {
  const id = await send('gone@one.test')
  await posthorn.until(id, ({ status }) => status === 'bounced')
  const text = await show(id)
  t.match(text, '550 5.1.1 &lt;i&gt;No such user&lt;/i&gt;')
  t.match(text, 'This mailbox does not exist.')
  t.notMatch(text, 'bounce-rules.toml', 'a rule and its file are for who can change them')
  t.match((await operator.get(`${base}/emails/${id}`)).text, /Rule: Permanent, bad-mailbox, rule/)
  t.match(text, 'gone@one.test is suppressed (bounce)', 'by the bounce')
})

t.test('of a deferred mail the gate and the next attempt are told', async (t) => {
  const id = await send('later@one.test')
  const { recipients } = await posthorn.until(
    id,
    (email) => email.recipients[0]?.status === 'deferred',
  )
  const text = await show(id)
  t.match(text, 'Why it waits')
  t.match(text, 'The last attempt failed for now: 451 4.3.2 Come back &lt;script&gt;later')
  t.match(text, recipients[0]?.nextAttemptAt?.slice(0, 16), 'when it is tried again')
  t.notMatch(text, '<script>later')
  const overview = (await member.get(base)).text
  t.match(overview, '1 delivery put off or held')
  t.match(overview, 'The last attempt failed for now: 451 4.3.2 Come back')

  const early = await member.post(`${base}/emails/${id}/retry`)
  t.equal(early.status, 422)
  t.match(early.text, 'The last attempt was less than a minute ago')
  await store.write((tx) =>
    tx
      .updateTable('queue')
      .set({ last_attempt_at: Date.now() - 120_000 })
      .where('email_id', '=', id)
      .execute(),
  )
  mx.change({ rcpt: '250 Ok' })
  const { status, to } = await member.post(`${base}/emails/${id}/retry`)
  t.same([status, to], [303, `${base}/emails/${id}`])
  await posthorn.until(id, (email) => email.status === 'delivered')
  t.equal((await member.post(`${base}/emails/${id}/retry`)).status, 422, 'nothing waits any more')
  const done = await show(id)
  const said = done.split('Conversation with the server').slice(1)
  t.equal(said.length, 2, 'each attempt stands with its conversation')
  t.match(said[0], /S: 451 4.3.2 Come back/)
  t.notMatch(said[1], /S: 451/)
  const [, path = ''] = /href="([^"]+\/deliveries\/\d+)"/.exec(done) ?? []
  const whole = (await member.get(path)).text
  t.match(whole, /^20\S+ \S+ UTC\n\n.*S: 451 4.3.2.*\n\n20\S+ \S+ UTC\n\n.*S: 250/s)
})

t.test(
  'the conversation of an earlier attempt is led to, though the last met no server',
  async (t) => {
    mx.change({ rcpt: '451 4.3.2 Come back' })
    const id = await send('later@one.test')
    await posthorn.until(id, (email) => email.recipients[0]?.status === 'deferred')
    const talkless = { last_transcript: '', attempts: 2 }
    await store.write((tx) =>
      tx.updateTable('queue').set(talkless).where('email_id', '=', id).execute(),
    )
    const [, path = ''] = /href="([^"]+\/deliveries\/\d+)"/.exec(await show(id)) ?? []
    t.match((await member.get(path)).text, 'S: 451 4.3.2 Come back')
    mx.change({ rcpt: '250 Ok' })
  },
)

t.test('a scheduled mail waits for its time, and is cancelled by who may send', async (t) => {
  const id = await scheduled()
  t.match(await show(id), 'Scheduled for a later time')
  t.notMatch(await show(id, viewer), 'Cancel this mail')
  t.equal((await viewer.post(`${base}/emails/${id}/cancel`)).status, 403)
  t.equal((await operator.post(`${base}/emails/${id}/cancel`)).status, 403, 'who only looks in')
  t.equal((await member.post(`${base}/emails/${id}/cancel`)).status, 303)
  t.equal((await posthorn.email(id)).status, 'cancelled')
  t.match(await show(id), 'cancelled')
  const again = await member.post(`${base}/emails/${id}/cancel`)
  t.equal(again.status, 422)
  t.match(again.text, 'Only a scheduled email can be cancelled; this one is cancelled')
  const rows = await store.read
    .selectFrom('audit_log')
    .select(['action', 'target'])
    .where('account_id', '=', accountId)
    .where('action', '=', 'email.cancel')
    .execute()
  t.same(rows, [{ action: 'email.cancel', target: id }])
})

t.test('a held mail says that and why', async (t) => {
  const id = await scheduled()
  await store.write((tx) =>
    tx
      .updateTable('queue')
      .set({ held_at: 1, held_reason: 'their <b>postmaster</b> asked', held_due_at: 1 })
      .where('email_id', '=', id)
      .execute(),
  )
  const text = await show(id)
  t.match(text, 'Held: their &lt;b&gt;postmaster&lt;/b&gt; asked')
  t.notMatch(text, 'Retry now')
})

t.test('an address is suppressed from its mail, and let go again', async (t) => {
  const id = await scheduled()
  const post = (what: string, address: string, who = member) =>
    who.post(`${base}/emails/${id}/${what}`, { address })
  t.equal((await post('suppress', 'ann@one.test', viewer)).status, 403)
  t.equal((await post('suppress', 'bob@one.test')).status, 422, 'no recipient of it')
  t.equal((await post('suppress', 'ann@one.test')).status, 303)
  const { json } = await posthorn.call('GET', '/v1/suppressions/ann@one.test')
  t.match(json, { blocks: 'all', suppressions: [{ reason: 'manual', emailId: id }] })
  t.match(await show(id), 'ann@one.test is suppressed (manual)')
  t.equal((await post('unsuppress', 'ann@one.test')).status, 303)
  t.equal((await posthorn.call('GET', '/v1/suppressions/ann@one.test')).json.blocks, null)
  t.equal((await post('unsuppress', 'ann@one.test')).status, 422)
})

t.test('the content is shut into a frame, and the headers are those that left', async (t) => {
  const id = await send('ann@one.test', { text: 'Plain <words>', headers: { 'X-Order': '4711' } })
  await posthorn.until(id, ({ status }) => status === 'delivered')
  const { text } = await viewer.get(`${base}/emails/${id}/content`)
  t.match(text, 'Plain &lt;words&gt;')
  const [, src = ''] = /<iframe[^>]* src="([^"]+)"/.exec(text) ?? []
  const shut = await viewer.get(src)
  t.equal(shut.status, 200)
  t.match(shut.headers.get('content-security-policy'), /default-src 'none'.*sandbox/)
  t.match(shut.text, html, 'as it was written, links without tracking')
  const headers = (await viewer.get(`${base}/emails/${id}/headers`)).text
  t.match(headers, 'X-Order: 4711')
  const left = mx.messages.find(({ raw }) => raw.includes('X-Order: 4711'))?.raw.toString() ?? ''
  const unescaped = headers
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
  const own = left
    .slice(0, left.indexOf('\r\n\r\n'))
    .replace(/^(DKIM-Signature:.*(\r\n\s.*)*\r\n)+/, '')
  for (const line of own.split('\r\n')) t.ok(unescaped.includes(line), line)
  const json = await viewer.get(`${base}/emails/${id}/json`)
  t.same(JSON.parse(json.text), { email: await posthorn.email(id) })
})

t.test('pictures from elsewhere are loaded for who asks for them', async (t) => {
  const picture = '<img src="https://cdn.example.net/a.png" alt="">'
  const id = await send('ann@one.test', { html: picture })
  await posthorn.until(id, ({ status }) => status === 'delivered')
  const content = `${base}/emails/${id}/content`
  const policyIn = async (path: string) => {
    const [, src = ''] = /<iframe[^>]* src="([^"]+)"/.exec((await viewer.get(path)).text) ?? []
    return (await viewer.get(src)).headers.get('content-security-policy')
  }
  t.match((await viewer.get(content)).text, `href="${content}?pictures=all"`)
  t.match(await policyIn(content), /img-src data:;/)
  t.match(await policyIn(`${content}?pictures=all`), /img-src data: https: http:;/)
})

t.test('who only looks gets no link by which the recipient unsubscribes', async (t) => {
  const { plan } = (await posthorn.call('GET', '/v1/broadcasts/plan/usage')).json
  await store.write((tx) =>
    tx.updateTable('subscriptions').set({ marketing_plan_id: plan.id }).execute(),
  )
  const id = await send('ann@one.test', { type: 'marketing', headers: { 'X-Order': '4712' } })
  await posthorn.until(id, ({ status }) => status === 'delivered')
  const left = mx.messages.find(({ raw }) => raw.includes('X-Order: 4712'))?.raw.toString() ?? ''
  t.match(left, /^List-Unsubscribe: <[^>]+\/unsubscribe\/[\w-]{60,}>/m, 'the recipient has it')
  for (const page of ['headers', 'content', 'html', 'text']) {
    for (const who of [viewer, operator]) {
      const { text } = await who.get(`${base}/emails/${id}/${page}`)
      if (page !== 'content') t.match(text, '/unsubscribe/shown', page)
      t.notMatch(text, /\/(unsubscribe|preferences)\/(?!shown\b)/, page)
    }
  }
})

t.test('a mail is sent from the form, and again as a new one', async (t) => {
  const form = { from: 'shop@sender.test', to: 'ann@one.test', format: 'text', subject: 'By hand' }
  t.equal((await viewer.get(`${base}/emails/new`)).status, 403)
  t.equal((await viewer.post(`${base}/emails/new`, form)).status, 403)
  const empty = await member.post(`${base}/emails/new`, form)
  t.equal(empty.status, 422)
  t.match(empty.text, 'value="By hand"', 'what was typed stays')
  t.match(empty.text, /href="#field-content">[^<]*Write something</, 'no template is spoken of')
  const wrong = {
    from: 'us',
    to: 'nobody',
    subject: '',
    content: '',
    scheduledAt: '2020-01-01T09:00',
  }
  const all = await member.post(`${base}/emails/new`, wrong)
  for (const field of ['from', 'to', 'content', 'scheduledAt']) {
    t.match(all.text, `id="field-${field}-fault"`, `${field} is told at once with the others`)
  }
  const fill = /formaction="([^"]+bounced%40[^"]+)"/.exec(empty.text)?.[1] ?? ''
  const filled = await member.post(fill, form)
  t.equal(filled.status, 200)
  t.match(filled.text, 'value="By hand"', 'what was typed stays')
  t.match(filled.text, 'value="bounced@simulator.posthorn.test"')
  const other = { ...form, from: 'x@else.test', content: 'Hi' }
  const refused = await member.post(`${base}/emails/new`, other)
  t.equal(refused.status, 422)
  t.match(refused.text, 'else.test')
  const { to } = await member.post(`${base}/emails/new`, { ...form, content: 'Hi <you>\n\nBye' })
  const id = to.slice(-36)
  const sent = await posthorn.until(id, ({ status }) => status === 'delivered')
  t.match(sent, { subject: 'By hand', from: 'shop@sender.test' })
  const again = await member.get(`${base}/emails/new?again=${id}`)
  t.match(again.text, 'value="By hand"')
  t.match(again.text, '&lt;p&gt;Hi &amp;lt;you&amp;gt;&lt;/p&gt;')
  const prefilled = await member.get(`${base}/emails/new?subject=Test&to=me%40one.test`)
  t.match(prefilled.text, 'value="me@one.test"')
})

t.test(
  'several addresses get a mail each, unless somebody wants them to see each other',
  async (t) => {
    const form = { from: 'shop@sender.test', to: 'ann@one.test, bob@one.test', content: 'Hi' }
    const page = await member.get(`${base}/emails/new`)
    t.match(page.text, /value="each" checked[\s\S]*Each of them sees all addresses/)
    const each = await member.post(`${base}/emails/new`, {
      ...form,
      subject: 'Each',
      copies: 'each',
    })
    t.equal(each.to, `${base}/emails`)
    const together = { ...form, subject: 'Together', copies: 'together' }
    t.match((await member.post(`${base}/emails/new`, together)).to, /\/emails\/[0-9a-f-]{36}$/)
    const { emails } = (await posthorn.call('GET', '/v1/emails?limit=3')).json
    t.match(emails, [
      { subject: 'Together', to: 'ann@one.test, bob@one.test' },
      { subject: 'Each', to: 'bob@one.test' },
      { subject: 'Each', to: 'ann@one.test' },
    ])
  },
)

t.test('a template is chosen, filled in, seen and sent', async (t) => {
  const html = '<p>Order {{ order.id }} of {{ name }}</p>'
  const body = { slug: 'paid', subject: 'Paid: {{ order.id }}', html }
  await posthorn.call('POST', '/v1/templates', { body })
  const form = { from: 'shop@sender.test', to: 'ann@one.test', template: 'paid', content: 'Old' }
  const first = await member.post(`${base}/emails/new`, form)
  t.equal(first.status, 422, 'nothing is sent that nobody has seen')
  const filled = await member.post(`${base}/emails/new/fill`, form)
  t.match(filled.text, /name="variable" value="order.id"><input [^>]*name="sample" value="Id"/)
  t.match(filled.text, '<b>Paid: Id</b>')
  t.match(filled.text, '<iframe class="mail"')
  t.notMatch(filled.text, '<textarea', 'a template brings its own content')
  const fields = new URLSearchParams({ ...form, shown: 'paid' })
  for (const [path, value] of [
    ['order.id', '4711'],
    ['name', 'Ann'],
  ] as const) {
    fields.append('variable', path)
    fields.append('sample', value)
  }
  const headers = { cookie: member.cookie, 'sec-fetch-site': 'same-origin' }
  const sent = await fetch(`${posthorn.url}${base}/emails/new`, {
    method: 'POST',
    body: fields,
    headers,
    redirect: 'manual',
  })
  const id = sent.headers.get('location')?.slice(-36) ?? ''
  t.match(await posthorn.email(id), { subject: 'Paid: 4711' })
})

t.test('an attachment goes along when a mail is sent again', async (t) => {
  const attachments = [{ filename: 'a.txt', content: Buffer.from('Terms').toString('base64') }]
  const id = await send('ann@one.test', { attachments, scheduledAt: inHours(1) })
  t.match((await member.get(`${base}/emails/new?again=${id}`)).text, 'With its attachments: a.txt')
  const form = {
    from: 'shop@sender.test',
    to: 'bob@one.test',
    subject: 'Again',
    content: '<p>x</p>',
  }
  const { to } = await member.post(`${base}/emails/new`, { ...form, format: 'html', again: id })
  t.match((await posthorn.email(to.slice(-36))).attachments, [{ filename: 'a.txt', size: 5 }])
})

t.test("another account's mail is not there, for any page or action", async (t) => {
  const id = await scheduled()
  const other = await posthorn.addAccount('Other')
  const bob = await logIn(posthorn, other.accountId, 'owner')
  const theirs = `/a/${other.accountId}/emails/${id}`
  for (const path of ['', '/content', '/html', '/text', '/headers', '/api', '/json']) {
    t.equal((await bob.get(theirs + path)).status, 404, path)
    t.equal((await bob.get(`${base}/emails/${id}${path}`)).status, 404, path)
  }
  t.equal((await bob.get(`/a/${other.accountId}/emails/new?again=${id}`)).status, 404)
  for (const action of ['cancel', 'retry', 'suppress', 'unsuppress']) {
    const { status } = await bob.post(`${theirs}/${action}`, { address: 'ann@one.test' })
    t.equal(status, 404, action)
  }
  t.equal((await posthorn.email(id)).status, 'scheduled')
  t.equal((await member.get(`${base}/emails/none`)).status, 404)
})
