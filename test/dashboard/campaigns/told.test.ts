// Issue 44: what pages of campaigns tell of content, pictures, audiences and what is not measured, found by somebody who went through them.
import t from 'tap'
import { findPlan, loadPlans, setMarketingPlan } from '../../../src/billing/index.js'
import { layouts } from '../../../src/blocks/index.js'
import { findBroadcast, whoNames } from '../../../src/broadcasts/index.js'
import { packageFile } from '../../../src/config/index.js'
import { weakWordsOf } from '../../../src/dashboard/campaigns/html-contrast.js'
import { spamWords } from '../../../src/dashboard/campaigns/spam-words.js'
import { setSwitches } from '../../../src/tracking/index.js'
import { png } from '../../pictures/samples.js'
import { insertCampaignRows } from '../../support/campaign-rows.js'
import { logIn } from '../../support/log-in.js'
import { startPosthorn } from '../../support/posthorn.js'

t.setTimeout(120_000)

const env = { POSTHORN_HTTP_PUBLIC_URL: 'https://mail.test' }
const posthorn = await startPosthorn(t, { env })
const { store, accountId } = posthorn
const base = `/a/${accountId}`
const plan = findPlan(loadPlans(packageFile('config/plans.toml')).marketing, 'Marketing Plus')
await store.write((tx) => setMarketingPlan(tx, accountId, plan))
const owner = await logIn(posthorn, accountId, 'owner')
const call = async (method: string, path: string, body?: object) =>
  (await posthorn.call(method, path, body === undefined ? {} : { body })).json
const { id: listId } = await call('POST', '/v1/contacts/lists', { name: 'Readers' })
for (const name of ['ann', 'bob']) {
  await call('POST', `/v1/contacts/${listId}`, { email: `${name}@x.test`, firstName: name })
}
const content = { from: 'News <news@sender.test>', subject: 'Hi', listId, draft: true }

t.test('HTML is looked at for words of spam and for words that are hard to read', async (t) => {
  const html =
    '<body><p style="color:#ccc">Pale words</p><p>Act now, it is risk free! {{ shoe }}</p></body>'
  const { id } = await call('POST', '/v1/broadcasts', { ...content, html })
  const { text } = await owner.get(`${base}/campaigns/${id}/send`)
  t.match(text, /The words “Pale words” are hard to read: their contrast is 1\.6/)
  t.match(text, /Filters give points for these words[^<]*“act now”, “risk free”/)
  t.match(text, /\{\{ shoe \}\} is no field of your contacts, and the mail says nothing there/)
  t.notMatch(text, /HEAD request/)
  const blocks = { version: 1, blocks: [{ type: 'text', text: 'Act now: make money' }] }
  const { id: ofBlocks } = await call('POST', '/v1/broadcasts', { ...content, blocks })
  const other = (await owner.get(`${base}/campaigns/${ofBlocks}/send`)).text
  t.match(other, /“act now”, “make money”/)
  t.match(other, /All words stand out/)

  t.same(spamWords('Target paid; RISK FREE offers, you’ve won'), ['risk free', "you've won"])
  t.same(spamWords('You get paid'), ['get paid'])
  const weak = (body: string) => weakWordsOf(body).map(({ words }) => words)
  t.same(weak('<td bgcolor="#222"><font color="#fff">Good</font></td>'), [])
  t.same(weak('<td bgcolor="#222">Dark on dark</td>'), ['Dark on dark'])
  t.same(weak('<div style="display:none;color:#fff">Preheader</div>'), [])
  t.same(weak('<div style="background:url(x.png);color:#fff">On a picture</div>'), [])
  t.same(weak('<a href="/" style="color:#FFF;background-color:rgb(250, 250, 250)">Go</a>'), ['Go'])
  t.same(weak(`${'<div style="color:#ccc">'.repeat(5_000)}deep`), ['deep'], 'and it ends')
})

