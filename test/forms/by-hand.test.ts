// People whom an account adds itself, and asks by mail first.
import t from 'tap'
import { applianceKeyFile } from '../../src/app/index.js'
import { dayMs, systemClock } from '../../src/clock/index.js'
import { openApplianceKey } from '../../src/config/index.js'
import { consentHistory } from '../../src/consent/index.js'
import { findContact } from '../../src/contacts/index.js'
import { entriesOf, formLimits, makeSignupTokens } from '../../src/forms/index.js'
import { lift, suppress } from '../../src/suppression/index.js'
import { eventually } from '../support/eventually.js'
import { logIn } from '../support/log-in.js'
import { fillIn, linkTo, makeForm, startWithForms } from '../support/signup-forms.js'

const posthorn = await startWithForms(t)
const { store, accountId, call } = posthorn
const owner = await logIn(posthorn, accountId, 'owner')
const base = `/a/${accountId}`
const listOf = async (name: string, doubleOptIn = false): Promise<string> =>
  (await call('POST', '/v1/contacts/lists', { body: { name, doubleOptIn } })).json.id
const readers = await listOf('Readers')
const add = (email: string, more: object = {}, list = readers) =>
  call('POST', `/v1/contacts/${list}`, { body: { email, ...more } })
const known = (email: string) => findContact(store.read, accountId, email)
const confirm = async (email: string) =>
  await fetch(await linkTo(posthorn, email), { method: 'POST' })
const membersOf = async (list: string): Promise<string[]> =>
  (await call('GET', `/v1/contacts/${list}`)).json.contacts.map(
    ({ email }: { email: string }) => email,
  )

t.test('without a sender nobody can be asked, and its owner is told', async (t) => {
  const refused = await add('early@reader.test', { confirm: true })
  t.match([refused.status, refused.json.error], [422, /default sender under Brand/])
  const body = { defaultFrom: 'news@sender.test', senderName: 'Shop' }
  t.equal((await call('PATCH', '/v1/brand', { body })).status, 200)
})

t.test('who is added with a confirmation is a contact once they have given it', async (t) => {
  const more = { firstName: 'Ada', phone: '08031234567', metadata: { visits: 3 } }
  const asked = await add('Ada@reader.test', { ...more, confirm: true, agreed: 'At our stall' })
  t.match([asked.status, asked.json], [202, { email: 'Ada@reader.test', confirmation: 'sent' }])
  t.equal(await known('ada@reader.test'), undefined)
  const link = await linkTo(posthorn, 'Ada@reader.test')
  t.match(await (await fetch(link)).text(), '<title>One more click')
  await fetch(link, { method: 'POST' })
  t.match(await known('ada@reader.test'), {
    id: asked.json.id,
    firstName: 'Ada',
    phone: '+2348031234567',
    metadata: { visits: 3 },
  })
  t.same(await membersOf(readers), ['Ada@reader.test'])
  const history = await consentHistory(store.read, accountId, 'ada@reader.test')
  t.match(
    history.find(({ kind }) => kind === 'added'),
    { detail: { by: 'recipient' } },
    'no form brought them',
  )
  t.match(history.at(-1), {
    kind: 'confirmed',
    detail: { by: 'recipient', note: 'Added by the API: At our stall' },
  })
  const again = await add('ada@reader.test', { confirm: true, firstName: 'Adah' })
  t.equal(again.status, 200, 'who is on it and has confirmed is not asked again')
  t.equal((await known('ada@reader.test'))?.firstName, 'Adah')
})

t.test('its owner is told why nobody is asked', async (t) => {
  await add('bea@reader.test', { confirm: true })
  const again = await add('bea@reader.test', { confirm: true })
  t.match([again.status, again.json], [409, { code: 'conflict', reason: 'address' }])
  const gone = { email: 'gone@reader.test', reason: 'bounce', detail: null } as const
  await store.write((tx) => suppress(tx, accountId, gone, Date.now()))
  t.match((await add('gone@reader.test', { confirm: true })).json, { reason: 'suppressed' })
  const headers = { 'Idempotency-Key': 'once' }
  const body = { email: 'cid@reader.test', confirm: true }
  const first = await call('POST', `/v1/contacts/${readers}`, { body, headers })
  const second = await call('POST', `/v1/contacts/${readers}`, { body, headers })
  t.same([first.status, second.json], [202, first.json], 'a repeat asks nobody again')
})

