// Issue 44: what somebody found who went through the pages of campaigns a second time.
import t from 'tap'
import { findPlan, loadPlans, setMarketingPlan } from '../../../src/billing/index.js'
import { packageFile } from '../../../src/config/index.js'
import { logIn } from '../../support/log-in.js'
import { startPosthorn } from '../../support/posthorn.js'

t.setTimeout(120_000)

const posthorn = await startPosthorn(t)
const { store, accountId } = posthorn
const base = `/a/${accountId}`
const plan = findPlan(loadPlans(packageFile('config/plans.toml')).marketing, 'Marketing Plus')
await store.write((tx) => setMarketingPlan(tx, accountId, plan))
const owner = await logIn(posthorn, accountId, 'owner')
const call = async (method: string, path: string, body?: object) =>
  (await posthorn.call(method, path, body === undefined ? {} : { body })).json
const { id: listId } = await call('POST', '/v1/contacts/lists', { name: 'Readers' })
for (const [name, timeZone] of [
  ['ann', 'Africa/Lagos'],
  ['bob', 'America/New_York'],
]) {
  const given = { email: `${name}@x.test`, firstName: name, metadata: { timeZone } }
  await call('POST', `/v1/contacts/${listId}`, given)
}
const content = { from: 'News <news@sender.test>', subject: 'Hi', listId, draft: true }
const written = { ...content, html: '<p>x {{ unsubscribe_footer }}</p>' }

t.test('the check says when the first mail leaves that hours hold back', async (t) => {
  // Days that no clocks change, and a year in which they are ahead.
  const year = new Date().getUTCFullYear() + 1
  const window = { from: '10:00', to: '12:00', zone: 'UTC' }
  const checked = async (more: object) => {
    const { id } = await call('POST', '/v1/broadcasts', { ...written, window, ...more })
    return { id, text: (await owner.get(`${base}/campaigns/${id}/send`)).text }
  }
  const late = await checked({ scheduledAt: `${year}-06-02T13:00:00Z` })
  t.match(late.text, `when its hours begin: the first mail leaves at 3 Jun ${year}, 10:00:00 (UTC)`)
  t.match(late.text, `take it back until 3 Jun ${year}, 09:59:00 (UTC)`)
  const within = await checked({ scheduledAt: `${year}-06-02T11:00:00Z` })
  t.match(within.text, `, at 2 Jun ${year}, 11:00:00 (UTC).`)
  // 08:00 in UTC for one of them, which is too early, and 13:00 for the other, which is too late.
  const own = await checked({
    scheduledAt: `${year}-06-02T08:00:00Z`,
    localTimeOf: 'Africa/Lagos',
  })
  const clocks = 'each recipient’s own clock, or when its hours next begin'
  const span = [`2 Jun ${year}, 10:00:00 (UTC)`, `3 Jun ${year}, 10:00:00 (UTC)`]
  t.match(own.text, `at 09:00 by ${clocks}: from ${span[0]} to ${span[1]}`)
  t.match(
    own.text,
    `By ${clocks}: the first get it from 2 Jun ${year}, 10:00 (UTC) on, the last by 3 Jun ${year}, 10:00 (UTC).`,
  )
  const rehearsed = await call('POST', `/v1/broadcasts/${own.id}/rehearse`)
  await store.write((tx) =>
    tx
      .updateTable('broadcasts')
      .set({ status: 'sending', sent_at: Date.now() - 15_000, next_at: Date.UTC(year, 5, 1) })
      .where('id', '=', own.id)
      .execute(),
  )
  const early = (await owner.get(`${base}/campaigns/${own.id}`)).text
  t.match(early, /<dt>Leaves<\/dt>/)
  t.notMatch(early, /<dt>Begun<|>Report</)
  t.notMatch((await owner.get(`${base}/campaigns?show=going`)).text, `${own.id}/report`)
  await store.write((tx) =>
    tx
      .updateTable('broadcasts')
      .set({ status: 'draft', sent_at: null, next_at: null })
      .where('id', '=', own.id)
      .execute(),
  )
  t.match(rehearsed, { startsAt: `${year}-06-02T10:00:00.000Z` })
  const revision = /name="revision"[^>]*value="(\d+)"/.exec(late.text)?.[1] ?? ''
  const sent = await owner.post(`${base}/campaigns/${late.id}/send`, { revision })
  const cookies = sent.headers.getSetCookie().map((one) => one.split(';')[0])
  const cookie = [owner.cookie, ...cookies].join('; ')
  const page = (await owner.get(`${base}/campaigns/${late.id}`, { cookie })).text
  t.match(page, `leaves when its hours begin, at 3 Jun ${year}, 10:00:00 (UTC)`)
  t.match(page, `3 Jun ${year}, 10:00:00 (UTC), when its hours begin`, 'it goes on saying so')
  await call('POST', `/v1/broadcasts/${late.id}/cancel`)
})

