import t, { type Test } from 'tap'
import { readLogo, removeLogo, setLogo } from '../../src/accounts/index.js'
import { consentHistory } from '../../src/consent/index.js'
import { createContactField, type FieldType } from '../../src/contact-fields/index.js'
import { addContact, findContact } from '../../src/contacts/index.js'
import { shownLinks } from '../../src/preferences/index.js'
import { suppress, suppressionsOf } from '../../src/suppression/index.js'
import { createTopic, listOptOuts, updateTopic } from '../../src/topics/index.js'
import { startPreferences } from './start.js'

const address = 'ada@x.test'
const emailId = '019a9b10-3333-7000-8000-00000000ef02'
const png = Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), Buffer.alloc(100, 1)])

async function open(t: Test) {
  const site = await startPreferences(t)
  const { store, accountId } = site
  const read = async (response: Response) => ({
    status: response.status,
    headers: response.headers,
    text: await response.text(),
  })
  const topic = (name: string, position: number, description?: string) =>
    createTopic(site, accountId, { name, position, description })
  const post = async (body: [string, string][], url = site.centre(address, emailId)) =>
    read(await fetch(url, { method: 'POST', body: new URLSearchParams(body) }))
  return {
    ...site,
    post,
    get: async (url = site.centre(address, emailId)) => read(await fetch(url)),
    offers: await topic('Offers', 2, 'Twice a month, & less in summer'),
    tips: await topic('Tips', 1),
    addTopic: topic,
    /** Presses Save on a page that had shown these topics, ticked or not. */
    save: (topics: Record<string, boolean>, ...more: [string, string][]) =>
      post([
        ...Object.keys(topics).map((id): [string, string] => ['shown', id]),
        ...Object.keys(topics)
          .filter((id) => topics[id])
          .map((id): [string, string] => ['topic', id]),
        ['action', 'save'],
        ...more,
      ]),
    history: async () =>
      (await consentHistory(store.read, accountId, address)).map(({ kind, detail }) => ({
        kind,
        ...detail,
      })),
    suppressed: async () =>
      (await suppressionsOf(store.read, accountId, address)).map(({ reason }) => reason),
    leavers: async (id: string) =>
      (await listOptOuts(store.read, accountId, id, 9)).optOuts.map(({ email }) => email),
  }
}

/** The names that a page shows, ticked ones with a +. */
const boxes = (text: string) =>
  [...text.matchAll(/<input type="checkbox"[^>]*?( checked)?>\s*<span><span[^>]*>([^<]*)/g)].map(
    ([, checked, name]) => `${checked ? '+' : '-'}${name}`,
  )
const statusIn = (text: string) => /role="status"[^>]*>([^<]*)</.exec(text)?.[1]

t.test('opening the link shows the active topics in order, and changes nothing', async (t) => {
  const site = await open(t)
  const old = await site.addTopic('Old', 0)
  await updateTopic(site, site.accountId, old.id, { archived: true })
  for (const method of ['GET', 'HEAD']) {
    const { status, headers } = await fetch(site.centre(address), { method })
    t.equal(status, 200)
    t.equal(headers.get('x-robots-tag'), 'noindex')
    t.match(headers.get('cache-control'), 'no-store')
    t.match(headers.get('content-security-policy'), "default-src 'self'")
    t.equal(headers.get('set-cookie'), null)
  }
  const { text } = await site.get()
  t.same(boxes(text), ['+New &lt;books&gt; &amp; more', '+Tips', '+Offers'])
  t.match(text, 'Twice a month, &amp; less in summer')
  t.match(text, '<html lang="en">')
  t.match(text, '<h1>What you get from City library</h1>')
  t.match(text, address)
  t.notMatch(text, /<script|style=|onclick|<img|Old/)
  t.equal(statusIn(text), undefined)
  t.same(await site.history(), [])
})

