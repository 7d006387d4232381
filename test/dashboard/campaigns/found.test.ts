// Issue 44: what a third reader found who went through the pages of campaigns.
import t from 'tap'
import { findPlan, loadPlans, setMarketingPlan } from '../../../src/billing/index.js'
import { oddMarksIn } from '../../../src/blocks/inline.js'
import { campaignsGot } from '../../../src/broadcasts/index.js'
import { packageFile } from '../../../src/config/index.js'
import { changeInWords } from '../../../src/dashboard/audit/words.js'
import { insertCampaignRows } from '../../support/campaign-rows.js'
import { fieldsOf } from '../../support/editor-fields.js'
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
await call('POST', `/v1/contacts/${listId}`, {
  email: 'ann@x.test',
  metadata: { timeZone: 'Africa/Lagos' },
})
await call('POST', `/v1/contacts/${listId}`, { email: 'bob@x.test', metadata: { timeZone: 'No' } })
const content = { from: 'News <news@sender.test>', subject: 'Hi', listId }
const html = '<p>x {{ unsubscribe_footer }}</p>'

t.test('one that waits for its hours has not begun, and can be taken back', async (t) => {
  const tomorrow = ((new Date().getUTCDay() + 1) % 7) + 1
  const window = { from: '03:00', to: '03:30', days: [tomorrow], zone: 'UTC' }
  const { id, status } = await call('POST', '/v1/broadcasts', { ...content, html, window })
  t.equal(status, 'scheduled')
  const page = (await owner.get(`${base}/campaigns/${id}`)).text
  t.match(page, /Take it back/)
  const waits = /It waits for the hours in which it leaves: they begin at [^<]*, 03:00 \(UTC\)/
  t.match(page, waits)
  const list = (await owner.get(`${base}/campaigns?show=going`)).text
  t.match(list, waits)
  t.match((await owner.get(`${base}/campaigns/${id}/report`)).text, waits)
  t.equal((await owner.post(`${base}/campaigns/${id}/take-back`)).status, 303)
  t.match(await call('GET', `/v1/broadcasts/${id}`), { status: 'draft', reason: null })
})

t.test('marks in words that are none are told, at the field and in the check', async (t) => {
  t.match(oddMarksIn('See [our shop](www.shop.test) and **bold'), [
    /“our shop” is no link: www\.shop\.test is no address/,
    /\*\* has no second \*\*/,
  ])
  t.match(oddMarksIn('[x](javascript:alert(1))'), [/“x” is no link/])
  const right = 'A [b](https://x.test), **bold**, \\*\\* and \\[x\\](y), {{ a }} [c]({{ url }})'
  t.same(oddMarksIn(right), [])
  const blocks = { version: 1, blocks: [{ type: 'text', text: 'See [shop](www.shop.test)' }] }
  const { id } = await call('POST', '/v1/broadcasts', { ...content, blocks, draft: true })
  const told = /“shop” is no link: www\.shop\.test/
  const edit = (await owner.get(`${base}/campaigns/${id}`)).text
  t.match(edit, new RegExp(`id="field-b\\.0\\.text-fault">${told.source}`))
  t.match(edit, /<nav class="parts"[^>]*><a href="#content">/)
  t.match((await owner.get(`${base}/campaigns/${id}/send`)).text, told)
})

t.test('what a draft lacks is told at once, whatever else is in the way', async (t) => {
  const from = content.from
  const card = { document: '{}', 'b.0.type': 'button', 'b.0.text': 'Go', 'b.0.url': 'www.x.test' }
  const saved = await owner.post(`${base}/campaigns/new`, { from, subject: 'Hi', ...card })
  const { text } = await owner.get(`${saved.to}/send`)
  t.match(text, /are not finished: Button 1/)
  t.match(text, /no audience/)
})

t.test('how many have no zone that is known is told', async (t) => {
  const scheduledAt = new Date(Date.now() + 3 * 86_400_000).toISOString()
  const given = { ...content, html, draft: true, scheduledAt, localTimeOf: 'UTC' }
  const { id } = await call('POST', '/v1/broadcasts', given)
  const { text } = await owner.get(`${base}/campaigns/${id}/send`)
  t.match(
    text,
    /1 by their own clock; 1 has no time zone that is known, and gets it at \d\d:\d\d UTC/,
  )
})

t.test('a contact who is said to have left is not added', async (t) => {
  const body = { email: 'gone@x.test', unsubscribed: true }
  t.match(await posthorn.call('POST', `/v1/contacts/${listId}`, { body }), {
    status: 422,
    json: { field: 'unsubscribed' },
  })
  const other = { email: 'here@x.test', unsubscribed: false, nonsense: 1 }
  t.equal((await posthorn.call('POST', `/v1/contacts/${listId}`, { body: other })).status, 201)
})