t.test(
  'a draft is saved whatever its blocks lack; what each lacks stands at it, until it is sent',
  async (t) => {
    const form = {
      from: content.from,
      subject: 'Hi',
      lists: listId,
      document: '{}',
      'b.0.type': 'heading',
      'b.0.text': 'Hello {{ firstName',
      'b.1.type': 'picture',
      'b.1.url': '',
      'b.1.alt': 'Our shop',
      'b.2.type': 'text',
      'b.2.text': 'Whole words',
    }
    const made = await owner.post(`${base}/campaigns/new`, form)
    t.equal(made.status, 303, made.text.slice(0, 300))
    const id = made.to.split('/').at(-1) ?? ''
    const page = async () => (await owner.get(made.to)).text
    const first = await page()
    t.match(first, /id="field-b\.0\.text-fault">Block 1 \(heading\)/)
    t.match(first, /id="field-b\.1\.url-fault">There is none yet/)
    t.match(first, 'value="Our shop"', 'what was typed is there')
    t.match((await call('GET', `/v1/broadcasts/${id}`)).blocks.blocks, [{ text: 'Whole words' }])
    const told = /not finished: Heading 1, Picture 2\. Finish them/
    const checked = (await owner.get(`${made.to}/send`)).text
    t.match(checked, told)
    t.match(checked, '2 people, of whom 2 can be mailed', 'and whom it would reach')
    const { lists: _, ...toNobody } = form
    const empty = await owner.post(`${base}/campaigns/new`, { ...toNobody, subject: '' })
    const all = (await owner.get(`${empty.to}/send`)).text
    for (const one of [/not finished: Picture 2/, 'has no audience yet', 'has no subject yet'])
      t.match(all, one, 'all that is in the way is told at once')
    const blocked = { email: 'ann@x.test', detail: 'asked' }
    await call('POST', '/v1/suppressions', blocked)
    const fewer = (await owner.get(`${made.to}/send`)).text
    t.match(fewer, '2 people, of whom 1 can be mailed. Not mailed: 1 suppressed by hand')
    t.equal((await posthorn.call('DELETE', '/v1/suppressions/ann@x.test')).status, 200)
    const refused = await posthorn.call('POST', `/v1/broadcasts/${id}/send`)
    t.match([refused.status, refused.json.error], [400, told])
    const copy = await owner.post(`${made.to}/duplicate`)
    t.match((await owner.get(copy.to)).text, 'value="Our shop"', 'a copy has it too')

    const saved = { ...form, revision: '0', 'b.0.text': 'Hello', next: 'to-html' }
    t.equal((await owner.post(made.to, saved)).status, 303)
    const second = await page()
    t.match(second, 'name="b.1.url"', 'it is of blocks still')
    t.notMatch(second, /b\.0\.text-fault/)
    const whole = { ...saved, revision: '1', 'b.1.url': 'https://x.test/shop.png', next: '' }
    t.equal((await owner.post(made.to, whole)).status, 303)
    t.notMatch(await page(), /-fault"/)
    t.notMatch((await owner.get(`${made.to}/send`)).text, /not finished/)
  },
)

t.test('what is not finished of a version stays there, and holds its campaign up', async (t) => {
  const block = (text: string) => ({ type: 'text', text })
  const blocks = { version: 1, blocks: [block('Hello'), block('More')] }
  const variants = [{ subject: 'One' }, { subject: 'Two' }]
  const { id } = await call('POST', '/v1/broadcasts', { ...content, blocks, variants })
  const page = `${base}/campaigns/${id}`
  const typed = {
    document: '{}',
    'b.0.type': 'text',
    'b.0.text': 'Hello',
    'b.1.type': 'text',
    'b.1.text': 'second thoughts, {{ firstName unfinished',
  }
  const kept = await owner.post(`${page}/versions/B`, { ...typed, revision: '0', next: 'keep' })
  t.equal(kept.status, 303)
  const read = async (at = page) => (await owner.get(`${at}/versions/B`)).text
  t.match(await read(), 'second thoughts, {{ firstName unfinished')
  t.match(await read(), 'id="field-b.1.text-fault"')
  const told = 'These of the blocks of version B are not finished: Text 2'
  const checked = (await owner.get(`${page}/send`)).text
  t.match(checked, told)
  t.match((await posthorn.call('POST', `/v1/broadcasts/${id}/send`)).json.error, told)
  const versions = { key1: 'A', subject1: 'One', key2: 'B', subject2: 'Three' }
  await owner.post(`${page}/versions`, { ...versions, revision: '1' })
  t.match(await read(), 'second thoughts', 'another subject leaves it')
  const copy = await owner.post(`${page}/duplicate`)
  t.match(await read(copy.to), 'second thoughts', 'a copy has it')
  const saved = await owner.post(`${page}/versions/B`, { ...typed, revision: '2' })
  t.equal(saved.status, 303, '"Save" takes it too')
  const whole = { ...typed, 'b.1.text': 'Write here what you have to say.' }
  t.equal((await owner.post(`${page}/versions/B`, { ...whole, revision: '3' })).status, 303)
  const mended = (await owner.get(`${page}/send`)).text
  t.notMatch(mended, 'not finished')
  t.match(mended, /layout’s, and nobody has changed them: “Write here what you have to say/)
  const hours = { window: '09:00', windowTo: '09:00', revision: '4' }
  const draft = { from: content.from, subject: 'Hi', lists: listId, document: '{}' }
  const refused = await owner.post(page, { ...draft, ...hours })
  t.match(refused.text, 'Write another time than the one from which it leaves')

  for (const [at, form] of [
    [`${page}/versions/B`, whole],
    [`${page}/versions`, versions],
    [page, { from: content.from, subject: 'Mine', lists: listId, document: '{}' }],
  ] as const) {
    const late = await owner.post(at, { ...form, revision: '1' })
    t.equal(late.status, 422)
    t.notMatch(late.text, 'open it again')
    const [, over = ''] = /name="over" value="(\d+)"/.exec(late.text) ?? []
    t.equal((await owner.post(at, { ...form, revision: '1', over })).status, 303, at)
  }
  const over = { status: 'sent', sent_at: Date.now(), ended_at: Date.now(), expanded: 1 } as const
  await store.write((tx) => tx.updateTable('broadcasts').set(over).where('id', '=', id).execute())
  for (const at of [page, `${page}/report`]) {
    t.match((await owner.get(at)).text, 'One / Three', 'the subjects that people get')
  }
})

t.test('what was typed into a draft that another window has sent can be a new draft', async (t) => {
  const { id } = await call('POST', '/v1/broadcasts', { ...written, name: 'Week 49' })
  const page = `${base}/campaigns/${id}`
  const scheduledAt = new Date(Date.now() + 86_400_000).toISOString()
  await call('PATCH', `/v1/broadcasts/${id}`, { scheduledAt })
  await call('POST', `/v1/broadcasts/${id}/send`)
  const typed = { from: content.from, subject: 'Better words', html: '<p>More</p>', lists: listId }
  for (const at of [page, `${page}/preview`]) {
    const { status, text } = await owner.post(at, { ...typed, revision: '1' })
    t.equal(status, at === page ? 422 : 200)
    t.match(text, 'is no draft any more, as somebody has sent it meanwhile')
    t.match(text, 'value="Better words"')
    t.match(text, `action="${base}/campaigns/new"`)
    t.match(text, 'Make a new draft of it</button>')
  }
  const made = await owner.post(`${base}/campaigns/new`, { ...typed, revision: '0' })
  t.match((await owner.get(made.to)).text, 'value="Better words"')
  await owner.post(`${made.to}/cancel`)
  const late = await owner.post(made.to, { ...typed, revision: '0' })
  t.match(late.text, 'is no draft any more, as somebody has discarded it meanwhile')
  await call('POST', `/v1/broadcasts/${id}/cancel`)
})

t.test('versions that are alike are told by the API', async (t) => {
  const variants = [{ subject: 'One' }, { subject: 'Two' }, { subject: 'One' }]
  const { id } = await call('POST', '/v1/broadcasts', { ...written, variants })
  const warnings = ['Versions A and C are alike: nothing is learned from them']
  t.same((await call('GET', `/v1/broadcasts/${id}`)).warnings, warnings)
  const others = variants.map(({ subject }, n) => ({ subject: `${subject} ${n}` }))
  t.same((await call('PATCH', `/v1/broadcasts/${id}`, { variants: others })).warnings, [])
})

t.test(
  'a campaign whose list is gone says which, and the list of campaigns has the number of now',
  async (t) => {
    const { id: gone } = await call('POST', '/v1/contacts/lists', { name: 'Autumn guests' })
    await call('POST', `/v1/contacts/${gone}`, { email: 'eve@x.test' })
    const scheduledAt = new Date(Date.now() + 86_400_000).toISOString()
    const given = { ...written, listId: gone, scheduledAt, draft: false }
    const { id } = await call('POST', '/v1/broadcasts', given)
    await call('POST', `/v1/contacts/${gone}`, { email: 'ida@x.test' })
    const { broadcasts } = await call('GET', '/v1/broadcasts')
    t.match(broadcasts[0], { id, recipientCount: 2 })
    t.match(await call('GET', `/v1/broadcasts/${id}`), { recipientCount: 2 })
    await call('DELETE', `/v1/contacts/lists/${gone}`)
    const page = async () => (await owner.get(`${base}/campaigns/${id}`)).text
    t.match(await page(), /“Autumn guests” of its audience was deleted\. It goes to nobody/)
    t.match(await page(), 'Nobody, as it stands.')
    const draft = await owner.post(`${base}/campaigns/${id}/duplicate`)
    t.notMatch((await owner.get(`${draft.to}/send`)).text, 'with this id')
    const listed = (await owner.get(`${base}/campaigns?show=going`)).text
    t.notMatch(listed, 'about 0')
    const month = scheduledAt.slice(0, 7)
    const calendar = (await owner.get(`${base}/campaigns/calendar?month=${month}`)).text
    t.match(calendar, 'its list or segment is gone')
    await owner.post(`${base}/campaigns/${id}/pause`)
    t.match(await page(), /Paused<\/span> You paused it at \d\d:\d\d\./)
    const { text } = await owner.post(`${base}/campaigns/${id}/resume`)
    t.match(text, 'The list “Autumn guests” of its audience was deleted')
    t.match(text, 'aria-label="How it stands"', 'on its own page')
    for (const at of ['versions', 'versions/B', 'send']) {
      const { status, to } = await owner.get(`${base}/campaigns/${id}/${at}`)
      t.match([status, to], [303, `${base}/campaigns/${id}`], at)
    }
    t.match((await owner.get(`${base}/campaigns/${id}`)).text, 'Autumn guests (deleted)')
    t.notMatch(text, 'with this id')
  },
)

t.test(
  'a good picture is stored beside one that is refused, and characters are counted as people do',
  async (t) => {
    const form = new FormData()
    const dot = 'R0lGODlhAQABAIAAAP///wAAACwAAAAAAQABAAACAkQBADs='
    form.append('file', new File([Buffer.from(dot, 'base64')], 'dot.gif'))
    form.append('file', new File(['<svg xmlns="http://www.w3.org/2000/svg"/>'], 'line.svg'))
    const sent = await fetch(`${posthorn.url}${base}/pictures`, {
      method: 'POST',
      body: form,
      redirect: 'manual',
      headers: { cookie: owner.cookie, origin: posthorn.url },
    })
    t.equal(sent.status, 303)
    const flash = sent.headers.getSetCookie().map((one) => one.split(';')[0])
    const shown = (
      await owner.get(`${base}/pictures`, { cookie: [owner.cookie, ...flash].join('; ') })
    ).text
    t.match(shown, '1 picture is added. Not added: line.svg: ')
    t.match(shown, 'dot.gif')
    const long = (count: number) => ({
      version: 1,
      blocks: [{ type: 'text', text: '😀'.repeat(count) }],
    })
    const put = async (count: number) =>
      (await posthorn.call('POST', '/v1/broadcasts', { body: { ...content, blocks: long(count) } }))
        .status
    t.same([await put(20_000), await put(20_001)], [200, 400])
  },
)

t.test('who gets no mail when mails are made is told, with the people', async (t) => {
  await call('POST', '/v1/suppressions', { email: 'bob@x.test', detail: 'x' })
  const erasure = await call('POST', '/v1/contacts/erasures', { address: 'era@x.test' })
  while ((await call('GET', `/v1/contacts/erasures/${erasure.id}`)).state !== 'done')
    await new Promise((done) => setTimeout(done, 50))
  await call('POST', `/v1/contacts/${listId}`, { email: 'era@x.test' })
  const { id } = await call('POST', '/v1/broadcasts', { ...written, draft: false })
  const reported = async () => await call('GET', `/v1/broadcasts/${id}/report`)
  while ((await reported()).progress.recipients === 0)
    await new Promise((done) => setTimeout(done, 50))
  const none = { unsubscribed: 0, bounced: 0, complained: 0, suppressed: 0, leftTopic: 0 }
  t.same((await reported()).leftOut, { ...none, suppressed: 2 })
  const { recipients } = await call('GET', `/v1/broadcasts/${id}/recipients?who=left_out`)
  t.match(recipients, [
    { email: 'bob@x.test', emailId: null, reason: 'They were suppressed by hand' },
    { email: 'era@x.test', emailId: null, reason: 'They were erased on request' },
  ])
  const { text } = await owner.get(`${base}/campaigns/${id}/report`)
  t.match(
    text,
    '2 people of its audience got no mail when its mails were made: 1 suppressed by hand, 1 erased on request.',
  )
  const [, who = ''] = /href="([^"]*who=left_out)">Who</.exec(text) ?? []
  t.match((await owner.get(who)).text, 'bob@x.test')
  t.equal((await owner.get(who.replace('people', 'people.csv'))).status, 200)
})
