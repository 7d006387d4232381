// Issue 44: a campaign by pages, without script: written, tried, looked at, taken back, sent.
import t from 'tap'
import { findPlan, loadPlans, setMarketingPlan } from '../../src/billing/index.js'
import { layouts } from '../../src/blocks/index.js'
import { findBroadcast, htmlOf, lastLeavesAt, pauseBroadcast } from '../../src/broadcasts/index.js'
import { systemClock } from '../../src/clock/index.js'
import { packageFile } from '../../src/config/index.js'
import { newUuid } from '../../src/store/index.js'
import { setSwitches } from '../../src/tracking/index.js'
import { insertCampaignRows } from '../support/campaign-rows.js'
import { fakeMx } from '../support/fake-mx.js'
import { logIn } from '../support/log-in.js'
import { directTo, startPosthorn } from '../support/posthorn.js'

const mx = await fakeMx(t)
const direct = directTo(mx)
const env = Object.assign({ POSTHORN_HTTP_PUBLIC_URL: 'https://mail.test' }, direct.env)
const posthorn = await startPosthorn(t, { dns: direct.dns, env })
const { store, accountId } = posthorn
const base = `/a/${accountId}`
const owner = await logIn(posthorn, accountId, 'owner')
const call = async (method: string, path: string, body?: object) =>
  (await posthorn.call(method, path, body === undefined ? {} : { body })).json
const { id: listId } = await call('POST', '/v1/contacts/lists', { name: 'Readers' })
const { id: staff } = await call('POST', '/v1/contacts/lists', { name: 'Staff' })
for (const name of ['ann', 'bob', 'eve']) {
  await call('POST', `/v1/contacts/${listId}`, { email: `${name}@x.test`, firstName: name })
}
await call('POST', `/v1/contacts/${staff}`, { email: 'eve@x.test' })

const form = {
  name: 'Week 48',
  subject: 'For {{ firstName }}',
  previewText: 'In <one> minute, {{ firstName }}',
  from: 'News <news@sender.test>',
  html: '<html><body><p>Hello {{ firstName }}</p></body></html>',
  lists: listId,
  withoutLists: staff,
}
const draft = { path: '', id: '' }

t.test('who has no marketing plan sees the pages, and what is missing', async (t) => {
  t.match((await owner.get(`${base}/campaigns`)).text, /need a marketing plan/)
  const refused = await owner.post(`${base}/campaigns/new`, form)
  t.equal(refused.status, 422)
  t.match(refused.text, /value="Week 48"/, 'what was typed is kept')
  const plans = loadPlans(packageFile('config/plans.toml'))
  await store.write((tx) =>
    setMarketingPlan(tx, accountId, findPlan(plans.marketing, 'Marketing Plus')),
  )
})

t.test('the page of each layout leaves room for long names and more blocks', async (t) => {
  for (const { name } of layouts) {
    const bytes = Buffer.byteLength((await owner.get(`${base}/campaigns/new?layout=${name}`)).text)
    t.ok(bytes < 50_000, `${name}: ${bytes} bytes`)
  }
})

t.test('a draft is begun with little, and says what it lacks', async (t) => {
  const begun = await owner.post(`${base}/campaigns/new`, { from: form.from, html: '' })
  t.equal(begun.status, 303, begun.text.slice(0, 200))
  draft.path = begun.to
  draft.id = begun.to.split('/').at(-1) ?? ''
  const checks = (await owner.get(`${draft.path}/send`)).text
  t.match(checks, /no audience yet/)
  t.match(checks, /cannot be sent yet/)
  const sent = await owner.post(`${draft.path}/send`, { revision: '0' })
  t.equal(sent.status, 422)
})