t.test(
  'a save makes it so at once, names the mail in the record, and twice is as once',
  async (t) => {
    const site = await open(t)
    const [{ id: offers }, { id: tips }, { id: books }] = [site.offers, site.tips, site.topic]
    for (let times = 0; times < 2; times++) {
      const { status, text } = await site.save({ [offers]: false, [tips]: true, [books]: true })
      t.equal(status, 200)
      t.equal(statusIn(text), 'Your choice is saved.')
      t.match(text, '<title>Your choice is saved. What you get')
      t.same(boxes(text), ['+New &lt;books&gt; &amp; more', '+Tips', '-Offers'])
      t.same(await site.leavers(offers), [address])
      t.same(await site.leavers(tips), [])
    }
    await site.save({ [offers]: true, [tips]: true, [books]: true })
    t.same(await site.leavers(offers), [])
    t.same(await site.history(), [
      { kind: 'left_topic', topicId: offers, emailId },
      { kind: 'returned_to_topic', topicId: offers, by: 'recipient', emailId },
    ])
    t.same(boxes((await site.get(site.centre('bob@x.test'))).text).length, 3, 'bob is another')
  },
)

t.test('an old page does what it showed, and nothing to what it did not show', async (t) => {
  const site = await open(t)
  const [{ id: offers }, { id: tips }] = [site.offers, site.tips]
  const later = await site.addTopic('Later', 9)
  await updateTopic(site, site.accountId, tips, { archived: true })
  await site.save({ [offers]: false, [tips]: false })
  t.same(await site.leavers(later.id), [], 'not opted out of what was not there')
  t.same(await site.leavers(tips), [address], 'archived meanwhile: restored, it stays left')
  await site.save({ [offers]: true, [tips]: false })
  t.same(await site.leavers(offers), [], 'of two pages the one that was sent last counts')

  const other = await startPreferences(t)
  const before = await site.history()
  const strangers = { [other.topic.id]: false, nonsense: false, "' or 1=1": true }
  t.equal((await site.save(strangers)).status, 200)
  t.equal(
    (
      await site.post([
        ['action', 'save'],
        ['topic', offers],
      ])
    ).status,
    200,
  )
  t.same(await site.history(), before, "neither others' topics nor ticks without a topic shown")
})

t.test('saves at once come one after another, and the record tells each change', async (t) => {
  const site = await open(t)
  await Promise.all(
    Array.from({ length: 40 }, (_, n) => site.save({ [site.offers.id]: n % 3 === 0 })),
  )
  const kinds = (await site.history()).map(({ kind }) => kind)
  t.ok(kinds.length > 0)
  const inTurn = kinds.map((_, n) => (n % 2 === 0 ? 'left_topic' : 'returned_to_topic'))
  t.same(kinds, inTurn, 'nobody leaves twice, or comes back unless gone')
  t.equal((await site.leavers(site.offers.id)).length, kinds.length % 2)
})

t.test('who unticks every topic is told that other mail may come', async (t) => {
  const site = await open(t)
  const none = { [site.offers.id]: false, [site.tips.id]: false, [site.topic.id]: false }
  const { text } = await site.save(none)
  t.match(statusIn(text), /^Your choice is saved: none of these topics/)
  t.match(text, 'value="leave"')
  t.same(await site.suppressed(), [])
})

t.test('leaving everything and coming back keeps the choice of topics', async (t) => {
  const site = await open(t)
  await addContact(site, site.accountId, { email: address })
  await site.save({ [site.offers.id]: false })
  for (let times = 0; times < 2; times++) {
    const { text } = await site.post([['action', 'leave']])
    t.match(statusIn(text), /^You are unsubscribed from everything/)
    t.same(boxes(text), ['-New &lt;books&gt; &amp; more', '-Tips', '-Offers'])
    t.match(text, 'value="return"')
    t.match(text, 'name="left"')
    t.same(await site.suppressed(), ['unsubscribe'])
  }
  const { read } = site.store
  t.ok((await findContact(read, site.accountId, address))?.unsubscribedAt)
  const idle = { [site.offers.id]: false, [site.tips.id]: false, [site.topic.id]: false }
  const unchanged = await site.save(idle, ['left', 'yes'])
  t.match(statusIn(unchanged.text), /^Nothing was ticked/)
  t.same(await site.leavers(site.tips.id), [])
  for (let times = 0; times < 2; times++) {
    const { text } = await site.post([['action', 'return']])
    t.equal(statusIn(text), 'You are subscribed again.')
    t.same(boxes(text), ['+New &lt;books&gt; &amp; more', '+Tips', '-Offers'])
    t.same(await site.suppressed(), [])
  }
  t.equal((await findContact(read, site.accountId, address))?.unsubscribedAt, null)
  t.match(await site.history(), [
    { kind: 'added' },
    { kind: 'left_topic', emailId },
    { kind: 'unsubscribed', emailId, note: 'Preference centre' },
    { kind: 'lifted', by: 'recipient', reasons: ['unsubscribe'], emailId },
  ])
  t.equal((await site.history()).length, 4)
})

