// interface.md: type marketing, topicId, one-click unsubscribe (RFC 8058), Suppression.
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import PostalMime from 'postal-mime'
import t from 'tap'
import { setLanguage } from '../../src/accounts/index.js'
import { findPlan, loadPlans, setMarketingPlan } from '../../src/billing/index.js'
import { systemClock } from '../../src/clock/index.js'
import { packageFile } from '../../src/config/index.js'
import { contactHistory } from '../../src/contacts/index.js'
import { publishedRecords } from '../../src/domains/index.js'
import { createTopic } from '../../src/topics/index.js'
import { fakeMx } from '../support/fake-mx.js'
import { directTo, startPosthorn } from '../support/posthorn.js'

const mx = await fakeMx(t)
const posthorn = await startPosthorn(t, directTo(mx))
const good = {
  from: 'a@sender.test',
  subject: 'News',
  html: '<body><p>News</p></body>',
  type: 'marketing',
}
const plans = loadPlans(packageFile('config/plans.toml'))
const plan = plans.marketing[0] ?? null
const messageTo = (to: string) =>
  mx.messages.findLast((message) => message.to[0] === to)?.raw ?? Buffer.alloc(0)
const linkIn = (raw: Buffer) =>
  /^List-Unsubscribe: <([^>]+)>\r$/m.exec(raw.toString().replace(/\r\n[ \t]+/g, ' '))?.[1] ?? ''

t.test('without a marketing plan: 402 { error, upgrade }', async (t) => {
  t.match(await posthorn.send({ ...good, to: 'ann@example.com' }), {
    status: 402,
    json: { code: 'marketing_subscription_required', error: String, upgrade: 'marketing' },
  })
  t.ok(findPlan(plans.marketing, plan?.name ?? ''))
  await posthorn.store.write((tx) => setMarketingPlan(tx, posthorn.accountId, plan))
})

t.test('headers of RFC 8058 covered by DKIM, a footer link, each recipient its own', async (t) => {
  const { json } = await posthorn.send({ ...good, to: ['ann@example.com', 'bob@example.com'] })
  await posthorn.until(json.id, (email) => email.status === 'delivered')
  const [ann, bob] = [messageTo('ann@example.com'), messageTo('bob@example.com')]
  t.not(linkIn(ann), linkIn(bob))
  const parsed = await PostalMime.parse(ann)
  const header = (key: string) => parsed.headers.find((h) => h.key === key)?.value
  t.equal(header('list-unsubscribe-post'), 'List-Unsubscribe=One-Click')
  t.match(header('list-id'), /^<marketing\.sender\.test>$/)
  t.ok(parsed.html?.includes(linkIn(ann)), 'a link in the HTML')
  t.notMatch(parsed.html, '/o/', 'no pixel while http.public.url is not set')
  t.ok(parsed.text?.includes(linkIn(ann)), 'and in the text')
  t.match(
    parsed.html,
    /News[\s\S]*Test[\s\S]*<\/body>/,
    'the footer names the account, inside the body',
  )
  const dns = await publishedRecords(posthorn.store.read, {
    heloName: 'localhost',
    sourceAddresses: [],
  })
  const { results } = await dkimVerify(ann, {
    resolver: async (name: string) => [[dns[name]?.txt?.[0] ?? '']],
  })
  for (const result of results) {
    t.equal(result.status.result, 'pass')
    const { signingHeaders } = result as { signingHeaders?: { keys?: string } }
    const keys = String(signingHeaders?.keys).toLowerCase()
    for (const name of ['list-unsubscribe', 'list-unsubscribe-post', 'list-id']) t.match(keys, name)
  }
})

t.test(
  'GET shows a page and changes nothing; POST unsubscribes at once, without cookies',
  async (t) => {
    const url = linkIn(messageTo('ann@example.com'))
    const page = await fetch(url)
    t.equal(page.status, 200)
    t.match(await page.text(), /<form/)
    const again = await posthorn.send({ ...good, to: 'ann@example.com' })
    await posthorn.until(again.json.id, (email) => email.status === 'delivered')

    const body = 'List-Unsubscribe=One-Click'
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    t.equal((await fetch(url, { method: 'POST', body, headers })).status, 200)
    const after = await posthorn.send({ ...good, to: ['ann@example.com', 'bob@example.com'] })
    const email = await posthorn.until(after.json.id, (e) => e.status === 'delivered')
    t.same(email.recipients.map((r) => r.status).sort(), ['delivered', 'suppressed'])
    const { type: _, ...transactional } = good
    const receipt = await posthorn.send({ ...transactional, to: 'ann@example.com' })
    await posthorn.until(receipt.json.id, (e) => e.status === 'delivered')
    const mail = await PostalMime.parse(messageTo('ann@example.com'))
    const lists = mail.headers.filter(({ key }) => key.startsWith('list-'))
    t.same(lists, [], 'transactional mail carries neither header nor footer')
    t.notMatch(`${mail.html}${mail.text}`, /unsubscribe/i)
  },
)