t.test('it is written, seen as a contact, and two people at once are told', async (t) => {
  const seen = await owner.post(`${draft.path}/preview`, { ...form, as: 'bob@x.test' })
  t.match(seen.text, /<b>For bob<\/b>/)
  t.match(seen.text, /As bob@x\.test sees it/)
  const inboxLine = (text: string) =>
    /class="inbox-line">.*<span class="quiet">(.*)<\/span>/.exec(text)?.[1]
  t.equal(inboxLine(seen.text), 'In &lt;one&gt; minute, bob')
  const linked =
    '<p>See <a href="https://shop.test/">our shop</a></p>{{ unsubscribe_footer }}<p>Bye</p>'
  const withLink = { ...form, previewText: '', html: linked }
  const plain = (await owner.post(`${draft.path}/preview`, withLink)).text
  t.match(inboxLine(plain), /^See our shop You receive this [^[{]* Bye$/)
  t.match(
    plain,
    /<pre[^>]*>See our shop \[https:\/\/shop\.test\/\][^<]*You receive this[^<]*\/unsubscribe\/shown/,
  )
  const inFrame = await owner.get(
    /class="mail look-light"[^>]* src="([^"]*)"/.exec(plain)?.[1] ?? '',
  )
  t.match(inFrame.text, /You receive this[^{]*Bye/, 'the footer as it arrives')
  // Without script a look loses nothing of what is typed.
  const hours = { rate: '500', window: '09:00', windowTo: '17:30', windowDays: '2' }
  const ticked = {
    ...form,
    ...hours,
    archive: 'on',
    ownTime: 'on',
    scheduledAt: '2027-01-04T09:00',
  }
  for (const at of [`${draft.path}/preview`, `${base}/campaigns/new/preview`]) {
    const kept = (await owner.post(at, ticked)).text
    for (const name of ['archive', 'ownTime'])
      t.match(kept, new RegExp(`name="${name}"[^>]* checked`), name)
    for (const value of ['500', '09:00', '17:30', '2027-01-04T09:00'])
      t.match(kept, `value="${value}"`)
    t.match(kept, /value="2" checked/)
    t.match(kept, /<details open><summary>Slower/)
  }
  const saved = await owner.post(draft.path, { ...form, revision: '0' })
  t.equal(saved.status, 303)
  // Who may not write reads it.
  const viewer = await logIn(posthorn, accountId, 'viewer')
  t.match((await viewer.get(draft.path)).text, `href="${draft.path}/report/mail"`)
  t.match((await viewer.get(`${draft.path}/report/mail`)).text, 'title="The mail"')
  const frame = await viewer.get(`${draft.path}/report/mail/html`)
  t.match(frame.text, /<p>Hello <\/p>[\s\S]*\/unsubscribe\/shown/, 'as somebody gets it')
  t.match((await owner.get(draft.path)).text, /3 people|2 people, of whom 2 can be mailed/)
  t.match(
    (await owner.get(`${draft.path}/send`)).text,
    /Done at about [^.]*2 mails, at the rates that mailbox providers take now/,
  )
  const other = await owner.post(draft.path, { ...form, subject: 'Mine', revision: '0' })
  t.equal(other.status, 422)
  t.match(other.text, /Somebody else has saved this draft/)
  t.match(
    other.text,
    /<p>Somebody else has changed this draft since you opened it, so what you typed/,
  )
  t.match(other.text, /name="over" value="1"[\s\S]*name="revision" value="0"/)
  const again = await owner.post(draft.path, { ...form, subject: 'Mine', revision: '0' })
  t.equal(again.status, 422, 'once more is refused too')
  t.equal((await findBroadcast(store.read, accountId, draft.id)).subject, form.subject)
  for (const sent of ['test', 'preview', 'blocks'])
    t.equal((await owner.get(`${draft.path}/${sent}`)).to, draft.path, 'opened by its address')
  const over = await owner.post(draft.path, { ...form, revision: '0', over: '1' })
  t.equal(over.status, 303, 'unless they say so')
  // The test has what was typed, and comes with the same form.
  const typed = {
    ...form,
    subject: 'Typed for the test',
    revision: '2',
    to: 'me@sender.test',
  }
  const led = await owner.post(draft.path, { ...typed, next: 'test' })
  t.match([led.status, led.to], [307, `${draft.path}/test`])
  t.equal((await findBroadcast(store.read, accountId, draft.id)).subject, typed.subject)
  const test = await owner.post(led.to, { ...typed, next: 'test' })
  t.equal(test.status, 303, test.text.slice(0, 300))
  const refused = await owner.post(led.to, { ...typed, to: 'nobody', name: 'Typed on' })
  t.equal(refused.status, 422, refused.text.slice(0, 300))
  t.match(refused.text, 'value="Typed on"')
  t.match(refused.text, 'value="nobody"')
  const versions = await owner.post(draft.path, { ...form, revision: '3', next: 'versions' })
  t.equal(versions.to, `${draft.path}/versions`)
})

t.test('it is taken back within the minute, then sent to everybody once', async (t) => {
  const asked = await owner.get(`${draft.path}/send`)
  t.match(asked.text, /sender\.test is verified/)
  t.match(asked.text, /no postal address/)
  t.equal((await owner.post(`${draft.path}/send`, { revision: '0' })).status, 422, 'an old page')
  t.equal((await owner.post(`${draft.path}/send`, { revision: '4' })).status, 303)
  t.match((await owner.get(draft.path)).text, /Take it back/)
  t.equal(mx.messages.filter(({ to }) => to[0]?.endsWith('@x.test')).length, 0)
  await owner.post(`${draft.path}/take-back`)
  t.match((await owner.get(draft.path)).text, /Check and send/, 'a draft again')
  const { revision } = await findBroadcast(store.read, accountId, draft.id)
  await owner.post(`${draft.path}/send`, { revision: String(revision) })
  await store.write((tx) =>
    tx
      .updateTable('broadcasts')
      .set({ scheduled_at: Date.now() })
      .where('id', '=', draft.id)
      .execute(),
  )
  for (;;) {
    const { status } = await findBroadcast(store.read, accountId, draft.id)
    if (status === 'sent') break
    await new Promise((done) => setTimeout(done, 100))
  }
  const mails = mx.messages.filter(({ to }) => to[0]?.endsWith('@x.test'))
  t.same(mails.map(({ to }) => to[0]).sort(), ['ann@x.test', 'bob@x.test'])
  const raw = mails[0]?.raw.toString() ?? ''
  t.match(raw.replace(/=\r?\n/g, ''), /In &lt;one&gt; minute, (ann|bob)/)
  const text = raw.split('text/plain')[1]?.split('text/html')[0] ?? ''
  t.notMatch(text, /minute/, 'the text part has no preview text')
  t.match(
    (await owner.get(`${base}/campaigns?show=sent`)).text,
    /Week 48[\s\S]*Readers, without Staff/,
  )
})

t.test('lists beyond those that a page shows are found by their names', async (t) => {
  for (let n = 0; n < 42; n++) await call('POST', '/v1/contacts/lists', { name: `Town ${n}` })
  const page = (await owner.get(`${base}/campaigns/new`)).text
  t.notMatch(page, /> ?Readers</, 'the oldest is beyond them')
  const typed = { ...form, lists: staff, withoutLists: '', find: 'rEAd' }
  const found = await owner.post(`${base}/campaigns/new/preview`, typed)
  t.match(found.text, new RegExp(`name="lists"[^>]*value="${listId}"`))
  t.match(found.text, new RegExp(`name="lists"[^>]*value="${staff}" checked`), 'it stays ticked')
  t.notMatch(found.text, /Town 3/)
  const none = await owner.post(`${base}/campaigns/new/preview`, {
    ...form,
    find: 'zzz',
    lists: '',
  })
  t.match(none.text, /No list or segment has that in its name|value="zzz"/)
  t.ok(Buffer.byteLength(found.text) < 60_000)
})

t.test('a copy is a draft', async (t) => {
  const copy = await owner.post(`${draft.path}/duplicate`)
  t.equal(copy.status, 303)
  t.match((await owner.get(copy.to)).text, /value="Week 48 \(copy\)"/)
  t.equal((await owner.post(`${copy.to}/cancel`)).status, 303)
  t.match((await owner.get(`${base}/campaigns?show=ended`)).text, /Week 48 \(copy\)/)
})

t.test('it leads to its report and back, from the list too', async (t) => {
  const report = `${draft.path}/report`
  const list = await owner.get(`${base}/campaigns?show=sent`)
  t.match(list.text, new RegExp(`href="${report}">Report`))
  t.match((await owner.get(draft.path)).text, new RegExp(`href="${report}">Report`))
  const shown = (await owner.get(report)).text
  t.match(shown, new RegExp(`href="${draft.path}">`))
  t.match(shown, new RegExp(`href="${base}/campaigns" aria-current="page"`))
})

t.test('it goes again to who has not opened it, with a subject that must be new', async (t) => {
  // A few words without a picture have no pixel: nobody knows who opened them.
  for (const page of [`${draft.path}/report`, `${draft.path}/report/people?who=not_opened`]) {
    const { text } = await owner.get(page)
    t.match(text, /Opens of this campaign were not measured: its mail has no picture/)
    t.notMatch(text, /Send again to who has not opened/)
  }
  for (const to of ['again', 'segment']) {
    const unknown = await owner.post(`${draft.path}/report/${to}`, { who: 'not_opened' })
    t.match([unknown.status, unknown.text], [422, /were not measured/])
  }
  const { body_id } = await findBroadcast(store.read, accountId, draft.id)
  const html = `${form.html}<img src="https://x.test/a.png" alt="">`
  const setBody = (html: string) =>
    store.write((tx) => tx.updateTable('bodies').set({ html }).where('id', '=', body_id).execute())
  await setBody(html)
  t.match((await owner.get(`${draft.path}/report`)).text, /Send again to who has not opened/)
  await setSwitches({ store }, { accountId }, { opens: false })
  const untold = (await owner.get(`${draft.path}/report`)).text
  t.match(untold, /were not measured: opens are not tracked\./)
  t.match(
    untold,
    /<dt>Opened <span[^>]*>not measured<\/span><\/dt><dd><b>–<\/b>/,
    'no share of nothing',
  )
  await setSwitches({ store }, { accountId }, { opens: null })
  const people = await owner.get(`${draft.path}/report/people?who=not_opened`)
  t.match(people.text, /Send again to who has not opened/)
  const refused = await owner.post(`${draft.path}/report/again`, { who: 'waiting' })
  t.equal(refused.status, 422, 'no rule says who they are')
  const made = await owner.post(`${draft.path}/report/again`, { who: 'not_opened' })
  t.equal(made.status, 303, made.text.slice(0, 300))
  const again = await findBroadcast(store.read, accountId, made.to.split('/').at(-1) ?? '')
  t.equal(again.subject, `NEW SUBJECT: ${form.subject}`)
  const [segmentId = ''] = JSON.parse(again.whom ?? '{}').segments
  for (;;) {
    const { json } = await posthorn.call('GET', `/v1/segments/${segmentId}`)
    if (json.state === 'current' && json.count === 2) break
    await new Promise((done) => setTimeout(done, 50))
  }
  t.match((await owner.get(made.to)).text, /2 people, of whom 2 can be mailed/, 'counted anew')
  const setState = (state: 'filling' | 'current') =>
    store.write((tx) =>
      tx.updateTable('segments').set({ state }).where('id', '=', segmentId).execute(),
    )
  const notFinal = /number is not final: the segment .* is being filled/
  for (const page of [made.to, `${made.to}/send`]) {
    let text = ''
    // The appliance fills it at the same time.
    for (let left = 40; left > 0 && !notFinal.test(text); left--) {
      await setState('filling')
      text = (await owner.get(page)).text
    }
    t.match(text, notFinal)
  }
  await setState('current')
  t.match((await owner.get(`${made.to}/send`)).text, /still begins with NEW SUBJECT:/)
  t.equal((await owner.post(`${made.to}/send`, { revision: '0' })).status, 422)
  const { withoutLists: _, lists: __, ...content } = form
  const saved = { ...content, segments: segmentId, revision: String(again.revision) }
  t.equal((await owner.post(made.to, saved)).status, 303)
  const told = /“Week 48” left within a day before: 2 of the first 2/
  const look = async () => (await owner.get(`${made.to}/send`)).text
  // The thread of figures counts who was mailed, a moment later.
  let checks = await look()
  for (let left = 100; left > 0 && !told.test(checks); left--) checks = await look()
  t.match(checks, /2 people, of whom 2 can be mailed/)
  t.match(checks, /“Week 48” left within a day before: 2 of the first 2 people got it/)
  t.match(checks, /Marketing Plus has room for it/)
  const twice = await owner.post(`${draft.path}/report/again`, { who: 'not_opened' })
  const other = await findBroadcast(store.read, accountId, twice.to.split('/').at(-1) ?? '')
  t.same(JSON.parse(other.whom ?? '{}').segments, [segmentId], 'the segment is not made again')
  const rows = await store.read
    .selectFrom('audit_log')
    .select('detail')
    .where('target', '=', again.id)
    .execute()
  t.match(JSON.stringify(rows), /not_opened/)
})

t.test('a campaign is put together of blocks, and of a template', async (t) => {
  const dot = 'R0lGODlhAQABAIAAAP///wAAACwAAAAAAQABAAACAkQBADs='
  const picture = await call('POST', '/v1/pictures', { name: 'dot.gif', content: dot })
  const offering = (await owner.get(`${base}/campaigns/new`)).text
  t.ok(offering.includes(`<option value="${picture.url}">dot.gif</option>`), 'it is offered')
  const begun = await owner.get(`${base}/campaigns/new`)
  t.match(begun.text, 'name="b.0.type"')
  t.notMatch(begun.text, 'name="html"')
  t.match((await owner.get(`${base}/campaigns/new?with=html`)).text, 'name="html"')
  for (const { name, title, document } of layouts) {
    t.match(begun.text, new RegExp(`<button name="layout" value="${name}"[^>]*>${title}<`))
    const { text } = await owner.get(`${base}/campaigns/new?layout=${name}`)
    const { type } = document.blocks.at(-1) ?? {}
    t.ok(text.includes(`name="b.${document.blocks.length - 1}.type" value="${type}"`), name)
    t.notMatch(text, 'Write here what you have to say', 'and the preview is of it')
  }
  const layout = { ...form, document: '{}', subject: 'Typed before', layout: 'digest' }
  const chosen = (await owner.post(`${base}/campaigns/new/preview`, layout)).text
  t.match(chosen, 'value="Typed before"', 'what was typed before it is chosen stays')
  t.match(chosen, 'The most important entry')
  const html = { ...layout, layout: '', with: 'html' }
  const written = (await owner.post(`${base}/campaigns/new/preview`, html)).text
  t.match(written, /name="html"[\s\S]*value="Typed before"|value="Typed before"[\s\S]*name="html"/)
  const digest = (await owner.get(`${base}/campaigns/new?layout=digest`)).text
  t.match(digest, 'The most important entry')
  t.match(digest, 'What happened, and why your readers should care. Read it', 'as text')
  t.match((await owner.get(`${base}/campaigns/new?layout=none`)).text, 'Write here what you have')
  const { html: _, ...rest } = form
  const blocks = {
    document: '{}',
    'b.0.type': 'heading',
    'b.0.text': 'Hello {{ firstName }} & <co>',
    'b.1.type': 'button',
    'b.1.text': 'Look',
    'b.1.url': 'https://shop.test/',
  }
  const wrong = await owner.post(`${base}/campaigns/new`, { ...rest, ...blocks, 'b.1.url': 'x' })
  t.match(
    (await owner.get(wrong.to)).text,
    /id="field-b\.1\.url-fault">Write a link or a merge tag/,
  )
  const made = await owner.post(`${base}/campaigns/new`, { ...rest, ...blocks })
  const { id = '' } = /campaigns\/(?<id>[^/]+)$/.exec(made.to)?.groups ?? {}
  const detail = await call('GET', `/v1/broadcasts/${id}`)
  t.match(detail.blocks.blocks, [{ type: 'heading' }, { type: 'button' }])
  t.match((await owner.get(made.to)).text, 'value="Hello {{ firstName }} &amp; &lt;co&gt;"')
  const added = { ...rest, ...blocks, do: 'add:1', 'kind.1': 'divider' }
  t.match((await owner.post(`${made.to}/preview`, added)).text, 'Line 3')

  const asBrought = { ...rest, ...blocks, 'b.0.text': 'Your main story' }
  const unchanged = (await owner.post(`${base}/campaigns/new`, asBrought)).to
  const told = /are the layout’s, and nobody has changed them: “Your main story”\./
  t.match((await owner.get(`${unchanged}/send`)).text, told)
  t.notMatch((await owner.get(`${made.to}/send`)).text, /are the layout’s/)
  t.same((await call('PATCH', `/v1/broadcasts/${id}`, { name: 'Other' })).blocks, detail.blocks)
  const copy = (await owner.post(`${made.to}/duplicate`)).to.split('/').at(-1)
  t.same((await call('GET', `/v1/broadcasts/${copy}`)).blocks, detail.blocks)
  t.equal((await call('PATCH', `/v1/broadcasts/${id}`, { html: '<p>x</p>' })).blocks, null)

  const body = { slug: 'news', subject: 'From a template', blocks: detail.blocks }
  t.equal((await call('POST', '/v1/templates', body)).slug, 'news')
  const of = (await owner.get(`${base}/campaigns/new?template=news`)).text
  t.match(of, 'value="From a template"')
  t.match(of, 'value="Hello {{ firstName }} &amp; &lt;co&gt;"')
})

t.test(
  'what somebody has written gives way to another beginning only if they say so',
  async (t) => {
    const at = `${base}/campaigns/new/preview`
    const { html: _, ...rest } = form
    const mine = { ...rest, document: '{}', 'b.0.type': 'text', 'b.0.text': 'My own words' }
    for (const [name, value, title] of [
      ['layout', 'digest', '“Digest”'],
      ['with', 'html', 'HTML'],
    ] as const) {
      const asked = (await owner.post(at, { ...mine, [name]: value })).text
      t.ok(asked.includes(`${title} would take the place of the blocks`), name)
      t.match(asked, />\nMy own words</, 'they are still there')
      t.match(asked, new RegExp(`name="replace" value="${name}:${value}"`))
      const agreed = (await owner.post(at, { ...mine, replace: `${name}:${value}` })).text
      t.notMatch(agreed, /My own words|would take the place/)
      t.match(agreed, name === 'layout' ? /The most important entry/ : /name="html"/)
      t.match(agreed, 'value="Week 48"', 'the rest stays')
    }
    const kept = (await owner.post(at, mine)).text
    t.match(kept, /My own words/)
    t.notMatch(kept, /would take the place/)
    const back = (await owner.post(at, { ...form, with: 'blocks' })).text
    t.match(back, /would take the place of the HTML/)
    // What a page has to begin with gives way at once, with all that its form says of empty fields.
    const begun = { 'b.0.type': 'heading', 'b.0.level': '1', 'b.1.type': 'text', 'b.1.size': '' }
    const words = {
      'b.0.text': 'Hello {{ firstName | default: "there" }}',
      'b.1.text': 'Write here what you have to say.',
      'b.2.type': 'button',
      'b.2.text': 'Have a look',
      'b.2.url': 'https://example.com/',
      'b.3.type': 'divider',
      'b.4.type': 'footer',
      'b.4.text': '',
    }
    const first = { ...rest, document: '{}', ...begun, ...words }
    const changed = (await owner.post(at, { ...first, layout: 'digest' })).text
    t.match(changed, /The most important entry/)
  },
)

t.test('a merge tag that cannot be read is told in its card', async (t) => {
  const { html: _, ...rest } = form
  const bad = {
    document: '{}',
    'b.0.type': 'heading',
    'b.0.text': 'Hello {{ firstName | default: "you" }}',
    'b.1.type': 'columns',
    'b.1.columns': '2',
    'b.1.0.0.type': 'text',
    'b.1.0.0.text': 'Left',
    'b.1.1.0.type': 'list',
    'b.1.1.0.items': 'One\r\nTwo for {{ firstName | nofilter }}',
  }
  const refused = await owner.post(`${base}/campaigns/new`, { ...rest, ...bad })
  t.match(
    (await owner.get(refused.to)).text,
    /id="field-b\.1\.1\.0\.items-fault">Block 2 [^<]*nofilter/,
  )
  const seen = (await owner.post(`${base}/campaigns/new/preview`, { ...rest, ...bad })).text
  t.match(seen, /role="alert"><p>Block 2 \(columns\), block 1 \(list\) of column 2/)
  const open = { version: 1, blocks: [{ type: 'divider' }, { type: 'text', text: 'x {{ y' }] }
  const document = {
    version: 1,
    blocks: [{ type: 'divider' }, { type: 'text', text: '{{ a | b }}' }],
  }
  const given = { listId, from: 'a@sender.test', subject: 'Hi', draft: true }
  const post = (path: string, body: object) => posthorn.call('POST', path, { body })
  t.match(await post('/v1/broadcasts', { ...given, blocks: open }), {
    status: 422,
    json: {
      field: 'blocks.1.text',
      error: 'Block 2 (text) has a syntax error: the tag {{ y has no end; write }} after it',
    },
  })
  t.match(await post('/v1/broadcasts', { ...given, blocks: document }), {
    status: 422,
    json: {
      field: 'blocks.1.text',
      error: /^Block 2 \(text\) has a syntax error: “b” in .* is no filter/,
    },
  })
  const html = '<p>x</p>'
  t.match(await post('/v1/broadcasts', { ...given, html, variants: [{}, { blocks: document }] }), {
    status: 422,
    json: { field: 'variants.1.blocks.1.text', error: /^Version B: Block 2 \(text\)/ },
  })
  t.match(await post('/v1/templates', { slug: 'bad', subject: 'x', blocks: document }), {
    status: 422,
    json: { field: 'blocks.1.text', error: /^Block 2 \(text\)/ },
  })
})

t.test('a time that is over is told in words of people', async (t) => {
  for (const at of [`${base}/campaigns/new`, `${base}/emails/new`]) {
    const typed = { ...form, to: 'ann@x.test', content: 'x', scheduledAt: '2020-01-04T09:00' }
    const refused = await owner.post(at, typed)
    t.equal(refused.status, 422, at)
    t.match(refused.text, /id="field-scheduledAt-fault">This time is over: choose one to come/)
    t.notMatch(refused.text, /scheduledAt is/)
  }
})

t.test('by API a campaign has html or blocks', async (t) => {
  const given = { listId, from: 'a@sender.test', subject: 'Hi', draft: true }
  const document = { version: 1, blocks: [{ type: 'text', text: 'Hello' }] }
  const both = { ...given, html: '<p>x</p>', blocks: document }
  const post = (body: object) => posthorn.call('POST', '/v1/broadcasts', { body })
  t.match(await post(both), { status: 400, text: /html or blocks, and not both/ })
  t.match(await post({ ...given, draft: false }), { status: 400, text: /Expected html or blocks/ })
  const odd = { version: 1, blocks: [{ type: 'hero' }] }
  t.match(await post({ ...given, blocks: odd }), { status: 400, text: /Expected heading/ })
  const made = await post({ ...given, blocks: document })
  t.equal(made.status, 200)
  const { blocks } = await call('GET', `/v1/broadcasts/${made.json.id}`)
  t.same(blocks, document)
})

t.test(
  'what an audience has stays ticked, however old its list, also one that is deleted',
  async (t) => {
    const { id: gone } = await call('POST', '/v1/contacts/lists', { name: 'Gone' })
    const audience = { lists: [listId, gone] }
    const given = { from: 'a@sender.test', subject: 'Hi', html: '<p>x</p>', draft: true, audience }
    const { id } = await call('POST', '/v1/broadcasts', given)
    for (let n = 0; n < 41; n++) await call('POST', '/v1/contacts/lists', { name: `Newer ${n}` })
    const ticked = (text: string) =>
      [...text.matchAll(/name="lists" value="([^"]+)" checked/g)].map(([, value]) => value)
    t.same(ticked((await owner.get(`${base}/campaigns/${id}`)).text).sort(), [listId, gone].sort())
    await call('DELETE', `/v1/contacts/lists/${gone}`)
    const { text } = await owner.get(`${base}/campaigns/${id}`)
    t.same(ticked(text).sort(), [listId, gone].sort())
    t.match(text, 'One that is deleted')
  },
)

t.test('what the API would refuse a page refuses too, beside its field', async (t) => {
  const cases = {
    subject: 'a\r\nBcc: x@y.test',
    replyTo: 'garbage',
    name: 'x'.repeat(201),
    previewText: 'x'.repeat(201),
  }
  for (const [field, value] of Object.entries(cases)) {
    const refused = await owner.post(`${base}/campaigns/new`, { ...form, [field]: value })
    t.equal(refused.status, 422, field)
    t.match(refused.text, new RegExp(`id="field-${field}-fault"`), field)
  }
  const quoted = '"Doe, Jane" <jane@sender.test>, bob@sender.test'
  const made = await owner.post(`${base}/campaigns/new`, { ...form, replyTo: quoted })
  const { replyTo } = await call('GET', `/v1/broadcasts/${made.to.split('/').at(-1)}`)
  t.same(replyTo, ['"Doe, Jane" <jane@sender.test>', 'bob@sender.test'])
})

t.test('a draft keeps its moment where nobody types another one', async (t) => {
  const person = await store.read.selectFrom('users').select('id').executeTakeFirstOrThrow()
  await store.write((tx) =>
    tx
      .updateTable('users')
      .set({ time_zone: 'Europe/Berlin' })
      .where('id', '=', person.id)
      .execute(),
  )
  // 02:30 comes twice that night; this is the second one.
  const scheduledAt = '2027-10-31T01:30:00.000Z'
  const given = { from: 'a@sender.test', subject: 'Hi', html: '<p>x</p>', listId, draft: true }
  const { id } = await call('POST', '/v1/broadcasts', { ...given, scheduledAt })
  const shownAt = (text: string) => /name="scheduledAt"[^>]*value="([^"]+)"/.exec(text)?.[1] ?? ''
  const at = shownAt((await owner.get(`${base}/campaigns/${id}`)).text)
  t.equal(at, '2027-10-31T02:30')
  const saved = await owner.post(`${base}/campaigns/${id}`, {
    ...form,
    scheduledAt: at,
    revision: '0',
  })
  t.equal(saved.status, 303, saved.text.slice(0, 300))
  t.equal((await call('GET', `/v1/broadcasts/${id}`)).scheduledAt, scheduledAt)

  t.equal((await owner.post(`${base}/campaigns/${id}/send`, { revision: '1' })).status, 303)
  t.equal((await owner.post(`${base}/campaigns/${id}/take-back`)).status, 303)
  const back = await findBroadcast(store.read, accountId, id)
  t.match(back, { status: 'draft', scheduled_at: Date.parse(scheduledAt), revision: 2 })
  const old = await owner.post(`${base}/campaigns/${id}/send`, { revision: '1' })
  t.equal(old.status, 422, 'a page of before')
  await owner.post(`${base}/campaigns/${id}/send`, { revision: '2' })
  await pauseBroadcast(
    { store, clock: systemClock },
    { account_id: accountId, id },
    { reason: 'ask first' },
  )
  t.equal(
    (await owner.post(`${base}/campaigns/${id}/take-back`)).status,
    409,
    'the operator’s pause',
  )
})