t.test('a picture that went out is used: named, typed, and kept while it is public', async (t) => {
  const dot = 'R0lGODlhAQABAIAAAP///wAAACwAAAAAAQABAAACAkQBADs='
  const picture = await call('POST', '/v1/pictures', { name: 'dot.gif', content: dot })
  const shows = `<p>x <img src="${picture.url}" alt="Dot"></p>`
  const made = await call('POST', '/v1/broadcasts', { ...content, html: shows, draft: true })
  const cards = (await owner.get(`${base}/campaigns/new?with=blocks`)).text
  t.ok(cards)
  const change = (values: object) =>
    store.write((tx) =>
      tx.updateTable('broadcasts').set(values).where('id', '=', made.id).execute(),
    )
  await change({ status: 'sent', sent_at: Date.now(), recipients: 300, archive: 1 })
  const path = `${base}/pictures/${picture.id}`
  const page = (await owner.get(path)).text
  t.match(page, /Hi<\/a>, 300 mails, and your public page/)
  const refused = await posthorn.call('DELETE', `/v1/pictures/${picture.id}`)
  t.match([refused.status, refused.json.error], [409, /on your public page/])
  await change({ archive: 0 })
  t.match((await owner.post(`${path}/delete`)).text, /Type 300/)
  t.equal((await owner.post(`${path}/delete`, { number: '300' })).status, 303)
})

t.test('a small picture that is pressed is the card’s address, without script', async (t) => {
  const dot = 'R0lGODlhAQABAIAAAP///wAAACwAAAAAAQABAAACAkQBADs='
  const { url } = await call('POST', '/v1/pictures', { name: 'a.gif', alt: 'A', content: dot })
  const card = { document: '{}', 'b.0.type': 'picture', 'b.0.url': '', 'b.0.alt': '' }
  const form = { from: content.from, subject: 'Hi', lists: listId, ...card, 'b.0.chosen': '' }
  const seen = (await owner.post(`${base}/campaigns/new/preview`, form)).text
  t.match(seen, `<input type="radio" name="b.0.pick" value="${url}">`)
  const saved = await owner.post(`${base}/campaigns/new`, { ...form, 'b.0.pick': url })
  const { blocks } = await call('GET', `/v1/broadcasts/${saved.to.split('/').at(-1)}`)
  t.match(blocks.blocks, [{ url, alt: 'A' }])
})

t.test('the campaigns that people got within a day are named, and no other', async (t) => {
  const { read } = store
  const contacts = await read.selectFrom('contacts').select(['id', 'email']).execute()
  const members = contacts.map(({ id, email }) => ({ contactId: id, email }))
  const now = Date.now()
  const id = store.ids.uuid()
  await insertCampaignRows(store, { id, accountId, mails: 1, subject: 'Elsewhere', sentAt: now })
  await store.write(async (tx) => {
    for (const { contactId } of members) {
      await tx
        .insertInto('contact_engagement')
        .values({ contact_id: contactId, sent: 1, opened: 0, clicked: 0, last_sent_at: now })
        .onConflict((on) => on.column('contact_id').doUpdateSet({ last_sent_at: now }))
        .execute()
    }
  })
  const asked = { since: now - 86_400_000, until: now + 1_000 }
  t.same(await campaignsGot(read, accountId, members as never, asked), [])
})

t.test('the log says which of both a notice became', (t) => {
  const said = (reason: string) =>
    changeInWords({ action: 'broadcast.notice', target: 'x', detail: { reason } }).says('Terms')
  t.equal(said('New terms'), 'Campaign “Terms” made a notice that everybody must get')
  t.equal(said(''), 'Campaign “Terms” made a newsletter again, and no notice')
  t.end()
})