t.test('ticking one topic lifts an unsubscribe from everything, for that topic', async (t) => {
  const site = await open(t)
  await site.post([['action', 'leave']])
  const { text } = await site.save(
    { [site.offers.id]: true, [site.tips.id]: false, [site.topic.id]: false },
    ['left', 'yes'],
  )
  t.same(boxes(text), ['-New &lt;books&gt; &amp; more', '-Tips', '+Offers'])
  t.same(await site.suppressed(), [])

  await site.post([['action', 'leave']])
  await site.save({ [site.offers.id]: false })
  t.same(await site.suppressed(), ['unsubscribe'], 'a page from before, unticked, lifts nothing')
  await site.post([['action', 'return']])
  t.same(await site.leavers(site.offers.id), [address], 'but what it said is kept')
})

t.test('what is not the recipient’s to lift stays, and the page says it kindly', async (t) => {
  const site = await open(t)
  for (const reason of ['bounce', 'complaint', 'manual'] as const) {
    const record = { email: address, reason, detail: '550 secret of the operator' }
    await site.store.write((tx) => suppress(tx, site.accountId, record, site.clock.now()))
  }
  await site.post([['action', 'leave']])
  await site.save({ [site.offers.id]: true }, ['left', 'yes'])
  const { text } = await site.post([['action', 'return']])
  t.same(await site.suppressed(), ['bounce', 'complaint', 'manual'])
  t.match(text, /Emails from City library cannot reach ada@x\.test at present/)
  t.notMatch(text, /bounce|complain|spam|secret|\b550\b/i)
})

t.test('an account without topics offers everything or nothing', async (t) => {
  const site = await open(t)
  for (const { id } of [site.offers, site.tips, site.topic]) {
    await updateTopic(site, site.accountId, id, { archived: true })
  }
  const { text } = await site.get()
  t.notMatch(text, /checkbox|fieldset|value="save"/)
  t.match(text, 'value="leave"')
  t.match((await site.post([['action', 'leave']])).text, 'value="return"')
  t.notMatch((await (await fetch(site.url(address))).text()) ?? '', /preferences\/[A-Za-z]/)
})

t.test('the page of one button leads to the centre', async (t) => {
  const site = await open(t)
  const text = await (await fetch(site.url(address, site.offers.id))).text()
  const [, path = ''] = /<a href="(\/preferences\/[\w-]+)">Choose by topic/.exec(text) ?? []
  t.same(boxes((await site.get(site.origin + path)).text).length, 3)
})

t.test('forged, foreign, damaged and cut links get one page that tells nothing', async (t) => {
  const site = await open(t)
  const other = await startPreferences(t)
  const good = site.centre(address, emailId)
  const token = good.slice(good.lastIndexOf('/') + 1)
  const bodies = new Set<string>()
  const ask = async (url: string) => {
    for (const init of [{}, { method: 'POST', body: new URLSearchParams({ action: 'leave' }) }]) {
      if (init.method && /[se]\/?$/.test(url)) continue
      const response = await fetch(url, init)
      t.equal(response.status, 404, url.slice(0, 80))
      bodies.add(await response.text())
    }
  }
  for (const url of [
    other.centre(address, emailId).replace(other.origin, site.origin),
    site.url(address).replace('/unsubscribe/', '/preferences/'),
    good.replace('/preferences/', '/unsubscribe/'),
    good.slice(0, -1),
    good.slice(0, -20),
    `${good}A`,
    `${good}%3D`,
    good.toLowerCase(),
    `${site.origin}/preferences/${token.slice(4)}`,
    `${site.origin}/preferences/${'A'.repeat(3_000)}`,
    `${site.origin}/preferences/`,
    `${site.origin}/preferences`,
    `${site.origin}/unsubscribe/`,
  ]) {
    await ask(url)
  }
  for (const url of site.goneUrls) await ask(url)
  const rows = await site.store.read.selectFrom('suppressions').selectAll().execute()
  t.same(rows, [], 'and none has an effect')
  t.equal(bodies.size, 1, 'the same bytes for all')
  const [page = ''] = bodies
  t.match(page, '<h1>This link does not work</h1>')
  t.notMatch(page, /<form|City library|ada@/)
})