t.test('a segment whose rule names what is gone is no audience and leaves nobody in', async (t) => {
  const { id: gone } = await call('POST', '/v1/contacts/lists', { name: 'Gone soon' })
  const rule = { field: `list.${gone}.joinedAt`, operator: 'exists' }
  const { id: segmentId } = await call('POST', '/v1/segments', { name: 'Left out', rule })
  const audience = { lists: [listId], withoutSegments: [segmentId] }
  const given = { from: 'a@sender.test', subject: 'Hi', html: '<p>x</p>', audience, draft: true }
  const { id } = await call('POST', '/v1/broadcasts', given)
  await call('DELETE', `/v1/contacts/lists/${gone}`)
  const sent = await posthorn.call('POST', `/v1/broadcasts/${id}/send`)
  t.match(sent, { status: 404, text: /The segment \\"Left out\\"/ })
  const copy = await call('POST', `/v1/broadcasts/${id}/duplicate`)
  t.equal(copy.status, 'draft')
})

t.test('a page that is hard to read costs no minute', async (t) => {
  const html = `<p>x</p>${'<img '.repeat(300_000)}`
  const { id } = await call('POST', '/v1/broadcasts', {
    from: 'a@sender.test',
    subject: 'Hi',
    html,
    listId,
    draft: true,
  })
  const { user } = process.cpuUsage()
  t.equal((await owner.get(`${base}/campaigns/${id}/send`)).status, 200)
  t.comment(`${Math.round((process.cpuUsage().user - user) / 1000)} ms`)
})