t.test(
  'of many cards each shows its first words, but where somebody is at work or something is wrong',
  async (t) => {
    const text = (at: number) => ({ [`b.${at}.type`]: 'text', [`b.${at}.text`]: `Words ${at}` })
    const cards = Object.assign(
      { document: '{}', from: content.from },
      ...[0, 1, 2, 3, 4, 5, 6].map(text),
    )
    const foldOf = (page: string, at: number) =>
      new RegExp(`id="block-${at}".*?name="b\\.${at}\\.fold"( checked)?> ([^<]*)</label>`, 's')
        .exec(page)
        ?.slice(1)
    const preview = async (more: Record<string, string>) =>
      (await owner.post(`${base}/campaigns/new/preview`, { ...cards, ...more })).text
    t.same(foldOf(await preview({}), 3), [undefined, 'Words 3'])
    const boxes = { folds: 'on', 'b.3.fold': 'on' }
    const added = await preview({ ...boxes, do: 'add:1', 'kind.1': 'text' })
    t.equal(foldOf(added, 4)?.[0], ' checked', 'it stays unfolded where it has moved')
    t.equal(foldOf(added, 2)?.[0], ' checked', 'so is what was added')
    t.same(foldOf(added, 6), [undefined, 'Words 5'])
    const wrong = await preview({ ...boxes, 'b.4.text': 'Hello {{ firstName' })
    t.equal(foldOf(wrong, 4)?.[0], ' checked')
    t.match(wrong, /id="field-b\.4\.text-fault"/, 'a tag without an end is told in its card')

    const saved = await owner.post(`${base}/campaigns/new`, {
      ...cards,
      ...boxes,
      'b.5.fold': 'on',
    })
    t.match(saved.to, /\/[0-9a-f-]{36}\?open=3-5$/)
    const page = (await owner.get(saved.to)).text
    const open = [0, 1, 2, 3, 4, 5, 6].filter((at) => foldOf(page, at)?.[0] !== undefined)
    t.same(open, [3, 5], 'after a save those are open that were')
    const [plain = ''] = saved.to.split('?')
    const all = { ...cards, folds: 'on', revision: '0' }
    t.equal((await owner.post(plain, all)).to, plain, 'as they are by themselves is not said')
    const kept = await owner.post(plain, { ...all, ...boxes, revision: '1', next: 'keep' })
    t.equal(kept.to, plain)
  },
)

t.test('a card that was removed is put back where it stood, as it was typed', async (t) => {
  const list = { 'b.1.type': 'list', 'b.1.items': 'One\r\nTwo', 'b.1.numbered': 'on' }
  const cards = {
    document: '{}',
    from: content.from,
    'b.0.type': 'heading',
    'b.0.text': 'First',
    ...list,
    'b.2.type': 'columns',
    'b.2.columns': '2',
    'b.2.0.0.type': 'text',
    'b.2.0.0.text': 'Left',
    'b.2.1.0.type': 'button',
    'b.2.1.0.text': 'Half an address',
    'b.2.1.0.url': 'https:/',
  }
  let page = ''
  const press = async (deed: string, more: Record<string, string> = {}) => {
    const typed = page === '' ? cards : fieldsOf(page)
    const sent = await owner.post(`${base}/campaigns/new/preview`, { ...typed, ...more, do: deed })
    t.equal(sent.status, 200, deed)
    page = sent.text
    return [...page.matchAll(/id="block-([\d.]+)"><legend>([^<]*)/g)].map(([, at, name]) => [
      at,
      name,
    ])
  }
  await press('gone:1')
  t.match(page, /id="gone"[^>]*><p>List 2 is removed\.<\/p><button name="do" value="back:1"/)
  t.ok(page.indexOf('id="gone"') < page.indexOf('id="block-1"'), 'in its place')
  await press('add:0', { 'kind.0': 'divider' })
  t.match(page, 'value="back:2"', 'also when others have moved')
  t.same((await press('back:2')).slice(0, 4), [
    ['0', 'Heading 1'],
    ['1', 'Line 2'],
    ['2', 'List 3'],
    ['3', 'Columns 4'],
  ])
  t.notMatch(page, 'id="gone"', 'one step')
  t.match(fieldsOf(page), { 'b.2.items': 'One\r\nTwo', 'b.2.numbered': 'on' })
  await press('gone:3.1.0')
  await press('back:3.1.0')
  t.match(fieldsOf(page), { 'b.3.1.0.url': 'https:/' }, 'what was not finished too')
  await press('gone:3.1.0')
  await press('gone:0')
  t.notMatch(page, 'value="back:3.1.0"', 'the last one alone')
  await press('back:0')
  await press('gone:2')
  t.match(await press('back:99'), { length: 5 }, 'at most at the end')
  await press('gone:1')
  const saved = await owner.post(`${base}/campaigns/new`, fieldsOf(page))
  t.notMatch((await owner.get(saved.to)).text, 'id="gone"', 'until it is saved')
})