t.test('a picture is no wider than it is, nor than its column', async (t) => {
  const card = { document: '{}', 'b.0.type': 'picture', 'b.0.url': '', 'b.0.alt': '' }
  const form = { from: content.from, ...card }
  const none = (await owner.post(`${base}/campaigns/new/preview`, form)).text
  t.match(none, 'You have no pictures yet. Choose a file here and press “Upload”')
  t.match(none, `<a href="${base}/pictures">Pictures</a>`)
  t.notMatch(none, 'Choose one of your pictures below')
  t.match(none, '<code>{{ view_url }}</code>')
  t.match(none, 'is empty unless you tick “Show it on your public page', 'and explained')

  const urls: string[] = []
  for (const width of [120, 400, 1_200]) {
    const file = png(width, 10).toString('base64')
    urls.push((await call('POST', '/v1/pictures', { name: `${width}.png`, content: file })).url)
  }
  const [small, middle, large] = urls
  const picture = (url?: string, width?: number) => ({ type: 'picture', url, width, alt: '' })
  const elsewhere = 'https://elsewhere.test/pictures/AAAAAAAAAAAAAAAAAAAAAA.png'
  const blocks = [
    ...[small, middle, large, elsewhere].map((url) => picture(url)),
    picture(small, 300),
    { type: 'columns', columns: [[picture(small)], [picture(middle)]] },
  ]
  const given = { ...content, blocks: { version: 1, blocks } }
  const { id } = await call('POST', '/v1/broadcasts', given)
  const kept = await call('GET', `/v1/broadcasts/${id}`)
  t.notMatch(JSON.stringify(kept.blocks), '"width":120', 'the blocks are as they were given')
  const { text: html } = await owner.get(`${base}/campaigns/${id}/html`)
  const widths = [...html.matchAll(/<img[^>]*\bwidth="(\d+)"/g)].map(([, width]) => Number(width))
  t.same(widths, [120, 400, 550, 550, 300, 120, 250])
  const { apiKey: key } = await posthorn.addAccount('Strangers')
  const theirs = { slug: 'x', subject: 'x', blocks: { version: 1, blocks: [picture(small)] } }
  const made = await posthorn.call('POST', '/v1/templates', { key, body: theirs })
  t.match(made.json.html, 'width="550"', 'nobody is told how wide a picture of others is')
})

