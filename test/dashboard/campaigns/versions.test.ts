// Issue 44: versions of a campaign by pages, without script: added, written, taken away, checked, chosen.
import t from 'tap'
import { findPlan, loadPlans, setMarketingPlan } from '../../../src/billing/index.js'
import { draftVersions, findBroadcast, htmlOf } from '../../../src/broadcasts/index.js'
import { packageFile } from '../../../src/config/index.js'
import { logIn } from '../../support/log-in.js'
import { startPosthorn } from '../../support/posthorn.js'

const hostile = '"><img src=x onerror=alert(1)><script>alert(1)</script>'
const posthorn = await startPosthorn(t)
const { store, accountId } = posthorn
const base = `/a/${accountId}`
const plan = findPlan(loadPlans(packageFile('config/plans.toml')).marketing, 'Marketing Plus')
await store.write((tx) => setMarketingPlan(tx, accountId, plan))
const owner = await logIn(posthorn, accountId, 'owner')
const viewer = await logIn(posthorn, accountId, 'viewer')
const call = async (method: string, path: string, body: object) =>
  (await posthorn.call(method, path, { body })).json
const { id: listId } = await call('POST', '/v1/contacts/lists', { name: 'Readers' })
await call('POST', `/v1/contacts/${listId}`, { email: 'ann@x.test' })
const content = { from: 'News <news@sender.test>', subject: hostile, html: '<p>x</p>', listId }
const { id } = await call('POST', '/v1/broadcasts', { ...content, draft: true })
const draft = `${base}/campaigns/${id}`
const form = { from: content.from, subject: 'Hi', html: '<p>x</p>', revision: '0' }
const found = () => findBroadcast(store.read, accountId, id)
const versions = async () => (await draftVersions(store.read, await found())).variants
const save = async (more: Record<string, string>) =>
  await owner.post(`${draft}/versions`, { revision: String((await found()).revision), ...more })

t.test('versions are added, written and taken away, a button each', async (t) => {
  t.match((await owner.get(draft)).text, /form="editor" name="next" value="versions"/)
  t.match((await owner.get(`${draft}/versions`)).text, /Begin with two versions/)
  t.equal((await save({ next: 'add' })).status, 303)
  t.match(await versions(), [{ key: 'A' }, { key: 'B' }])
  const two = { key1: 'A', key2: 'B', subject2: hostile, fromName2: 'Ann', share: '30' }
  const test = { decideAfter: 'by hand', by: 'opens', ifClose: 'wait' }
  t.equal((await save({ ...two, ...test, next: 'add' })).status, 303)
  t.match(await versions(), [{ key: 'A' }, { key: 'B', subject: hostile }, { key: 'C' }])
  const page = await owner.get(`${draft}/versions`)
  t.match(page.text, /1 hour after the last mail of the test/)
  t.match(page.text, /value="Ann"/)
  t.match(page.text, /Each version goes to 0 people, and needs 100/, 'told at once')
  t.notMatch(page.text, /<img src=x|<script>alert/, 'what was typed is escaped')
  const checks = (await owner.get(`${draft}/send`)).text
  t.match(checks, /3 versions are tried on 30 % of the audience/)
  t.match(checks, /opens of this campaign will not be measured/)
  t.match(checks, /Versions A and C are alike/)
  t.match(checks, /Each version goes to 0 people, and needs 100/)
  const bad = await save({ ...two, share: '0' })
  t.equal(bad.status, 422)
  t.match(bad.text, /from 1 to 100/)
  t.equal((await owner.post(`${draft}/versions`, { revision: '0', ...two })).status, 422)
  t.equal((await save({ ...two, key3: 'C', next: 'remove-3' })).status, 303)
  t.equal((await versions()).length, 2)
  t.equal((await viewer.get(`${draft}/versions`)).status, 403)
})