t.test('the links of a copy that is only shown act for nobody, and say so', async (t) => {
  const { origin, store } = await open(t)
  const { unsubscribe, preferences } = shownLinks(origin)
  for (const url of [unsubscribe.url(), preferences.url()]) {
    for (const action of [undefined, { 'List-Unsubscribe': 'One-Click' }, { action: 'leave' }]) {
      const body = action && new URLSearchParams(Object.entries(action))
      const response = await fetch(url, body && { method: 'POST', body })
      t.equal(response.status, 404)
      const text = await response.text()
      t.match(text, '<h1>This link is only for show</h1>')
      t.notMatch(text, '<form')
    }
  }
  t.same(await store.read.selectFrom('suppressions').selectAll().execute(), [])
})

t.test('a post may come from anywhere, in either form type, but is small and known', async (t) => {
  const site = await open(t)
  const foreign = { origin: 'https://webmail.example', 'sec-fetch-site': 'cross-site' }
  const form = new FormData()
  form.set('action', 'leave')
  const url = site.centre(address)
  t.equal((await fetch(url, { method: 'POST', body: form, headers: foreign })).status, 200)
  t.same(await site.suppressed(), ['unsubscribe'])
  for (const action of ['', 'Save', 'unsubscribe', '__proto__']) {
    const { status, text } = await site.post([['action', action]])
    t.equal(status, 400, action)
    t.equal(statusIn(text), undefined)
  }
  const json = { 'content-type': 'application/json' }
  t.equal((await fetch(url, { method: 'POST', body: '{}', headers: json })).status, 415)
  const many = { action: 'return', shown: 'x'.repeat(300_000) }
  const large = await fetch(url, { method: 'POST', body: new URLSearchParams(many) })
  t.equal(large.status, 413)
  t.same(await site.suppressed(), ['unsubscribe'])
})

t.test('the logo is on the page, at an address of its own that ends with it', async (t) => {
  const site = await open(t)
  const show = async () => /<img class="logo" src="([^"]+)" alt="">/.exec((await site.get()).text)
  const set = (bytes: Buffer) =>
    site.store.write((tx) => setLogo(tx, site.accountId, readLogo(bytes)))
  await set(png)
  const [, path = ''] = (await show()) ?? []
  t.match(path, /^\/logo\/[\w-]{22}$/)
  const response = await fetch(site.origin + path)
  t.equal(response.status, 200)
  t.equal(response.headers.get('content-type'), 'image/png')
  t.equal(response.headers.get('x-content-type-options'), 'nosniff')
  t.equal(
    response.headers.get('content-security-policy'),
    "default-src 'none'; frame-ancestors 'none'; sandbox",
  )
  t.ok(Buffer.from(await response.arrayBuffer()).equals(png))
  await set(png)
  t.not((await show())?.[1], path)
  t.equal((await fetch(site.origin + path)).status, 404)
  await site.store.write((tx) => removeLogo(tx, site.accountId))
  t.equal(await show(), null)
})

t.test('a logo is a small PNG, JPEG or WebP picture, whatever its name says', async (t) => {
  const webp = Buffer.from('RIFF\x10\0\0\0WEBPVP8 ', 'latin1')
  t.equal(readLogo(png).contentType, 'image/png')
  t.equal(readLogo(Buffer.from('ffd8ffe000104a464946', 'hex')).contentType, 'image/jpeg')
  t.equal(readLogo(webp).contentType, 'image/webp')
  t.throws(() => readLogo(Buffer.concat([png, Buffer.alloc(64 * 1024)])), /at most 65536 bytes/)
  for (const bytes of [
    Buffer.alloc(0),
    Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'),
    Buffer.from('GIF89a'),
    Buffer.from('RIFF\x10\0\0\0WAVEfmt ', 'latin1'),
    png.subarray(0, 7),
  ]) {
    t.throws(() => readLogo(bytes), /PNG, JPEG or WebP/, bytes.toString('latin1', 0, 6))
  }
})