t.test(
  'rate, hours and everybody’s own clock are chosen in the draft, and changed while it waits',
  async (t) => {
    const paced = {
      ...form,
      rate: '1,200',
      window: '09:00',
      windowTo: '17:00',
      windowDays: '1',
      windowZone: 'Africa/Lagos',
      scheduledAt: '2027-12-24T09:00',
      ownTime: 'on',
    }
    const wrong = await owner.post(`${base}/campaigns/new`, { ...paced, windowZone: 'Lagos' })
    t.match(wrong, { status: 422, text: /field-windowZone-fault">There is no such zone/ })
    const faulty = async (more: object) =>
      (await owner.post(`${base}/campaigns/new`, Object.assign({}, paced, more))).text
    t.match(await faulty({ rate: 'many' }), /field-rate-fault">Write a whole number/)
    t.match(await faulty({ windowTo: '' }), /field-windowTo-fault">Say until when too/)
    t.match(await faulty({ window: '' }), /field-window-fault">Say from when too/)
    const made = await owner.post(`${base}/campaigns/new`, paced)
    t.equal(made.status, 303, made.text.slice(0, 300))
    const id = made.to.split('/').at(-1) ?? ''
    t.match(await call('GET', `/v1/broadcasts/${id}`), {
      rate: 1_200,
      window: { from: '09:00', to: '17:00', days: [1], zone: 'Africa/Lagos' },
      localTimeOf: 'Europe/Berlin',
    })
    const draft = (await owner.get(made.to)).text
    t.match(draft, /name="rate"[^>]*value="1200"/)
    t.match(draft, 'When clocks change, a skipped 02:30 is 03:30', 'of the hours')
    t.notMatch(draft, 'on this day')
    const skipped = await owner.post(`${base}/campaigns/new`, {
      ...form,
      scheduledAt: '2027-03-28T02:30',
    })
    t.match(
      (await owner.get(skipped.to)).text,
      'Clocks are set forward on this day: they skip 02:30, which counts as 03:30.',
    )
    const twice = { ...form, scheduledAt: '2027-10-31T02:30', revision: '0' }
    t.equal((await owner.post(skipped.to, twice)).status, 303)
    t.match((await owner.get(skipped.to)).text, 'this time comes twice: the first counts.')
    await owner.post(`${skipped.to}/send`, { revision: '1' })
    t.match(
      (await owner.get(skipped.to)).text,
      /31 Oct 2027, 02:30:00 \(Europe\/Berlin\)\. Clocks are set back/,
    )
    t.equal((await owner.post(`${skipped.to}/cancel`)).status, 303)
    t.match(
      (await owner.get(`${made.to}/send`)).text,
      /2 people<\/b>, at 09:00 by each recipient’s own clock, or when its hours next begin: from 27 Dec 2027/,
    )
    await owner.post(`${made.to}/send`, { revision: '0' })
    const page = (await owner.get(made.to)).text
    t.match(page, /by each recipient’s own clock/)
    const going = (await owner.get(`${base}/campaigns?show=going`)).text
    t.match(going, 'It leaves at 24 Dec 2027, 09:00:00, by each recipient’s own clock')
    t.match(page, /at most 1,200 an hour, from 09:00 until 17:00 on Mon, the time in Lagos/)
    const typed = await owner.post(`${made.to}/pace`, { rate: '1e3' })
    const opened = /<details class="card" open><summary>Change how fast[\s\S]*value="1e3"/
    t.match(typed, { status: 422, text: opened }, 'what was typed is seen')
    t.match(typed.text, /Write a whole number of mails/)
    t.equal((await owner.post(`${made.to}/pace`, { rate: '0' })).status, 422)
    t.equal((await owner.post(`${made.to}/pace`, { rate: '50', window: '' })).status, 303)
    t.match(await call('GET', `/v1/broadcasts/${id}`), { rate: 50, window: null })
    t.equal((await owner.post(`${made.to}/cancel`)).status, 303)
    t.equal((await call('GET', `/v1/broadcasts/${id}`)).status, 'cancelled')
  },
)

t.test('before it is sent: links, contrast, subject and when it will be done', async (t) => {
  const blocks = {
    version: 1,
    blocks: [
      { type: 'text', text: 'Pale', color: '#eeeeee' },
      { type: 'button', text: 'Go', url: 'https://127.0.0.1:1/x' },
      {
        type: 'text',
        text: '[Leave]({{ unsubscribe_url }}) [Seen]({{ view_url }}) [Short](https://bit.ly/x)',
      },
    ],
  }
  const { id } = await call('POST', '/v1/broadcasts', {
    from: 'a@sender.test',
    subject: 'BUY THIS NOW!!!',
    blocks,
    listId,
    rate: 60,
    draft: true,
  })
  const page = `${base}/campaigns/${id}/send`
  const looked = (await owner.get(page)).text
  t.match(looked, /Some words are hard to read: their contrast is 1\.\d/)
  t.match(looked, /in capitals throughout/)
  t.match(looked, /bit\.ly\/x: Filters distrust link shorteners/)
  t.match(looked, /Done at about .* 3 mails, at its rate of 60 an hour/)
  t.notMatch(looked, /was not filled in/, 'each copy has its own link')
  t.match(looked, /A link leads to \{\{ view_url \}\}, which is empty/)
  t.notMatch(looked, /Not reached/, 'nothing is asked for before somebody wants it')
  const asked = await owner.post(`${page}/links`)
  t.match(asked, { status: 200, text: /https:\/\/127\.0\.0\.1:1\/x: Not reached/ })
})

t.test('a forecast goes by rate and hours', (t) => {
  const start = Date.parse('2026-11-30T16:00:00Z')
  const window = { from: '09:00', to: '17:00', zone: 'UTC' }
  const iso = (given: object) => {
    const end = lastLeavesAt(start, { people: 3_000, rate: 1_000, window: null, ...given })
    return end === undefined ? undefined : new Date(end).toISOString()
  }
  t.equal(iso({}), '2026-11-30T19:00:00.000Z')
  t.equal(iso({ window }), '2026-12-01T11:00:00.000Z', 'an hour today, two tomorrow')
  t.equal(iso({ window: { ...window, days: [1] } }), '2026-12-07T11:00:00.000Z')
  t.equal(iso({ rate: 1, people: 1e6, window: { ...window, days: [1] } }), undefined)
  t.end()
})

t.test('a notice reaches who has unsubscribed, by an owner alone, once a day', async (t) => {
  const before = mx.messages.length
  await call('POST', '/v1/suppressions', { email: 'ann@x.test', reason: 'unsubscribe' })
  await call('POST', '/v1/suppressions', { email: 'bob@x.test', reason: 'bounce' })
  const html = '<p>New terms</p>{{ unsubscribe_footer }}'
  const given = { from: 'a@sender.test', subject: 'Terms', html, draft: true }
  const draftOf = async () => (await call('POST', '/v1/broadcasts', { ...given, listId })).id
  const id = await draftOf()
  const here = `${base}/campaigns/${id}`
  const member = await logIn(posthorn, accountId, 'member')
  t.equal((await member.post(`${here}/notice`, { reason: 'We have new terms' })).status, 403)
  t.notMatch((await member.get(here)).text, /Must everybody get it/)
  t.match(await owner.post(`${here}/notice`, { reason: 'x' }), { status: 422, text: /10 to 300/ })
  t.equal((await owner.post(`${here}/notice`, { reason: 'We have new terms' })).status, 303)
  const looked = (await owner.get(`${here}/send`)).text
  t.match(looked, /3 people, of whom 2 can be mailed. Not mailed: 1 with an address that bounced/)
  t.match(
    looked,
    /also who has unsubscribed, and nobody can unsubscribe in it: “We have new terms”/,
  )
  const revision = '1'
  t.match((await member.post(`${here}/send`, { revision })).text, /sent by an owner/)
  t.match(await posthorn.call('POST', `/v1/broadcasts/${id}/send`), { status: 403 })
  t.equal((await owner.post(`${here}/send`, { revision })).status, 303)
  const again = `${base}/campaigns/${await draftOf()}`
  await owner.post(`${again}/notice`, { reason: 'We have newer terms' })
  const once =
    /One notice leaves a day, and another one does on \d+ \w+ \d{4}, \d\d:\d\d \(Europe\/Berlin/
  t.match((await owner.get(`${again}/send`)).text, once, 'the check says so')
  t.match(await owner.post(`${again}/send`, { revision }), {
    status: 422,
    text: once,
  })
  await store.write((tx) =>
    tx.updateTable('broadcasts').set({ scheduled_at: Date.now() }).where('id', '=', id).execute(),
  )
  while ((await findBroadcast(store.read, accountId, id)).status !== 'sent') {
    await new Promise((done) => setTimeout(done, 100))
  }
  const mails = mx.messages.slice(before)
  t.same(mails.map(({ to }) => to[0]).sort(), ['ann@x.test', 'eve@x.test'])
  const raw = mails[0]?.raw.toString() ?? ''
  t.notMatch(raw, /^List-Unsubscribe|You receive this|\/unsubscribe\//m)
  t.match(raw, /<p>New terms<\/p>[\r\n]*(?:--|<)/, 'nor anything in the place of its footer')
  t.match(await call('GET', `/v1/broadcasts/${id}`), { notice: 'We have new terms' })
  const copy = await call('POST', `/v1/broadcasts/${id}/duplicate`)
  t.match(await call('GET', `/v1/broadcasts/${copy.id}`), { notice: null })
})

t.test('a test and a copy carry the files and tags of a campaign', async (t) => {
  const before = mx.messages.length
  const { id } = await call('POST', '/v1/broadcasts', {
    from: 'a@sender.test',
    subject: 'Programme',
    html: '<p>x</p>',
    listId,
    draft: true,
    tags: [{ name: 'season', value: 'winter' }],
    attachments: [{ filename: 'hall.txt', content: Buffer.from('Hall 7').toString('base64') }],
  })
  await owner.post(`${base}/campaigns/${id}/test`, { to: 'files@sender.test' })
  const mail = () => mx.messages.slice(before).find(({ to }) => to[0] === 'files@sender.test')
  while (mail() === undefined) await new Promise((done) => setTimeout(done, 50))
  t.match(mail()?.raw.toString(), /filename="?hall\.txt/)
  const copy = await call('POST', `/v1/broadcasts/${id}/duplicate`)
  const { attachments, tags } = await call('GET', `/v1/broadcasts/${copy.id}`)
  t.match(attachments, [{ filename: 'hall.txt', size: 6 }])
  t.same(tags, [{ name: 'season', value: 'winter' }])
  // A mail of an application stands in the calendar, and tests do not.
  const own = { from: 'a@sender.test', to: 'ann2@x.test', subject: 'x', html: '<p>x</p>' }
  await call('POST', '/v1/emails/send', { ...own, type: 'marketing' })
  for (;;) {
    const { text } = await owner.get(`${base}/campaigns/calendar`)
    if (/other marketing mail/.test(text)) {
      t.match(text, />1 other marketing mail</)
      break
    }
    await new Promise((done) => setTimeout(done, 100))
  }
})

t.test('files are added to a draft and taken away, with all that is typed', async (t) => {
  const made = await owner.post(`${base}/campaigns/new`, form)
  const here = made.to
  const id = here.split('/').at(-1) ?? ''
  const revision = async () => String((await findBroadcast(store.read, accountId, id)).revision)
  const send = async (files: readonly [string, string | Buffer][], more: object) => {
    const body = new FormData()
    const fields = { ...form, subject: 'Typed', revision: await revision(), ...more }
    for (const [name, value] of Object.entries(fields)) body.append(name, value)
    for (const [name, bytes] of files) body.append('file', new File([bytes], name))
    return await owner.post(here, body)
  }
  const carried = async () =>
    (await call('GET', `/v1/broadcasts/${id}`)).attachments.map(
      ({ filename }: { filename: string }) => filename,
    )
  t.match((await owner.get(here)).text, /formenctype="multipart\/form-data">Save and add</)
  const two = [
    ['hall.txt', 'Hall 7'],
    ['plan.txt', 'Upstairs'],
  ] as const
  const added = await send(
    [...two].map(([name, text]) => [name, text]),
    { next: 'files' },
  )
  t.equal(added.to, `${here}#files`, added.text.slice(0, 400))
  t.same(await carried(), ['hall.txt', 'plan.txt'])
  t.equal((await call('GET', `/v1/broadcasts/${id}`)).subject, 'Typed')
  t.match((await owner.get(here)).text, /hall\.txt <span class="quiet">1 KB/)
  t.equal((await send([], { next: 'files' })).status, 422)
  const large = await send([['big.bin', Buffer.alloc(10_485_760)]], { next: 'files' })
  t.equal(large.status, 422)
  t.match(large.text, /id="field-file-fault">All of them together have at most 10 MiB/)
  t.match(large.text, /value="Typed"/)
  t.equal((await send([], { next: 'unfile:0' })).status, 303)
  t.same(await carried(), ['plan.txt'])
  t.equal((await send([], {})).status, 303)
  t.same(await carried(), ['plan.txt'], 'saving leaves them')
})

t.test('a test is as a contact sees it who is chosen', async (t) => {
  const made = await owner.post(`${base}/campaigns/new`, form)
  const test = { to: 'look@sender.test', as: 'bob@x.test' }
  t.equal((await owner.post(`${made.to}/test`, test)).status, 303)
  const mail = () => mx.messages.find(({ to }) => to[0] === 'look@sender.test')
  while (mail() === undefined) await new Promise((done) => setTimeout(done, 50))
  t.match(mail()?.raw.toString(), /Subject: For bob/)
  const wrong = await owner.post(`${made.to}/test`, { ...test, as: 'nobody@x.test' })
  t.match(wrong.text, /no contact with the address nobody@x\.test/)
})

t.test('a draft of blocks goes on in HTML where somebody wants that', async (t) => {
  const { html: _, ...rest } = form
  const blocks = { document: '{}', 'b.0.type': 'text', 'b.0.text': 'In blocks' }
  const made = await owner.post(`${base}/campaigns/new`, { ...rest, ...blocks })
  const page = (await owner.get(made.to)).text
  t.match(page, /There is no way back to blocks/)
  const typed = { ...rest, ...blocks, 'b.0.text': 'Typed since', revision: '0', next: 'to-html' }
  t.equal((await owner.post(made.to, typed)).to, made.to)
  const after = (await owner.get(made.to)).text
  t.match(after, /name="html"[^>]*>[\s\S]*Typed since/)
  t.notMatch(after, /name="b\.0\.text"|no way back/)
})

t.test('senders are offered, the last used first', async (t) => {
  const page = (await owner.get(`${base}/campaigns/new`)).text
  const [, offered = ''] = /<datalist id="senders">(.*?)<\/datalist>/.exec(page) ?? []
  t.match(offered, /^<option value="News &lt;news@sender\.test&gt;">/)
  t.match(offered, /<option value="[^"]* &lt;news@sender\.test&gt;"><\/option>/)
})

t.test('the list says who left, and how far is what is being sent', async (t) => {
  const id = newUuid(Date.now())
  const sentAt = Date.now() - 60_000
  const row = { id, accountId, subject: 'On its way', mails: 5_000, hours: 1, sentAt }
  await insertCampaignRows(store, { ...row, status: 'sending' })
  const list = (await owner.get(`${base}/campaigns`)).text
  t.match(list, /id="sending" data-live>[\s\S]*On its way[\s\S]*4,500 of 5,000 mails are done/)
  const going = (await owner.get(`${base}/campaigns?show=going`)).text
  t.match(going, /data-label="Left"[^>]*>2</)
})

t.test('the page of a large draft stays small, and saving it changes none of it', async (t) => {
  const html = `<p>${'Long words, '.repeat(150_000)}</p>`
  const { id } = await call('POST', '/v1/broadcasts', {
    from: 'a@sender.test',
    subject: 'Long',
    html,
    listId,
    draft: true,
  })
  const here = `${base}/campaigns/${id}`
  const page = (await owner.get(here)).text
  t.ok(page.length < 64_000, `${page.length}`)
  t.match(page, /too much to be written here/)
  t.equal((await owner.get(`${here}/html`)).text, html)
  const saved = { ...form, html: '', keepsHtml: 'on', subject: 'Longer', revision: '0' }
  t.equal((await owner.post(here, saved)).status, 303)
  t.equal(await htmlOf(store.read, await findBroadcast(store.read, accountId, id)), html)
  const written = { ...saved, html: '<p>Short</p>', revision: '1' }
  t.equal((await owner.post(here, written)).status, 303)
  t.match((await owner.get(here)).text, /&lt;p>Short|&lt;p&gt;Short/)
})