t.test('a picture that is chosen brings what it shows, without script too', async (t) => {
  const dot = 'R0lGODlhAQABAIAAAP///wAAACwAAAAAAQABAAACAkQBADs='
  const given = { name: 'dot.gif', alt: 'A white dot', content: dot }
  const { url } = await call('POST', '/v1/pictures', given)
  const card = { document: '{}', 'b.0.type': 'picture', 'b.0.url': url, 'b.0.alt': '' }
  const form = { from: content.from, subject: 'Hi', lists: listId }
  const seen = (await owner.post(`${base}/campaigns/new/preview`, { ...form, ...card })).text
  t.match(seen, `<option value="${url}" data-alt="A white dot">A white dot (dot.gif)</option>`)
  t.match(seen, /name="b\.0\.alt"[^>]* value="A white dot"/)
  t.match(seen, new RegExp(`name="b\\.0\\.chosen" value="${url}"`))
  const [, frame = ''] = /src="([^"]*\/rendered\/[^"?]*)"/.exec(seen) ?? []
  const framed = await fetch(posthorn.url + frame, { headers: { cookie: owner.cookie } })
  t.match(framed.headers.get('content-security-policy'), 'data: https://mail.test/pictures/;')
  const saved = await owner.post(`${base}/campaigns/new`, { ...form, ...card })
  t.equal(saved.status, 303)
  const altOf = async (path: string) =>
    (await call('GET', `/v1/broadcasts/${path.split('/').at(-1)}`)).blocks.blocks[0].alt
  t.equal(await altOf(saved.to), 'A white dot')
  const emptied = { ...form, ...card, 'b.0.chosen': url, revision: '0' }
  t.equal((await owner.post(saved.to, emptied)).status, 303)
  t.equal(await altOf(saved.to), '', 'who empties it has it stay empty')
  const own = { ...form, ...card, 'b.0.alt': 'My own words', revision: '1' }
  await owner.post(saved.to, own)
  t.equal(await altOf(saved.to), 'My own words')
  const template = { slug: 'dots', subject: 'x', ...card }
  t.equal((await owner.post(`${base}/templates/-/new`, template)).status, 303)
  t.match((await call('GET', '/v1/templates/dots')).blocks.blocks, [{ alt: 'A white dot' }])
  const added = { ...form, document: '{}', do: 'add:', 'kind.': 'picture' }
  const fresh = (await owner.post(`${base}/campaigns/new/preview`, added)).text
  t.match(fresh, /name="b\.0\.url"(?![^>]*value="h)/, 'a browser offers all pictures')
})

t.test('the cards of each layout are open, and each says what it is good for', async (t) => {
  for (const { name, about } of layouts) {
    const { text } = await owner.get(`${base}/campaigns/new?layout=${name}`)
    t.notMatch(text, 'class="card block closed"', name)
    t.match(text, about)
  }
})

t.test('the list of campaigns says how many a draft reaches now, and what is left', async (t) => {
  const name = 'Counted when it was saved'
  await call('POST', '/v1/broadcasts', { ...content, name, html: '<p>x</p>' })
  const row = async (query = '') =>
    (await owner.get(`${base}/campaigns${query}`)).text
      .split('<tr')
      .findLast((one) => one.includes(`>${name}</a>`))
  t.match(await row(), />2<\/td>/)
  await call('POST', `/v1/contacts/${listId}`, { email: 'eve@x.test' })
  t.match(await row(), />about 3<\/td>/)
  const nobody = { ...content, name: 'To nobody', listId: undefined, html: '<p>x</p>' }
  await call('POST', '/v1/broadcasts', { ...nobody, audience: { withoutLists: [listId] } })
  const { text } = await owner.get(`${base}/campaigns`)
  const toNobody = text.split('<tr').find((one) => one.includes('>To nobody</a>'))
  t.match(toNobody, /Nobody yet[\s\S]*>0<\/td>/, 'a list that is only left out is no audience')
  const begun = { sent_at: Date.now(), audience: 900, recipients: 100, waiting: 20 }
  await store.write((tx) =>
    tx
      .updateTable('broadcasts')
      .set({ ...begun, status: 'paused', paused_by: 'account' })
      .where('name', '=', name)
      .execute(),
  )
  t.match(await row('?show=going'), />820<\/td>/, 'what is still to be made is left too')
})

t.test('where opens and clicks are not measured, no page and no answer says 0 %', async (t) => {
  const id = store.ids.uuid()
  const row = { id, accountId, subject: 'Unmeasured', sentAt: Date.now() - 7_200_000, mails: 500 }
  await insertCampaignRows(store, { ...row, links: [] })
  const { domain_id: domainId } = await findBroadcast(store.read, accountId, id)
  t.ok(domainId)
  const { id: own } = await store.read
    .selectFrom('domains')
    .select('id')
    .where('account_id', '=', accountId)
    .executeTakeFirstOrThrow()
  await store.write(async (tx) => {
    await tx.updateTable('broadcasts').set({ domain_id: own }).where('id', '=', id).execute()
    const none = { opened: 0, opened_unique: 0, clicked: 0, clicked_unique: 0 }
    await tx.updateTable('broadcast_hours').set(none).where('broadcast_id', '=', id).execute()
  })
  const measured = await call('GET', `/v1/broadcasts/${id}/report`)
  t.same(measured.unmeasured, { opens: null, clicks: null })
  await setSwitches({ store }, { accountId }, { opens: false, clicks: false })
  const { unmeasured } = await call('GET', `/v1/broadcasts/${id}/report`)
  t.same(unmeasured, { opens: 'opens are not tracked', clicks: 'clicks are not tracked' })
  const report = (await owner.get(`${base}/campaigns/${id}/report`)).text
  t.match(report, /<dt>Clicked <span[^>]*>not measured<\/span><\/dt><dd><b>–<\/b>/)
  t.match(report, /Did not get it<\/a> <span[^>]*>10\.0 %/, 'with its share, as the others')
  t.match((await owner.get(`${base}/campaigns/${id}`)).text, /Not measured: clicks are not tracked/)
  const listed = (await owner.get(`${base}/campaigns?show=sent`)).text
  t.match(listed, /Unmeasured[\s\S]*?>450<[\s\S]*?>–<[\s\S]*?>–<[\s\S]*?<\/tr>/)
  await setSwitches({ store }, { accountId }, { opens: null, clicks: null })
})

t.test('an audience is of the people behind a number of a report', async (t) => {
  const whole = { ...content, subject: 'Sent', html: '<p>x</p>', draft: false }
  const { id: sent } = await call('POST', '/v1/broadcasts', whole)
  while ((await findBroadcast(store.read, accountId, sent)).expanded === 0) {
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const contacts = await store.read
    .selectFrom('contacts')
    .select('id as contact_id')
    .where('account_id', '=', accountId)
    .execute()
  const at = Date.now()
  const did = { opened_at: at, clicked_at: at, email_id: '' }
  await store.write((tx) =>
    tx
      .insertInto('broadcast_people')
      .values(contacts.slice(0, 2).map((one) => ({ ...one, ...did, broadcast_id: sent })))
      .execute(),
  )
  const setSent = (values: { opened: number; domain_id?: string }) =>
    store.write((tx) => tx.updateTable('broadcasts').set(values).where('id', '=', sent).execute())
  await setSent({ opened: 2 })
  const to = (who: string, more: object = {}) => ({
    ...content,
    listId: undefined,
    html: '<p>x</p>',
    audience: { ofBroadcast: sent, who, ...more },
  })
  const post = (body: object, path = '/v1/broadcasts') => posthorn.call('POST', path, { body })
  const audienceOf = async (id: string) => (await call('GET', `/v1/broadcasts/${id}`)).audience
  const asked = { audience: { ofBroadcast: sent, who: 'clicked' } }
  t.match(await post(asked, '/v1/broadcasts/preview'), {
    status: 200,
    json: { recipientCount: 2, fit: 2 },
  })
  const mixed = { audience: { ...asked.audience, lists: [listId] } }
  t.match(await post(mixed, '/v1/broadcasts/preview'), { status: 400, text: /once they are a seg/ })
  let clicked = ''
  for (const who of whoNames) {
    const made = await post(to(who))
    if (['waiting', 'cancelled', 'left_out'].includes(who)) {
      t.match([made.status, made.text], [400, /who/], who)
      continue
    }
    t.equal(made.status, 200, `${who}: ${made.text}`)
    if (who === 'clicked') clicked = made.json.id
    const audience = await audienceOf(made.json.id)
    t.match(audience, { lists: [], segments: { length: 1 } }, who)
    const [segment = ''] = audience.segments
    const again = (await post(to(who, { lists: [listId] }))).json
    t.match(await audienceOf(again.id), { lists: [listId], segments: [segment] }, 'the same one')
    const { name } = await call('GET', `/v1/segments/${segment}`)
    t.match(name, /^[A-Z][a-z ]+: Sent$/)
    const page = (await owner.get(`${base}/campaigns/${made.json.id}`)).text
    t.match(page, new RegExp(`value="${segment}" checked[^>]*>[\\s\\S]{0,20}${name}`), who)
  }
  const copy = (await post({}, `/v1/broadcasts/${clicked}/duplicate`)).json
  const before = await audienceOf(clicked)
  t.same(await audienceOf(copy.id), before, 'a copy is for the same people')
  const body = { audience: { ofBroadcast: sent, who: 'unreached' } }
  const changed = await posthorn.call('PATCH', `/v1/broadcasts/${clicked}`, { body })
  t.match(changed, { status: 200, json: { audience: { segments: { length: 1 } } } })
  t.not(changed.json.audience.segments[0], before.segments[0])

  t.match(await post(to('nobody')), { status: 400 })
  const one = { ...to('clicked'), audience: { who: 'clicked' } }
  t.match(await post(one), { status: 400, text: /go together/ })
  const { apiKey: key } = await posthorn.addAccount('Other')
  const stranger = { key, body: asked }
  t.equal((await posthorn.call('POST', '/v1/broadcasts/preview', stranger)).status, 404)
  const unsent = { ...to('clicked'), audience: { ofBroadcast: clicked, who: 'clicked' } }
  t.match(await post(unsent), { status: 400, text: /has not been sent yet/ })
  const { id: domain_id } = await store.read
    .selectFrom('domains')
    .select('id')
    .where('account_id', '=', accountId)
    .executeTakeFirstOrThrow()
  await setSent({ opened: 0, domain_id })
  await setSwitches({ store }, { accountId }, { opens: false })
  t.match(await post(to('not_opened')), { status: 400, text: /were not measured/ })
  const people = await posthorn.call('GET', `/v1/broadcasts/${sent}/recipients?who=not_opened`)
  t.match(people, { status: 400, text: /were not measured/ }, 'whom no audience has, no list has')
  const report = `${base}/campaigns/${sent}/report`
  const page = await owner.get(`${report}/people?who=not_opened`)
  t.match(page, { status: 200, text: /were not measured/ })
  t.notMatch(page.text, /<table|Export as CSV|Nobody here/, 'nor the page')
  t.equal((await owner.get(`${report}/people.csv?who=not_opened`)).status, 400)
  await setSwitches({ store }, { accountId }, { opens: null })
})

t.test('numbers are told as people write them', async (t) => {
  const form = { from: content.from, subject: 'Hi', html: '<p>x</p>', lists: listId }
  const fast = await owner.post(`${base}/campaigns/new`, { ...form, rate: '2000000' })
  t.equal(fast.status, 422)
  t.match(fast.text, /Write a number of mails from 1 to 1,000,000/)
  const unsent = (await owner.post(`${base}/campaigns/new`, { ...form, from: 'nobody' })).text
  t.match(unsent, 'id="field-from-fault">Write an address such as Shop &lt;hello@example.com&gt;<')
  t.match(unsent, 'href="#field-from">From: Write an address')
  t.notMatch(unsent, /from is not a sender/)
})

t.test('one for a time to come says when it leaves, and no names of the API', async (t) => {
  const at = new Date(Date.now() + 90 * 86_400_000).toISOString()
  const given = { ...content, name: 'Ahead', html: '<p>x {{ unsubscribe_footer }}</p>' }
  const send = async (more: object) => {
    const { id, revision } = await call('POST', '/v1/broadcasts', { ...given, ...more })
    const page = `${base}/campaigns/${id}`
    const checks = (await owner.get(`${page}/send`)).text
    const of = /name="revision"[^>]*value="(\d+)"/.exec(checks)?.[1] ?? String(revision)
    const posted = await owner.post(`${page}/send`, { revision: of })
    // The next page says it, by a cookie.
    const said = posted.headers.getSetCookie().map((one) => one.split(';')[0])
    const cookie = [owner.cookie, ...said].join('; ')
    return { checks, sent: (await owner.get(page, { cookie })).text }
  }
  const ahead = await send({ scheduledAt: at })
  t.match(ahead.checks, /You can take it back until \d/)
  t.match(ahead.sent, /It is scheduled for \d+ people, and leaves at \d/)
  const soon = await send({})
  t.match(soon.checks, /You have a minute to take it back/)
  t.match(soon.sent, /It leaves for \d+ people in a minute/)
  const { id } = await call('POST', '/v1/broadcasts', { ...given, localTimeOf: 'Africa/Lagos' })
  const { text } = await owner.get(`${base}/campaigns/${id}/send`)
  t.match(text, /clock of each recipient needs the time that their clocks show/)
  t.notMatch(text, /\((localTimeOf|scheduledAt)\)/)
})