t.test('a list that wants it asks whom it does not have, by request, form and page', async (t) => {
  const strict = await listOf('Strict', true)
  t.equal((await call('GET', `/v1/contacts/lists/${strict}`)).json.doubleOptIn, true)
  t.equal((await add('dan@reader.test', {}, strict)).status, 202)
  await confirm('dan@reader.test')
  t.equal((await add('dan@reader.test', { firstName: 'Dan' }, strict)).status, 200)
  t.equal((await add('eva@reader.test', { confirm: false }, strict)).status, 201)
  const form = await makeForm(posthorn, {
    lists: [strict],
    doubleOptIn: false,
    acceptRisk: true,
  })
  await fillIn(posthorn, form.page, 'fay@reader.test')
  t.equal(await known('fay@reader.test'), undefined, 'the form asks, though it need not')
  await confirm('fay@reader.test')
  t.ok((await membersOf(strict)).includes('fay@reader.test'))

  const page = await owner.get(`${base}/lists/${strict}`)
  t.match(page.text, /Double opt-in[\s\S]*wanted[\s\S]*form “Sign up”/)
  await owner.post(`${base}/lists/${strict}`, { name: 'Easy' })
  const { json } = await call('GET', `/v1/contacts/lists/${strict}`)
  t.match(json, { name: 'Easy', doubleOptIn: false })
  const body = { doubleOptIn: true }
  t.match((await call('PATCH', `/v1/contacts/lists/${strict}`, { body })).json, {
    name: 'Easy',
    doubleOptIn: true,
  })
})

t.test('the page sends a confirmation first', async (t) => {
  const form = { email: 'gil@reader.test', firstName: 'Gil', lists: readers, agreed: '' }
  t.equal((await owner.post(`${base}/contacts/new`, form)).status, 422, 'how did they agree?')
  const asked = await owner.post(`${base}/contacts/new`, { ...form, confirm: 'on' })
  t.match([asked.status, asked.to], [303, `${base}/contacts`])
  t.equal(await known('gil@reader.test'), undefined)
  const held = await owner.post(`${base}/contacts/new`, { ...form, confirm: 'on' })
  t.match([held.status, held.text], [422, /asked already: an address is asked once a day/])
  await confirm('gil@reader.test')
  t.ok((await membersOf(readers)).includes('gil@reader.test'))
  const [last] = (await consentHistory(store.read, accountId, 'gil@reader.test')).slice(-1)
  t.match(last?.detail.note, /^Added by owner-.*@people\.test$/)
})

/** The link of the latest mail to an address, and the list that it is for. */
async function linksOf(email: string) {
  const tokens = makeSignupTokens(openApplianceKey(applianceKeyFile(posthorn.dataDir)), systemClock)
  const entries = await entriesOf(store.read, accountId, email)
  return entries.map(({ id, typed }) => ({
    list: typed.lists?.[0],
    link: `${posthorn.publicUrl}/confirm/${tokens.confirmation(id)}`,
  }))
}
/** Lets a day go by for every address that was asked. */
const nextDay = () =>
  store.write((tx) =>
    tx
      .updateTable('form_addresses')
      .set((eb) => ({ last_at: eb('last_at', '-', dayMs) }))
      .execute(),
  )

t.test(
  'who was asked for two lists is one contact, and is put on each that they confirm',
  async (t) => {
    const email = 'two@reader.test'
    const other = await listOf('Other', true)
    const first = await add(email, { confirm: true })
    await nextDay()
    const second = await add(email, {}, other)
    t.match([first.status, second.status], [202, 202])
    t.equal(second.json.id, first.json.id)
    for (const list of [other, readers]) {
      const { link } = (await linksOf(email)).find((one) => one.list === list) ?? {}
      await fetch(link ?? '', { method: 'POST' })
      t.ok((await membersOf(list)).includes(email))
    }
    t.equal((await known(email))?.id, first.json.id)
  },
)

t.test('nobody is asked who has left or was erased', async (t) => {
  const mails = async () => (await store.read.selectFrom('form_mails').selectAll().execute()).length
  const before = await mails()
  const left = { email: 'left@reader.test', reason: 'unsubscribe', detail: null } as const
  await store.write((tx) => suppress(tx, accountId, left, Date.now()))
  const erasure = { address: 'erased@reader.test' }
  t.equal((await call('POST', '/v1/contacts/erasures', { body: erasure })).status, 202)
  for (const email of [left.email, erasure.address]) {
    const refused = await add(email, { confirm: true })
    t.match([refused.status, refused.json], [409, { reason: 'suppressed', error: /only they can/ }])
    const form = { email, firstName: 'X', lists: readers, agreed: '', confirm: 'on' }
    t.match((await owner.post(`${base}/contacts/new`, form)).text, /only they can come back/)
  }
  t.equal(await mails(), before)
})