t.test('the footer says of its links what holds', async (t) => {
  const blocks = { version: 1, blocks: [{ type: 'footer', text: 'x' }] }
  const { id } = await call('POST', '/v1/broadcasts', { ...content, blocks, draft: true })
  const page = async () => (await owner.get(`${base}/campaigns/${id}`)).text
  t.match(await page(), 'The links and your postal address follow by themselves.')
  await owner.post(`${base}/campaigns/${id}/notice`, {
    reason: 'We have new terms from January on',
  })
  t.match(await page(), 'a notice has no link to unsubscribe')
  t.notMatch(await page(), 'The links and your postal address')
})

t.test('a block more than a mail may have is refused, and takes none away', async (t) => {
  const words = Array.from({ length: 200 }, (_, n) => ({ type: 'text', text: `Words ${n}` }))
  const blocks = { version: 1, blocks: words }
  const { id } = await call('POST', '/v1/broadcasts', { ...content, blocks, draft: true })
  const page = `${base}/campaigns/${id}`
  const { text } = await owner.get(page)
  t.match(text, 'It has 200 blocks or more')
  t.notMatch(text, /value="(?:add|copy):/)
  t.match(text, /value="open:/)
  // From a page that was open before.
  const more = { ...fieldsOf(text), 'b.200.type': 'text', 'b.200.text': 'Footer' }
  const saved = await owner.post(page, more)
  t.match(saved, { status: 422, text: /at most 200 blocks, those in columns counted: remove some/ })
  t.match(saved.text, 'Footer', 'it is still there to be kept')
  const kept = await call('GET', `/v1/broadcasts/${id}`)
  t.same(kept.broadcast?.blocks ?? kept.blocks, blocks)
})

t.test('a notice is sent by owners alone, and its links to unsubscribe are told', async (t) => {
  const dead = `${html}<p><a href="{{ unsubscribe_url }}">Leave</a></p>`
  const { id } = await call('POST', '/v1/broadcasts', { ...content, html: dead, draft: true })
  const check = async (person = owner) => (await person.get(`${base}/campaigns/${id}/send`)).text
  t.notMatch(await check(), 'is empty in a notice')
  await owner.post(`${base}/campaigns/${id}/notice`, { reason: 'We have new terms from January' })
  const told = await check()
  t.match(told, /\{\{ unsubscribe_url \}\} is empty in a notice, so a link to it leads nowhere/)
  t.match(told, '<button class="primary">Send it</button>')
  const member = await logIn(posthorn, accountId, 'member')
  const seen = await check(member)
  t.match(seen, 'An owner of the account has to send it')
  t.notMatch(seen, '<button class="primary">Send it</button>')
})

t.test('a copy for some of its people is what the rest got, in one version', async (t) => {
  const { id } = await call('POST', '/v1/broadcasts', {
    ...content,
    html,
    archive: true,
    draft: true,
    variants: [{ subject: 'Plain' }, { subject: 'Bold', fromName: 'Bea', html: `${html}<p>B` }],
    variantTest: { share: 40, decideAfter: 'by hand' },
  })
  t.ok(id)
  const sent = { status: 'sent', winner: 'B', sent_at: Date.now() } as const
  await store.write((tx) => tx.updateTable('broadcasts').set(sent).where('id', '=', id).execute())
  const made = await owner.post(`${base}/campaigns/${id}/report/again`, { who: 'clicked' })
  t.equal(made.status, 303)
  const again = await call('GET', `/v1/broadcasts/${made.to.split('/').at(-1)}`)
  t.match(again, { subject: 'NEW SUBJECT: Bold', from: /Bea/, archive: false })
  t.same(again.variants, [])
  t.match((await owner.get(made.to)).text, /&lt;p&gt;B/)
})

t.test('campaigns have the columns that say something of them', async (t) => {
  const columns = async (show: string) => {
    const { text } = await owner.get(`${base}/campaigns?show=${show}`)
    return [...text.matchAll(/<th[^>]*class="number"[^>]*>([^<]*)</g)].map(([, label]) => label)
  }
  t.same(await columns('drafts'), ['To send'])
  t.same(await columns('sent'), ['Delivered', 'Opened', 'Clicked', 'Left'])
})

t.test('without script the page comes back to the card that was moved or added', async (t) => {
  const places = { 'up:2': 1, 'down:2': 3, 'copy:2': 3, 'add:2': 3 }
  const { text } = await owner.get(`${base}/campaigns/new?layout=welcome`)
  for (const [deed, at] of Object.entries(places)) {
    const [, to] = new RegExp(`value="${deed}" formaction="[^"]*#block-([\\d.]+)"`).exec(text) ?? []
    t.equal(to, `${at}`, deed)
  }
  t.match(text, /value="gone:2" formaction="[^"]*#gone"/, 'or to what offers it back')
})