t.test(
  'an account with thousands of topics has a page of some, and a way to the others',
  async (t) => {
    const { store, accountId, ...site } = await open(t)
    const rows = Array.from({ length: 3_000 }, (_, i) => ({
      id: store.ids.uuid(),
      account_id: accountId,
      name: `Topic ${i}`,
      name_key: `topic ${String(i).padStart(5, '0')}`,
      description: 'x'.repeat(200),
      position: 10,
      archived: 0,
      created_at: 0,
    }))
    for (let i = 0; i < rows.length; i += 500) {
      await store.write((tx) =>
        tx
          .insertInto('topics')
          .values(rows.slice(i, i + 500))
          .execute(),
      )
    }
    const first = await site.get()
    t.ok(first.text.length < 120_000, `${first.text.length} characters`)
    t.equal(boxes(first.text).length, 100)
    t.match(first.text, 'href="?part=2" rel="next"')
    t.notMatch(first.text, 'rel="prev"')
    const url = `${site.centre(address, emailId)}?part=2`
    const second = await site.get(url)
    t.match(second.text, 'href="?part=1" rel="prev"')
    t.same(boxes(second.text).slice(0, 2), ['+Topic 97', '+Topic 98'], 'behind three others')

    // What is saved is this part alone, and the answer is this part again.
    const shown = rows.slice(97, 197)
    const saved = await site.post(
      [...shown.map(({ id }): [string, string] => ['shown', id]), ['action', 'save']],
      url,
    )
    t.equal(statusIn(saved.text), 'Your choice is saved.', 'topics of other parts still come')
    t.ok(boxes(saved.text).every((box) => box.startsWith('-Topic')))
    t.ok(boxes((await site.get()).text).every((box) => box.startsWith('+')))
    const last = await site.get(`${site.centre(address, emailId)}?part=31`)
    t.same([boxes(last.text).length, last.text.includes('rel="next"')], [3, false])
    for (const odd of ['0', '-1', 'x', '99999']) {
      const { status } = await site.get(`${site.centre(address, emailId)}?part=${odd}`)
      t.equal(status, 200, odd)
    }
  },
)