t.test('a version has a content of its own, which is looked at as the draft’s is', async (t) => {
  const typed = {
    key1: 'A',
    key2: 'B',
    subject2: hostile,
    fromName2: 'Ann',
    share: '30',
    decideAfter: '8',
  }
  const faulty = await save({ ...typed, share: '0', subject1: 'Typed A' })
  t.equal(faulty.status, 422)
  t.match(faulty.text, /name="subject1"[^>]* value="Typed A"/, 'what was typed is kept')
  t.match(faulty.text, /name="fromName2"[^>]* value="Ann"/)
  const led = await save({ ...typed, next: 'content-2' })
  t.equal(led.to, `${draft}/versions/B`)
  const begun = (await owner.get(led.to)).text
  t.match(begun, /name="html"[^>]*>\n&lt;p&gt;x&lt;\/p&gt;<\/textarea>/, 'a copy of the draft’s')
  t.match(begun, /of which this is a copy/)
  const write = async (more: Record<string, string>) =>
    owner.post(led.to, { revision: String((await found()).revision), ...more })
  const broken = await write({ html: '<p>{{ oops </p>' })
  t.equal(broken.status, 422)
  t.match(
    broken.text,
    /Version B: HTML, line 1: the tag \{\{ oops has no end; write \}\} after it/,
    'the letter is named',
  )
  t.match(broken.text, '{{ oops &lt;/p&gt;', 'what was typed is kept')
  const html = '<p>Only B {{ shoe }}</p><a href="#">y</a>'
  t.equal((await write({ html })).status, 303)
  t.match(await draftVersions(store.read, await found()), {
    variants: [
      { key: 'A', html: undefined },
      { key: 'B', subject: hostile, fromName: 'Ann', html },
    ],
    test: { share: 30, decideAfter: 8 },
  })
  t.match((await owner.get(`${draft}/versions`)).text, /It has a content of its own/)
  const checks = (await owner.get(`${draft}/send`)).text
  t.match(checks, /Version B: The link #/)
  t.match(checks, /Version A: There is no link in it/)
  const looked = await owner.post(`${draft}/preview`, { ...form, version: 'B' })
  t.match(looked.text, /<pre[^>]*>Only B/, 'the preview shows the version')
  t.notMatch((await owner.post(`${draft}/preview`, form)).text, /<pre[^>]*>Only B/)
  const seen = await owner.post(`${led.to}/preview`, { revision: '0', html: '<p>Typed</p>' })
  t.match(seen.text, /<pre[^>]*>Typed/)
  t.equal(
    (await owner.post(`${draft}/test`, { to: 'me@sender.test', testVersion: 'Z' })).status,
    422,
  )
  const test = await owner.post(`${draft}/test`, { to: 'me@sender.test', testVersion: 'B' })
  t.equal(test.status, 303)
  const sent = store.read.selectFrom('bodies').select('html').where('html', 'like', '%Only B </p>%')
  t.equal((await sent.execute()).length, 1, 'the test mail has the content of the version')
  t.equal((await owner.get(`${draft}/versions/Z`)).status, 404)
  t.equal((await viewer.get(led.to)).status, 403)
  t.equal((await write({ html, next: 'as-draft' })).to, `${draft}/versions`)
  t.match((await versions())[1], { key: 'B', html: undefined })
})

t.test('of a draft of blocks a version begins with them, and has its own', async (t) => {
  const blocks = { version: 1, blocks: [{ type: 'text', text: 'Of all' }] }
  const given = { ...content, html: undefined, blocks, variants: [{}, {}] }
  const { id: ofBlocks } = await call('POST', '/v1/broadcasts', { ...given, draft: true })
  const own = `${base}/campaigns/${ofBlocks}/versions/B`
  const begun = (await owner.get(own)).text
  t.match(begun, /name="b\.0\.text"[^>]*>\nOf all</)
  const typed = { revision: '0', document: '{}', 'b.0.type': 'text', 'b.0.text': 'Of B alone' }
  const { revision } = await findBroadcast(store.read, accountId, ofBlocks)
  const saved = await owner.post(own, { ...typed, revision: String(revision) })
  t.equal(saved.to, own)
  const { variants } = (await posthorn.call('GET', `/v1/broadcasts/${ofBlocks}`)).json
  t.match(variants, [{ blocks: null }, { blocks: { blocks: [{ text: 'Of B alone' }] } }])
  t.match((await owner.get(own)).text, /Of B alone/)
})

t.test('versions are told by what inboxes show of them', async (t) => {
  const variants = [{}, { subject: 'Leaves' }, { fromName: 'Ann' }, { previewText: 'For you' }]
  const given = { ...content, subject: 'Autumn', variants, previewText: 'For all' }
  const { id: told } = await call('POST', '/v1/broadcasts', { ...given, draft: true })
  const at = `${base}/campaigns/${told}`
  const names = [
    'Autumn, from News, “For all”',
    'Leaves, from News, “For all”',
    'Autumn, from Ann, “For all”',
    'Autumn, from News, “For you”',
  ]
  const sent = { status: 'sending', cursor: '~~', sent_at: Date.now() } as const
  await store.write((tx) => tx.updateTable('broadcasts').set(sent).where('id', '=', told).execute())
  t.match((await owner.get(at)).text, names.join(' / '), 'its subjects')
  for (const path of [at, `${at}/report`, `${at}/report/mail`]) {
    const { text } = await owner.get(path)
    for (const [n, name] of names.entries()) t.match(text, `${'ABCD'[n]}: ${name}`, path)
  }
})

t.test('a copy has them too, and without them nothing is left', async (t) => {
  const copy = await owner.post(`${draft}/duplicate`)
  const copied = copy.to.split('/').at(-1) ?? ''
  const row = await findBroadcast(store.read, accountId, copied)
  t.match(await draftVersions(store.read, row), {
    variants: [{ key: 'A' }, { key: 'B', fromName: 'Ann' }],
    test: { share: 30 },
  })
  t.equal((await owner.post(`${copy.to}/versions`, { revision: '0', next: 'none' })).status, 303)
  t.same((await findBroadcast(store.read, accountId, copied)).variant_test, null)
})

t.test(
  'of two versions the one that stays is the campaign, and nothing of it is lost',
  async (t) => {
    const variants = [
      { subject: 'A alone' },
      { subject: 'B alone', fromName: 'Bo', html: '<p>B</p>' },
    ]
    const given = Object.assign({ draft: true, variants }, content, { subject: 'Of all' })
    const { id: two } = await call('POST', '/v1/broadcasts', given)
    const at = `${base}/campaigns/${two}`
    t.match((await owner.get(`${at}/versions`)).text, /The campaign then is as version B is/)
    const typed = {
      key1: 'A',
      key2: 'B',
      subject1: 'A alone',
      subject2: 'B typed',
      fromName2: 'Bo',
    }
    const { revision } = await findBroadcast(store.read, accountId, two)
    const sent = { revision: String(revision), share: '30', ...typed, next: 'remove-1' }
    const done = await owner.post(`${at}/versions`, sent)
    t.equal(done.status, 303, done.text.slice(0, 300))
    const after = await findBroadcast(store.read, accountId, two)
    t.match(after, { variant_test: null, subject: 'B typed' })
    t.equal(after.from_header, '"Bo" <news@sender.test>')
    t.equal(await htmlOf(store.read, after), '<p>B</p>')
  },
)

t.test('its page says what the rest waits for, and sends a version to it', async (t) => {
  const decideAt = Date.now() + 3_600_000
  const tested = {
    status: 'sending',
    cursor: '~~',
    sent_at: Date.now() - 600_000,
    audience: 5_000,
    recipients: 1_000,
  } as const
  await store.write((tx) =>
    tx
      .updateTable('broadcasts')
      .set({ ...tested, expanded_at: Date.now(), decide_at: decideAt })
      .where('id', '=', id)
      .execute(),
  )
  const shown = (await owner.get(draft)).text
  t.match(shown, /goes to the rest at/)
  t.match(shown, /not known yet/, 'before anybody did anything there is no chance to tell')
  t.match(
    shown,
    /<summary[^>]*>Send B to the rest now<.*4,000 people who have got none.*Type 4,000/s,
  )
  for (const page of [draft, `${draft}/report`]) {
    const { text } = await owner.get(page)
    t.match(text, /not known yet/)
    t.match(text, /waits until a version is chosen for it/)
    t.notMatch(text, /Time left|an hour</, 'nothing leaves before')
  }
  const inPast = Date.now() - 600_000
  const look = async (values: object) => {
    await store.write((tx) =>
      tx.updateTable('broadcasts').set(values).where('id', '=', id).execute(),
    )
    const paths = [draft, `${draft}/report`, `${base}/campaigns?show=going`, base]
    return await Promise.all(paths.map(async (path) => (await owner.get(path)).text))
  }
  const close =
    'No version was better for sure: it waits until somebody chooses the version for the rest'
  const tooClose = { decide_at: inPast, next_at: Date.now() + 3_600_000, reason: close }
  const [own = '', report = '', list = '', overview = ''] = await look(tooClose)
  for (const text of [own, report]) {
    t.match(text, /Versions?<\/h2>|By version<\/h2>/i)
    t.match(text, new RegExp(`<p>${close}\\.</p>`), 'beside its versions')
    t.notMatch(text, /goes to the rest at/, 'no time that is past')
  }
  t.equal(list.split(close).length, 3, 'above the list, and in its row')
  t.match(overview, `has sent its test. ${close}.`)
  t.match(overview, `href="${draft}">See the campaign`)
  const byHand = 'It waits until somebody chooses the version for the rest'
  t.match((await look({ decide_at: null, reason: byHand }))[1], `<p>${byHand}.</p>`)
  const [undecided] = await look({ decide_at: inPast, next_at: inPast, reason: null })
  t.match(undecided, 'The test is over: a version is chosen for the rest in a moment.')
  t.notMatch((await viewer.get(draft)).text, /to the rest now/)
  t.match((await viewer.get(`${draft}/report`)).text, /By version.*>A: [^<]/s, 'by its subject')
  t.equal((await viewer.post(`${draft}/choose`, { key: 'B' })).status, 403)
  for (const number of ['', '400']) {
    const refused = await owner.post(`${draft}/choose`, { key: 'B', number })
    t.match([refused.status, refused.text], [422, /Type 4,000, the number of people who get it/])
  }
  t.equal((await found()).winner, null, 'one click sends nothing')
  t.equal((await owner.post(`${draft}/choose`, { key: 'B', number: '4,000' })).status, 303)
  t.match((await owner.get(draft)).text, /Version B went to the rest/)
  t.match(await found(), { winner: 'B', decided_by: 'account' })
  const { json } = await posthorn.call('GET', `/v1/broadcasts/${id}/report`)
  t.match(json, { variantTest: { chosen: 'B', chosenBy: 'account' }, variants: [{ key: 'A' }, {}] })
  const after = { recipients: 4_500, delivered: 4_400, rest_mails: 4_000, rest_arrived: 3_900 }
  await store.write((tx) =>
    tx
      .updateTable('broadcast_variants')
      .set({ ...after, opened: 40, rest_opened: 30 })
      .where('broadcast_id', '=', id)
      .where('key', '=', 'B')
      .execute(),
  )
  const parted = (await viewer.get(`${draft}/report`)).text
  t.match(parted, /The test: on whom[\s\S]*variant=B&amp;part=test">500<[\s\S]*The rest: who got/)
  t.match(parted, /The rest: who got[\s\S]*part=rest">4,000<[\s\S]*part=rest">3,900</)
  for (const part of ['test', 'rest']) {
    const people = await viewer.get(`${draft}/report/people?who=made&variant=B&part=${part}`)
    t.equal(people.status, 200)
    t.match(people.text, part === 'rest' ? /which went to the rest/ : /on whom it was tried/)
  }
  t.equal((await viewer.get(`${draft}/report/people?who=made&part=rest`)).status, 400)
})

t.test('the numbers stand over each version of the mail, as somebody gets it', async (t) => {
  const html = '<p><a href="https://shop.test/b">B</a></p>{{ unsubscribe_footer }}'
  const variants = [{}, { subject: 'Only B', html }]
  const own = '<a href="https://x.test/{{ email }}">x</a> <a href="https://shop.test/a">A</a>'
  const given = { ...content, subject: 'Of all', html: own, variants, draft: true }
  const { id: two } = await call('POST', '/v1/broadcasts', given)
  const begun = { status: 'sent', sent_at: Date.now(), expanded: 1 } as const
  await store.write((tx) => tx.updateTable('broadcasts').set(begun).where('id', '=', two).execute())
  const link = { broadcast_id: two, number: 1, url: 'https://shop.test/b' }
  const clicks = { clicked: 7, people: 5, clicked_machine: 0 }
  await store.write((tx) =>
    tx
      .insertInto('broadcast_links')
      .values({ ...link, ...clicks })
      .execute(),
  )
  const at = `${base}/campaigns/${two}/report/mail`
  const page = (await viewer.get(`${at}?version=B`)).text
  t.match(page, /aria-current="page"[^>]*>B: Only B</)
  t.match(page, `src="${at}/html?version=B"`)
  const framed = (await viewer.get(`${at}/html?version=B`)).text
  t.match(framed, /5 people<\/span>B</)
  t.notMatch(framed, '{{ unsubscribe_footer }}')
  t.match(framed, /\/unsubscribe\/shown/)
  const first = (await viewer.get(`${at}/html`)).text
  t.match(first, /0 people<\/span>A</)
  t.match(first, />x<\/a>/, 'a link of each recipient’s own has no number')
})