t.test('how a known member agreed is kept', async (t) => {
  const email = 'member@reader.test'
  t.equal((await add(email)).status, 201)
  t.equal((await add(email, { agreed: 'By phone' })).status, 200)
  const [last] = (await consentHistory(store.read, accountId, email)).slice(-1)
  t.match(last, { kind: 'added', detail: { by: 'api', note: 'By phone' } })
})

t.test('a confirmation counts for its lists alone, and until they leave', async (t) => {
  const email = 'again@reader.test'
  const third = await listOf('Third')
  t.equal((await add(email, { confirm: true })).status, 202)
  await confirm(email)
  t.equal((await add(email, { confirm: true })).status, 200)
  t.equal((await add(email, {}, third)).status, 201)
  const asked = await add(email, { confirm: true }, third)
  t.equal(asked.status, 202, 'they have confirmed another list')
  const gone = { email, reason: 'unsubscribe', detail: null } as const
  await store.write(async (tx) => {
    await suppress(tx, accountId, gone, Date.now())
    await lift(tx, accountId, email, { by: 'operator', at: Date.now(), reasons: ['unsubscribe'] })
  })
  await nextDay()
  t.equal((await add(email, { confirm: true })).status, 202, 'they have left since')
})

t.test(
  'a mailbox is asked once a day, by whatever name, also if the clock was set back',
  async (t) => {
    t.equal((await add('one.box@gmail.com', { confirm: true })).status, 202)
    for (const email of ['o.nebox+x@googlemail.com', 'OneBox+y+z@gmail.com'])
      t.match((await add(email, { confirm: true })).json, { reason: 'address' }, email)
    t.equal((await add('tag+a@reader.test', { confirm: true })).status, 202)
    t.match((await add('tag+b@reader.test', { confirm: true })).json, { reason: 'address' })
    t.equal((await add('t.ag@reader.test', { confirm: true })).status, 202, 'dots are of Gmail')
    t.ok((await linksOf('tag+a@reader.test')).length, 'the address itself stays')
    const later = Date.now() + 30 * dayMs
    await store.write((tx) => tx.updateTable('form_addresses').set({ last_at: later }).execute())
    t.match((await add('tag+a@reader.test', { confirm: true })).json, { reason: 'address' })
  },
)

t.test(
  'people who are put on such a list together are asked, or said how they agreed',
  async (t) => {
    const strict = await listOf('Strict together', true)
    const names = ['ida', 'jan', 'kim', 'lea', 'max', 'ned'].map((name) => `${name}@together.test`)
    const [ida = '', jan = '', kim = '', lea = '', max = '', ned = ''] = names
    const ids = await Promise.all(names.map(async (email) => (await add(email)).json.id as string))
    const on = () => membersOf(strict)

    // One, on their page.
    const mine = `${base}/contacts/${ids[0]}`
    t.match((await owner.get(mine)).text, 'Strict together (asks people first)')
    const asked = await owner.post(`${mine}/lists`, { were: readers, lists: [readers, strict] })
    t.equal(asked.status, 303)
    t.same(await on(), [])
    await confirm(ida)
    t.same(await on(), [ida])
    const agreed = { were: readers, lists: [readers, strict], agreed: 'At our stall' }
    await owner.post(`${base}/contacts/${ids[1]}/lists`, agreed)
    t.same((await on()).sort(), [ida, jan])

    // Those who are ticked.
    const ticked = { do: 'add', list: strict, ids: [ids[0], ids[2]] as string[] }
    const page = await owner.post(`${base}/contacts/selected`, ticked)
    t.match(page.text, /Ask each of them by mail[\s\S]*Put them on it at once/)
    const did = await owner.post(`${base}/contacts/selected/do`, { ...ticked, ask: 'first' })
    const { status, to, headers } = did
    t.match([status, to], [303, `${base}/contacts`])
    const cookie = `${owner.cookie}; ${headers.get('set-cookie')?.split(';')[0]}`
    const after = await owner.get(to, { cookie })
    t.match(after.text, /1 contact asked by mail[^<]*1 on it already/)
    t.notOk((await on()).includes(kim))
    const bare = await owner.post(`${base}/contacts/selected/do`, { ...ticked, ask: 'once' })
    t.match([bare.status, bare.text], [422, /Write how they agreed/])
    const once = { ...ticked, ids: [ids[3] ?? ''], ask: 'once', note: 'By phone' }
    await owner.post(`${base}/contacts/selected/do`, once)
    t.ok((await on()).includes(lea))

    // All who fit.
    const order = { do: 'add', q: max, target: strict }
    t.match(
      (await owner.get(`${base}/contacts/fitting?${new URLSearchParams(order)}`)).text,
      'at once',
    )
    const doneWith = async (body: object) => {
      const { json: begun } = await call('POST', '/v1/contacts/bulk', { body })
      const look = () => call('GET', `/v1/contacts/bulk/${begun.id}`)
      await eventually(async () => (await look()).json.state === 'done', 10_000)
      return (await look()).json
    }
    t.match(await doneWith(order), { changed: 1, done: 1 })
    t.notOk((await on()).includes(max))
    t.match((await owner.get(`${base}/contacts/waiting`)).text, max)
    await confirm(max)
    t.match(await doneWith({ ...order, q: ned, confirm: false }), { changed: 1 })
    t.same((await on()).sort(), [ida, jan, lea, max, ned])
  },
)