t.test(
  'a recipient changes what the account lets them, and it is known that they did',
  async (t) => {
    const site = await open(t)
    const { store, accountId, post, get } = site
    const field = (name: string, type: FieldType, recipientsMayEdit = true) =>
      createContactField(site, accountId, {
        name,
        label: `<${name}>`,
        type,
        recipientsMayEdit,
        ...(type === 'choice' && { choices: ['Lagos', 'Abuja'] }),
      })
    await field('town', 'choice')
    await field('born', 'date')
    await field('visits', 'number')
    await field('firstName', 'text')
    await field('score', 'number', false)
    t.notMatch((await get()).text, 'field-town', 'of a stranger nothing is known')
    const metadata = { town: 'Lagos', born: '1.2.90', visits: 3, score: 7, other: { a: 1 } }
    await addContact(site, accountId, { email: address, firstName: 'Ada', metadata })
    const shown = (await get()).text
    t.match(shown, /What City library knows of you/)
    t.match(
      shown,
      /<option selected>Lagos<[\s\S]*name="was-visits" value="3"[\s\S]*value="Ada" autocomplete="given-name"/,
    )
    t.match(shown, /name="was-born" value=""/, 'no browser shows what is no day, or sends it back')
    t.match(shown, '&lt;town&gt;')
    t.notMatch(shown, /score|other/)
    const was: [string, string][] = [
      ['was-town', 'Lagos'],
      ['was-born', ''],
      ['was-visits', '3'],
      ['was-firstName', 'Ada'],
      ['action', 'fields'],
    ]
    const known = async () => {
      const contact = await findContact(store.read, accountId, address)
      return { ...contact?.metadata, first: contact?.firstName }
    }
    const before = await known()
    const untouched = await post([...was, ['field-town', 'Lagos'], ['field-visits', '3']])
    t.match([untouched.status, statusIn(untouched.text)], [200, 'What you changed is saved.'])
    const wrong = await post([
      ...was,
      ['field-town', 'Paris'],
      ['field-visits', 'many<'],
      ['field-firstName', 'Eve'],
      ['field-score', '99'],
      ['field-other', 'x'],
    ])
    t.equal(wrong.status, 422)
    t.match(statusIn(wrong.text), /Nothing is saved yet/)
    t.match(
      wrong.text,
      /value="many&lt;"[^>]*aria-invalid[\s\S]*such as 12 or 3\.5[\s\S]*value="Eve"/,
    )
    t.same(await known(), before, 'all of it or nothing')
    t.same(
      (await site.history()).map(({ kind }) => kind),
      ['added'],
    )
    await post([
      ...was,
      ['field-town', 'Abuja'],
      ['field-born', '1990-02-01'],
      ['field-visits', ''],
      ['field-firstName', ' Eve '],
      ['field-score', '99'],
    ])
    const changed = { town: 'Abuja', born: '1990-02-01', score: 7, other: { a: 1 }, first: 'Eve' }
    t.same(await known(), changed)
    t.match((await site.history()).at(-1), {
      kind: 'changed_fields',
      by: 'recipient',
      emailId,
      fields: ['<town>', '<born>', '<visits>', '<firstName>'],
    })
    for (let n = 0; n < 25; n++)
      await post([
        ['field-visits', `${n}`],
        ['action', 'fields'],
      ])
    const told = (await site.history()).filter(({ kind }) => kind === 'changed_fields')
    t.equal(told.length, 20, 'the record stays short whoever has the link')
    t.match(await known(), { visits: 24 })
    const foreign = await post(
      [
        ['field-town', 'Lagos'],
        ['action', 'fields'],
      ],
      site.centre('b@x.test'),
    )
    t.equal(foreign.status, 200)
    t.match(await known(), { town: 'Abuja' })
  },
)

t.test('who leaves by the page may say why, also who leaves a topic', async (t) => {
  const site = await open(t)
  const asks = ({ text }: { text: string }) => text.includes('name="reason"')
  t.notOk(asks(await site.get()))
  t.notOk(asks(await site.save({ [site.tips.id]: true })), 'nothing was left')
  t.ok(asks(await site.save({ [site.tips.id]: false })))
  t.ok(asks(await site.post([['action', 'leave']])))
  const says = () =>
    site.post([
      ['reason', 'too_many'],
      ['action', 'reason'],
    ])
  const said = await says()
  t.equal(statusIn(said.text), 'Thank you.')
  t.notOk(asks(said))
  t.match((await site.history()).at(-1), { kind: 'said_why', reasons: ['too_many'] })
  t.notOk(asks(await site.post([['action', 'leave']])), 'it was said')
})

t.test('who has left nothing is not thanked for saying why', async (t) => {
  const site = await open(t)
  const said = await site.post([
    ['reason', 'other'],
    ['action', 'reason'],
  ])
  t.equal(statusIn(said.text), undefined)
})

t.test('a page of long values in another script is saved', async (t) => {
  const site = await open(t)
  const names = ['toString', ...Array.from({ length: 23 }, (_, n) => `note${n}`)]
  for (const name of names) {
    const field = { name, label: name, type: 'text', recipientsMayEdit: true } as const
    await createContactField(site, site.accountId, field)
  }
  const metadata = Object.fromEntries(names.map((name) => [name, 'ж'.repeat(300)]))
  await addContact(site, site.accountId, { email: address, metadata })
  t.notMatch((await site.get()).text, /autocomplete="func/, 'a field of any name is a field')
  const typed = names.flatMap((name): [string, string][] => [
    [`was-${name}`, 'ж'.repeat(300)],
    [`field-${name}`, 'щ'.repeat(300)],
  ])
  const saved = await site.post([...typed, ['action', 'fields']])
  t.match([saved.status, statusIn(saved.text)], [200, 'What you changed is saved.'])
})