t.test('a template has the links of its recipients, in marketing mail alone', async (t) => {
  const html = '<a href="{{ unsubscribe_url }}">Go</a>{{ name }}'
  const template = { slug: 'news', subject: 'News', html, textBody: 'Hi {{ name }}' }
  t.equal((await posthorn.call('POST', '/v1/templates', { body: template })).status, 201)
  const { html: _, subject: _subject, ...rest } = good
  const mail = { ...rest, to: ['eve@example.com', 'fay@example.com'], template: 'news' }
  const variables = { name: 'you' }
  const refused = await posthorn.send({ ...mail, variables, type: 'transactional' })
  t.match(refused, {
    status: 422,
    json: { error: /"unsubscribe_url" is missing; only marketing mail/ },
  })
  const { json } = await posthorn.send({ ...mail, variables })
  await posthorn.until(json.id, (email) => email.status === 'delivered')
  for (const to of mail.to) {
    const raw = messageTo(to)
    const { html: sent, text } = await PostalMime.parse(raw)
    t.equal(sent?.trim(), `<a href="${linkIn(raw)}">Go</a>you`, 'no footer in this part')
    t.match(text?.replaceAll(linkIn(raw), 'LINK'), /^Hi you\n\n---\n[\s\S]*Unsubscribe: LINK\n/)
  }
  const own = await posthorn.send({
    ...mail,
    variables: { ...variables, unsubscribe_url: '/mine' },
  })
  await posthorn.until(own.json.id, (email) => email.status === 'delivered')
  t.match((await PostalMime.parse(messageTo('eve@example.com'))).html, /"\/mine"[\s\S]*<div/)
  const { json: shown } = await posthorn.call('POST', '/v1/templates/news/render', {
    body: { variables },
  })
  t.equal(shown.html, '<a href="{{ unsubscribe_url }}">Go</a>you')
  await setLanguage(posthorn, posthorn.accountId, 'fr')
  const page = await (await fetch(linkIn(messageTo('fay@example.com')))).text()
  t.match(page, /<html lang="fr">[\s\S]*Se désabonner/)
  await setLanguage(posthorn, posthorn.accountId, 'en')
})

t.test('the postal address of the brand stands in the footer, or where it is wanted', async (t) => {
  const postalAddress = '1 Main <Street>\nLagos'
  t.equal((await posthorn.call('PATCH', '/v1/brand', { body: { postalAddress } })).status, 200)
  const received = async (mail: object) => {
    const { json } = await posthorn.send({ ...good, ...mail, to: 'zoe@example.com' })
    await posthorn.until(json.id, (email) => email.status === 'delivered')
    return await PostalMime.parse(messageTo('zoe@example.com'))
  }
  const news = await received({})
  t.match(news.html, '1 Main &lt;Street&gt;, Lagos')
  t.match(news.text, '1 Main <Street>, Lagos')
  const receipt = await received({ type: 'transactional' })
  t.notMatch(receipt.html, 'Lagos')
  await posthorn.call('PATCH', '/v1/brand', { body: { postalAddress: '' } })
  t.notMatch((await received({})).text, 'Lagos', 'none where none is given')
})

t.test('with a topic, leaving concerns that topic alone', async (t) => {
  const make = (name: string) =>
    createTopic({ store: posthorn.store, clock: systemClock }, posthorn.accountId, { name })
  const [offers, tips] = [await make('Offers'), await make('Tips')]
  const to = 'cas@example.com'
  const first = await posthorn.send({ ...good, to, topicId: offers.id })
  t.equal(first.status, 200)
  t.match(await posthorn.until(first.json.id, (e) => e.status === 'delivered'), {
    topicId: offers.id,
    type: 'marketing',
  })
  const body = new URLSearchParams({ 'List-Unsubscribe': 'One-Click' })
  await fetch(linkIn(messageTo(to)), { method: 'POST', body })
  const statuses = async (topicId?: string) => {
    const { json } = await posthorn.send({
      ...good,
      to,
      ...(topicId === undefined ? {} : { topicId }),
    })
    return (await posthorn.until(json.id, (e) => ['delivered', 'suppressed'].includes(e.status)))
      .status
  }
  const [left] = await contactHistory(posthorn.store.read, posthorn.accountId, to)
  const detail = { topicId: offers.id, emailId: first.json.id }
  t.match(left, { kind: 'left_topic', detail }, 'the record names the mail')
  t.equal(await statuses(offers.id), 'suppressed')
  t.equal(await statuses(tips.id), 'delivered')
  t.equal(await statuses(), 'delivered')
})

t.test('topicId: of nobody 404, on a transactional mail 422', async (t) => {
  const topicId = '01900000-0000-7000-8000-000000000000'
  t.match(await posthorn.send({ ...good, to: 'a@example.com', topicId }), {
    status: 404,
    json: { code: 'not_found' },
  })
  const { type: _, ...transactional } = good
  t.match(await posthorn.send({ ...transactional, to: 'a@example.com', topicId }), {
    status: 422,
    json: { code: 'validation_error' },
  })
})

t.test('an opt-out between acceptance and departure is honoured', async (t) => {
  const to = 'dan@example.com'
  const first = await posthorn.send({ ...good, to })
  await posthorn.until(first.json.id, (e) => e.status === 'delivered')
  const scheduledAt = new Date(Date.now() + 1_500).toISOString()
  const { json } = await posthorn.send({ ...good, to, scheduledAt })
  await fetch(linkIn(messageTo(to)), {
    method: 'POST',
    body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }),
  })
  await posthorn.until(json.id, (e) => e.status === 'suppressed')
  t.equal(mx.messages.filter((message) => message.to[0] === to).length, 1)
})