t.test('whom strangers fill in a form with holds nobody up who is added by hand', async (t) => {
  for (let n = 0; n <= formLimits.domainAnHour; n += 10) {
    const asked = await Promise.all(
      Array.from({ length: 10 }, (_, i) => add(`n${n + i}@crowd.test`, { confirm: true })),
    )
    t.ok(asked.every(({ status }) => status === 202))
  }
})

t.test('what comes back of them counts to the account, too; of a form it does not', async (t) => {
  const addresses = async () =>
    (await store.read.selectFrom('protection_addresses').select('address').execute()).length
  const form = await makeForm(posthorn)
  await fillIn(posthorn, form.page, 'bounced+form@simulator.posthorn.test')
  const bounces = async () =>
    (await store.read.selectFrom('form_days').select('bounces').execute()).reduce(
      (sum, day) => sum + day.bounces,
      0,
    )
  await eventually(async () => (await bounces()) === 1, 10_000)
  t.equal(await addresses(), 0)
  await add('bounced+hand@simulator.posthorn.test', { confirm: true })
  await eventually(async () => (await bounces()) === 2, 10_000)
  t.equal(await addresses(), 1)
})

t.test('what asks them has a page for its figures, and no address of its own', async (t) => {
  const forms = await owner.get(`${base}/forms`)
  const [, path = ''] = /href="([^"]+)">Contacts that you add</.exec(forms.text) ?? []
  const one = await owner.get(path)
  t.match(one.text, /To be asked[\s\S]*Confirmed/)
  t.notMatch(one.text, /\/f\/|HTML to copy|Archive/)
  const { json } = await call('GET', '/v1/forms')
  t.notOk(json.forms.some(({ name }: { name: string }) => name === 'Contacts that you add'))
  const row = await store.read
    .selectFrom('forms')
    .select(['id', 'public_id'])
    .where('kind', '=', 'hand')
    .executeTakeFirstOrThrow()
  t.equal((await fetch(`${posthorn.publicUrl}/f/${row.public_id}`)).status, 404)
  t.equal((await call('GET', `/v1/forms/${row.id}`)).status, 404)
  t.equal((await call('POST', `/v1/forms/${row.id}/resume`)).status, 404)
  t.equal((await owner.get(`${base}/forms/${row.id}/edit`)).status, 404)
})

t.test(
  'who has not confirmed is shown until they do, and the mail that asks is looked at',
  async (t) => {
    await add('hal@reader.test', { confirm: true })
    const waiting = async () => (await owner.get(`${base}/contacts/waiting`)).text
    t.match(await waiting(), /hal@reader\.test[\s\S]*you, by hand/)
    t.notMatch(await waiting(), 'ada@reader.test')
    await confirm('hal@reader.test')
    t.notMatch(await waiting(), 'hal@reader.test')
    t.match((await owner.get(`${base}/contacts`)).text, `${base}/contacts/waiting`)
    const mail = await owner.get(`${base}/brand/confirmation`)
    t.match(mail.text, /signed up this address for the emails of Test[\s\S]*Confirm/)
    const body = { postalAddress: '1 Main Street\nLagos', colours: { button: '#7a0000' } }
    t.equal((await call('PATCH', '/v1/brand', { body })).status, 200)
    const footer = await owner.get(`${base}/brand/footer`)
    t.match(footer.text, /Test[\s\S]*Unsubscribe[\s\S]*1 Main Street, Lagos/)
    const form = await owner.get(`${base}/brand/form`)
    t.match(form.text, /--accent:#7a0000[\s\S]*I would like &lt;b&gt;news/, 'the newest form')
    const dark = (await owner.get(`${base}/topics/-/centre?dark=1`)).text
    t.match(dark, /color-scheme:dark[\s\S]*@media \(min-width: 0px\)/)
    for (const one of ['form', 'footer', 'confirmation'])
      t.match((await owner.get(`${base}/brand`)).text, `src="${base}/brand/${one}"`)
  },
)
