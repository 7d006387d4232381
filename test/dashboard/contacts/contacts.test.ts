import t, { type Test } from 'tap'
import { makeTakeOuts } from '../../../src/automations/index.js'
import { loadPlans } from '../../../src/billing/index.js'
import { systemClock as clock } from '../../../src/clock/index.js'
import { recordConsent } from '../../../src/consent/index.js'
import { createContactField } from '../../../src/contact-fields/index.js'
import {
  type AskFirst,
  addContact,
  contactHistory,
  createList,
  findContact,
  listsOfContacts,
  makeBulkTasks,
} from '../../../src/contacts/index.js'
import { likelyMeant } from '../../../src/dashboard/contacts/domain-typo.js'
import { contactPages } from '../../../src/dashboard/contacts/routes.js'
import { makeErasures } from '../../../src/erasure/index.js'
import { createForm, usualSettings } from '../../../src/forms/index.js'
import { silentLog } from '../../../src/log/index.js'
import { suppress, suppressionsOf } from '../../../src/suppression/index.js'
import { createTopic, optOut } from '../../../src/topics/index.js'
import { hostile, isTame, startAccountPages } from '../account-pages.js'

/** The number of people that a page has said, as its form sends it back. */
const seenIn = (html: string) => /name="seen" value="([^"]*)"/.exec(html)?.[1] ?? ''

async function open(t: Test) {
  const joined: string[] = []
  const plans = loadPlans('config/plans.toml')
  const rig = await startAccountPages(t, ({ account }, { store }) => {
    const askFirst: AskFirst = async (_account, { given }) => ({ id: 'none', email: given.email })
    const defaultCountry = 'NG'
    const bulk = makeBulkTasks({ store, clock, plans, log: silentLog, defaultCountry, askFirst })
    const erasures = makeErasures({ store, clock, log: silentLog })
    const takeOuts = makeTakeOuts({ store, clock, log: silentLog })
    t.teardown(() => Promise.all([bulk.close(), erasures.close(), takeOuts.close()]))
    contactPages(account, {
      store,
      clock,
      plans,
      bulk,
      erasures,
      takeOuts,
      contacts: {
        defaultCountry,
        askFirst,
        startRun: async () => ({ id: 'none', name: 'None' }),
        follow: async (_tx, _account, news) => {
          joined.push(...news.map(({ contact }) => contact.email))
        },
      },
    })
  })
  const { store, accountId } = rig
  const deps = { store, clock }
  return {
    ...rig,
    ...deps,
    joined,
    add: async (email: string, more: object = {}, listId?: string) =>
      (await addContact(deps, accountId, { email, ...more }, { listId })).contact.id,
    list: async (name: string) => (await createList(deps, accountId, name)).id,
    find: (email: string) => findContact(store.read, accountId, email),
    listsOf: async (id: string) =>
      (await listsOfContacts(store.read, [id])).get(id)?.map(({ name }) => name),
    block: (email: string, reason: 'unsubscribe' | 'bounce', detail: string | null = null) =>
      store.write((tx) => suppress(tx, accountId, { email, reason, detail }, clock.now())),
    reasons: async (email: string) =>
      (await suppressionsOf(store.read, accountId, email)).map(({ reason }) => reason),
    history: (email: string) => contactHistory(store.read, accountId, email),
  }
}

t.test('contacts are searched, filtered and paged', async (t) => {
  const { add, list, block, get, otherId } = await open(t)
  const readers = await list('Readers')
  await add('ann@x.test', { firstName: 'Ann', lastName: 'Obi' }, readers)
  await add('bob@x.test')
  await block('bob@x.test', 'unsubscribe')
  const all = await get('/contacts')
  t.match(all.text, /ann@x\.test[\s\S]*Readers[\s\S]*Gets marketing mail[\s\S]*bob@x\.test/)
  t.match(all.text, /Gets none: unsubscribed/)
  for (const [query, there, not] of [
    ['q=obi', 'ann', 'bob'],
    [`list=${readers}`, 'ann', 'bob'],
    ['state=unsubscribed', 'bob', 'ann'],
    ['state=mailable', 'ann', 'bob'],
  ] as const) {
    const { text } = await get(`/contacts?${query}`)
    t.match(text, `>${there}@x.test<`, query)
    t.notMatch(text, `>${not}@x.test<`, query)
  }
  t.match((await get(`/contacts?list=${readers}`)).text, `/lists/${readers}/contacts.csv`)
  t.match((await get('/contacts?q=nobody')).text, /No such contact/)
  t.match((await get('/contacts', 'viewer')).text, /ann@x/)
  t.notMatch((await get('/contacts', 'viewer')).text, /type="checkbox"|Add a contact/)
  t.match((await get(`/a/${otherId}/contacts`, 'stranger')).text, /No contact yet/)
  for (let n = 10; n < 65; n++) await add(`p${n}@x.test`)
  const whole = (await get('/contacts?q=p&rows=100')).text
  t.match(whole, /p64@x\.test/)
  const [, tick = ''] = /href="([^"]*tick=page[^"]*)"/.exec(whole) ?? []
  const ticked = (await get(tick.replaceAll('&amp;', '&'))).text
  t.equal(ticked.match(/name="ids"[^>]* checked/g)?.length, 55, 'all of the page, without script')
  t.match(ticked, /Untick all/)
  const first = await get('/contacts?q=p')
  const [, next = ''] = /href="([^"]*after=[^"]*)"/.exec(first.text) ?? []
  const second = await get(next.replaceAll('&amp;', '&'))
  t.match(second.text, /p64@x\.test/)
  t.notMatch(first.text, /p64@x\.test/)
  t.equal((await get('/contacts?after=x')).status, 400)
})

t.test('a person: why mail comes or not, fields, lists', async (t) => {
  const { add, list, block, get, post, follow, find, listsOf, store, accountId, ...rig } =
    await open(t)
  const [readers, staff] = [await list('Readers'), await list('Staff')]
  const topic = await createTopic({ store, clock }, accountId, { name: 'Offers' })
  const street = '12 Main St\nLagos'
  const id = await add(
    'ann@x.test',
    { metadata: { town: 'Lagos', n: 7, old: 'x', street } },
    readers,
  )
  const path = `/contacts/${id}`
  await store.write((tx) =>
    optOut(tx, accountId, { topicId: topic.id, address: 'ann@x.test' }, clock.now()),
  )
  t.match(
    (await get(path)).text,
    /Gets your marketing mail[\s\S]*Topic “Offers”[\s\S]*Left this topic by themselves[\s\S]*Marketing mail sent[\s\S]*Left the topic “Offers”/,
  )

  const fields = { firstName: 'Ann', lastName: '', phone: '0803 123 4567' }
  // A field of one line has lost the line end.
  const own = {
    key: ['town', 'n', 'old', 'street'],
    value: ['Abuja', '8', '', '12 Main StLagos'],
    was: ['Lagos', '7', 'x', street.replace('\n', '\r\n')],
  }
  const saved = await post(path, { ...fields, ...own, newKey: 'size', newValue: '42' })
  t.match(await follow(saved), { status: 200, text: /Saved/ })
  t.match(await find('ann@x.test'), { firstName: 'Ann', phone: '+2348031234567' })
  t.same((await find('ann@x.test'))?.metadata, { town: 'Abuja', n: 8, street, size: '42' })
  const typed = { name: 'born', label: 'Date <of> birth', type: 'date' } as const
  await createContactField({ store, clock }, accountId, typed)
  t.match((await get(path)).text, /Date &lt;of&gt; birth<[\s\S]*name="value" value="" type="date"/)
  const born = (value: string) => post(path, { ...fields, key: 'born', value, was: '' })
  t.match(await born('1.2.1990'), { status: 422, text: /expected a day, such as/ })
  await born('1990-02-01')
  t.match((await find('ann@x.test'))?.metadata, { born: '1990-02-01', n: 8 })
  // They have changed their name by their own page since this one was shown.
  const stale = { wasFirstName: 'Ann', wasLastName: '', wasPhone: '+2348031234567' }
  const tab = { firstName: 'Ann', lastName: 'Obi', phone: '+2348031234567' }
  await post(path, { ...fields, firstName: 'Anna' })
  t.match((await get(path)).text, 'name="wasFirstName" value="Anna"')
  await post(path, { ...tab, ...stale })
  t.match(await find('ann@x.test'), { firstName: 'Anna', lastName: 'Obi' })
  await post(path, { firstName: '', lastName: '', phone: '', wasFirstName: '' })
  t.match(await find('ann@x.test'), { firstName: 'Anna' }, 'what was empty and stays so')
  const late = { ...tab, ...stale, firstName: 'TabD', openedAt: '1' }
  const told = await post(path, late)
  t.match(told, { status: 422, text: /Changed meanwhile by [\s\S]*First name: Anna/ })
  t.match(told.text, /name="firstName"[^>]*value="TabD"/, 'what was typed stays')
  t.match(await find('ann@x.test'), { firstName: 'Anna' }, 'and what others have saved')
  const over = /name="over" value="([^"]+)"/.exec(told.text)?.[1] ?? ''
  await post(path, { ...late, over })
  t.match(await find('ann@x.test'), { firstName: 'TabD' })
  await post(path, { ...tab, firstName: 'Anna' })
  const odd = await post(path, { ...tab, newKey: '__proto__', newValue: 'x' })
  t.match(odd, { status: 422, text: /id="field-newKey-fault">No field can be called __proto__/ })
  const wrong = await post(path, { ...fields, ...stale, ...own, phone: 'x', lastName: 'Kept' })
  t.match(wrong.text, 'name="wasFirstName" value="Ann"', 'as that page showed it')
  t.equal(wrong.status, 422)
  t.match(wrong.text, /a phone number[\s\S]*value="Kept"[\s\S]*value="Abuja"/, 'what was typed')

  const shown = { were: [readers] }
  t.equal((await post(`${path}/lists`, { ...shown, lists: [] })).status, 422, 'the last list')
  await post(`${path}/lists`, { ...shown, lists: [staff] })
  t.same(await listsOf(id), ['Staff'])
  t.same(rig.joined, [], 'starts nothing unless asked')
  await post(`${path}/lists`, { lists: [readers], trigger: 'on' })
  t.same(await listsOf(id), ['Readers', 'Staff'], 'what came since the page was shown stays')
  t.same(rig.joined, ['ann@x.test'])

  const refused = await post(`${path}/unsubscribe`, { note: ' ' })
  t.equal(refused.status, 422)
  t.match(refused.text, 'href="#unsubscribe-note"', 'the list above leads to the field')
  t.match(refused.text, /<details class="confirm" open><summary[^>]*>Unsubscribe/, 'which is open')
  const [before] = /<input[^>]* name="firstName"[^>]*>/.exec((await get(path)).text) ?? []
  t.match(before, ' value="')
  t.match(refused.text, before, 'the page’s other form shows what is kept')
  await post(`${path}/unsubscribe`, { note: 'by phone' })
  t.match(
    (await get(path)).text,
    /Gets none: unsubscribed on [\s\S]*by somebody of your team[\s\S]*by phone/,
  )
  await block('ann@x.test', 'bounce')
  t.equal((await post(`${path}/resubscribe`, {})).status, 422, 'not without a note')
  await post(`${path}/resubscribe`, { note: 'asked by mail' })
  t.same(await rig.reasons('ann@x.test'), ['bounce'], 'a bounce is not lifted')
  t.match((await rig.history('ann@x.test')).at(-1), {
    kind: 'lifted',
    detail: { by: 'dashboard', note: 'asked by mail', reasons: ['unsubscribe'] },
  })
  t.match((await get(path)).text, /Why the address is suppressed/)
  await post(`${path}/delete`)
  t.equal(await find('ann@x.test'), undefined)
  t.match(
    rig.noted.map(({ action }) => action),
    [...Array(9).fill('contact.change'), 'suppression.add', 'suppression.remove', 'contact.delete'],
  )
  t.equal((await get(path)).status, 404)
})

t.test('what is typed of somebody who was deleted meanwhile is not lost', async (t) => {
  const { add, post, get } = await open(t)
  const id = await add('ann@x.test', { firstName: 'Ann' })
  const { text } = await get(`/contacts/${id}`)
  t.match(text, /name="whose" value="ann@x.test"/)
  await post(`/contacts/${id}/delete`)
  const typed = { firstName: 'Ann', wasFirstName: 'Ann', lastName: 'Obi', whose: 'ann@x.test' }
  const own = { newKey: 'town', newValue: 'Lagos <b>' }
  const gone = await post(`/contacts/${id}`, { ...typed, ...own })
  t.equal(gone.status, 404)
  t.match(gone.text, /Nothing was saved: somebody has deleted this contact meanwhile/)
  t.match(gone.text, /Obi[\s\S]*town[\s\S]*Lagos &lt;b&gt;/)
  t.match(gone.text, /contacts\/new\?email=ann%40x\.test/)
  t.equal((await post(`/contacts/${id}/lists`, {})).status, 404)
})

t.test('one is added with how they agreed; a slip in the domain is asked about', async (t) => {
  const { list, get, post, follow, find, listsOf, history, block, noted, joined } = await open(t)
  const [a, b] = [await list('A'), await list('B')]
  t.match((await get(`/contacts/new?list=${b}`)).text, new RegExp(`value="${b}" checked`))
  const form = { email: 'ann@gmial.com', lists: [a, b], agreed: 'At our shop' }
  const asked = await post('/contacts/new', form)
  t.equal(asked.status, 422)
  t.match(asked.text, /Is it ann@gmail\.com\?[\s\S]*At our shop/)
  t.match(
    (await post('/contacts/new', { ...form, agreed: '' })).text,
    /id="field-email-fault">Is it ann@gmail\.com[\s\S]*id="field-agreed-fault">Write how they agreed/,
    'both are told at once',
  )
  t.equal((await post('/contacts/new', { ...form, sure: 'on', agreed: '' })).status, 422)
  t.equal((await post('/contacts/new', { ...form, email: 'nobody' })).status, 422)
  const added = await post('/contacts/new', { ...form, sure: 'on' })
  t.match((await follow(added)).text, /ann@gmial\.com is added/)
  const ann = await find('ann@gmial.com')
  t.same(await listsOf(ann?.id ?? ''), ['A', 'B'])
  t.match(await history('ann@gmial.com'), [
    { kind: 'added', detail: { by: 'dashboard', listId: a, note: 'At our shop' } },
    { kind: 'added', detail: { by: 'dashboard', listId: b, note: 'At our shop' } },
  ])
  t.match(noted, [{ action: 'contact.add', target: ann?.id }])
  t.same(joined, [])
  await block('bob@x.test', 'unsubscribe')
  const back = await post('/contacts/new', { ...form, email: 'bob@x.test', trigger: 'on' })
  t.match((await follow(back)).text, /They get no marketing mail/)
  t.same(joined, ['bob@x.test', 'bob@x.test'], 'a contact, and on both lists')
  for (const right of ['gmx.net', 'yahoo.com.ng', 'shop.ng', 'mail.de', 'x.test', 'gmail.com']) {
    t.equal(likelyMeant(`a@${right}`), undefined, right)
  }
  for (const [typed = '', meant] of [
    ['gmail.con', 'gmail.com'],
    ['gmai.com', 'gmail.com'],
    ['shop.example', undefined],
    ['hotmial.fr', 'hotmail.fr'],
    ['yahooo.com', 'yahoo.com'],
  ]) {
    t.equal(likelyMeant(`a@${typed}`), meant && `a@${meant}`, typed)
  }
})

t.test('with those who are ticked: said first, then done', async (t) => {
  const { add, list, get, post, follow, find, listsOf, joined, noted, otherId } = await open(t)
  const [readers, staff] = [await list('Readers'), await list('Staff')]
  const ann = await add('ann@x.test', {}, readers)
  const bob = await add('bob@x.test', {}, readers)
  const ids = [ann, bob]
  await post('/contacts/selected/do', { do: 'add', list: staff, ids: [ann] })
  const none = await post('/contacts/selected?q=ann', { do: 'delete', list: readers })
  t.equal(none.status, 422)
  t.match(none.text, /Tick those first[\s\S]*value="ann"/, 'the search stays')
  const adding = await post('/contacts/selected', { do: 'add', list: staff, ids })
  t.match(adding.text, /Add 2 contacts to “Staff”\?[\s\S]*1 of them is on it already/)
  const taking = await post('/contacts/selected', { do: 'remove', list: readers, ids })
  t.match(taking.text, /Take 2 contacts off “Readers”\?[\s\S]*1 of them is on no other list and is/)
  t.same(await listsOf(bob), ['Readers'], 'nothing is done yet')
  const setting = await post('/contacts/selected', { do: 'set', ids })
  t.match(setting.text, /Set a field of 2 contacts\?[\s\S]*First name[\s\S]*A new field/)
  const unnamed = await post('/contacts/selected/do', { do: 'set', ids })
  t.equal(unnamed.status, 422)
  t.match(unnamed.text, /Choose the field that is set[\s\S]*Set a field of 2 contacts\?/)
  t.match((await post('/contacts/selected?q=ann', { do: 'set', ids })).text, /selected\/do\?q=ann"/)
  const kept = { do: 'unsubscribe', ids: [], note: 'none' }
  t.match((await post('/contacts/selected/do?q=ann', kept)).location, /\/contacts\?q=ann$/)
  const town = { do: 'set', ids: [ann], key: 'new', newKey: 'town', value: 'Lagos' }
  t.match((await follow(await post('/contacts/selected/do', town))).text, /1 contact changed/)
  t.same((await find('ann@x.test'))?.metadata, { town: 'Lagos' })
  t.same((await find('bob@x.test'))?.metadata, {})
  t.equal((await post('/contacts/selected/do', { do: 'unsubscribe', ids })).status, 422)
  const leaving = { do: 'unsubscribe', ids: [bob], note: 'by phone' }
  t.match((await follow(await post('/contacts/selected/do', leaving))).text, /1 contact unsubscr/)
  t.ok((await find('bob@x.test'))?.unsubscribedAt)
  const added = await post('/contacts/selected/do', { do: 'add', list: staff, ids, trigger: 'on' })
  t.match((await follow(added)).text, /1 contact put on “Staff”/)
  t.same(joined, ['bob@x.test'])
  await post('/contacts/selected/do', { do: 'remove', list: staff, ids: [bob] })
  t.same(await listsOf(bob), ['Readers'])
  await post('/contacts/selected/do', { do: 'remove', list: readers, ids: [bob] })
  t.equal(await find('bob@x.test'), undefined, 'on no list any more')
  const foreign = { do: 'delete', list: '', ids: [ann] }
  await post(`/a/${otherId}/contacts/selected/do`, foreign, 'stranger')
  t.ok(await find('ann@x.test'), "another account's")
  t.match((await post('/contacts/selected', { ...foreign, list: '' })).text, /Delete 1 contact\?/)
  await post('/contacts/selected/do', foreign)
  t.equal(await find('ann@x.test'), undefined)
  t.match((await get('/contacts')).text, /No contact yet/)
  t.match(
    noted.map(({ action }) => action),
    ['add', 'bulk', 'bulk', 'bulk', 'add', 'remove', 'remove', 'delete'].map(
      (deed) => `contact.${deed}`,
    ),
  )
})

t.test(
  'a field that is set for many is one that they have, or a new one with a sound name',
  async (t) => {
    const { add, post, find, store, accountId } = await open(t)
    const ann = await add('ann@x.test', { firstName: 'Nan', metadata: { 'My Town!': 'Ibadan' } })
    await createContactField({ store, clock }, accountId, {
      name: 'size',
      label: 'Shoe',
      type: 'number',
    })
    const ids = [ann]
    const { text } = await post('/contacts/selected', { do: 'set', ids })
    t.match(
      text,
      /<select[^>]*name="key"[\s\S]*First name[\s\S]*Last name[\s\S]*Shoe[\s\S]*My Town!/,
    )
    const set = (given: object) => post('/contacts/selected/do', { do: 'set', ids, ...given })
    for (const newKey of ['email', 'firstName', 'a.b', '{{ x }}', 'My Town!', '', 'Size']) {
      const refused = await set({ key: 'new', newKey, value: 'x' })
      t.equal(refused.status, 422, newKey)
      t.match(refused.text, /Set a field of 1 contact\?/)
    }
    t.match((await set({ key: 'new', newKey: 'My Town!' })).text, /“myTown” would do/)
    t.equal((await set({ key: 'own:none', value: 'x' })).status, 422)
    t.equal((await set({ key: 'own:size', value: 'large' })).status, 422)
    t.equal((await set({ key: 'name:firstName', value: 'n'.repeat(201) })).status, 422)
    const right = { 'name:firstName': 'Ann', 'own:My Town!': 'Lagos', 'own:size': '38' }
    for (const [key, value] of Object.entries(right)) {
      t.equal((await set({ key, value })).status, 303, key)
    }
    t.match(await find('ann@x.test'), {
      firstName: 'Ann',
      metadata: { 'My Town!': 'Lagos', size: 38 },
    })
    t.same(Object.keys((await find('ann@x.test'))?.metadata ?? {}), ['My Town!', 'size'])
  },
)

t.test('what customers and strangers wrote stands in pages as text', async (t) => {
  const { add, list, block, get, post } = await open(t)
  const listId = await list(hostile)
  const name = hostile.slice(0, 200)
  const fields = { firstName: name, lastName: name, metadata: { [hostile]: hostile } }
  const id = await add('ann@x.test', fields, listId)
  await block('ann@x.test', 'unsubscribe', hostile)
  isTame(t, await get('/contacts'), 'the list')
  isTame(t, await get(`/contacts?q=${encodeURIComponent(hostile)}`), 'the search')
  isTame(t, await get(`/contacts/${id}`), 'the person')
  isTame(t, await get(`/contacts/${id}`, 'viewer'), 'the person, for a viewer')
  isTame(t, await get(`/contacts/new?email=${encodeURIComponent(hostile)}`), 'the form')
  isTame(
    t,
    await post('/contacts/selected', { do: 'add', list: listId, ids: [id] }),
    'the question',
  )
  isTame(t, await post('/contacts/new', { email: hostile, agreed: hostile }), 'a wrong form')
  isTame(t, await post(`/contacts/${id}`, { phone: hostile, newKey: hostile }), 'wrong fields')
})

t.test(
  'something is done with all that fit, after a page that says whom it is about',
  async (t) => {
    const { add, list, get, post, follow, find, block } = await open(t)
    const readers = await list('Readers')
    for (const one of ['ann', 'anton', 'bob']) await add(`${one}@x.test`)
    await block('bob@x.test', 'unsubscribe')
    t.match((await get('/contacts?q=an')).text, /With all that fit: 2<[\s\S]*contacts\.csv\?q=an/)
    const asked = await get(`/contacts/fitting?q=an&do=add&target=${readers}`)
    t.match(asked.text, /Add 2 contacts to “Readers”\?[\s\S]*POST \/v1\/contacts\/bulk/)
    t.match((await get('/contacts/fitting?do=delete')).text, /all contacts of the account/)
    t.equal((await get('/contacts/fitting?do=delete', 'viewer')).status, 403)
    t.equal((await post('/contacts/fitting', { do: 'unsubscribe', q: 'an' })).status, 422)
    const begun = await post('/contacts/fitting', {
      do: 'set',
      q: 'an',
      seen: seenIn(asked.text),
      key: 'new',
      newKey: 'town',
      value: 'Lagos',
    })
    for (;;) {
      const { text } = await follow(begun)
      if (!/>done</.test(text)) continue
      t.match(text, /Setting a field of contacts[\s\S]*2 of 2/)
      break
    }
    t.same((await find('anton@x.test'))?.metadata, { town: 'Lagos' })
    t.same((await find('bob@x.test'))?.metadata, {})
    const csv = await get('/contacts/contacts.csv?state=unsubscribed')
    t.match(csv.text, /bob@x\.test/)
    for (const odd of ['do=delete&state=left', 'do=erase&q=an', 'do=delete&segment=none']) {
      const refused = await get(`/contacts/fitting?${odd}`)
      t.match(refused.status, odd.includes('none') ? 404 : 422, `${odd} is nobody, and not all`)
    }
    t.equal((await get('/contacts/contacts.csv?state=left')).status, 422)
    t.match((await get('/contacts?sort=newest')).text, /bob@x[\s\S]*anton@x[\s\S]*ann@x/)
    t.notMatch(csv.text, /ann@x/)
    t.equal((await get('/tasks/999')).status, 404)
  },
)

t.test('only those are deleted whose number was said, and no others', async (t) => {
  const { add, list, get, post, follow, find } = await open(t)
  const readers = await list('Readers')
  await add('zz1@x.test', {}, readers)
  await add('ann@x.test')
  const order = { do: 'delete', q: 'zz' }
  const page = `/contacts/fitting?${new URLSearchParams(order)}`
  const all = await get('/contacts/fitting?do=set')
  const asked = await get(page)
  t.match(asked.text, /Delete 1 contact\?/)
  const seen = seenIn(asked.text)
  t.match((await post('/contacts/fitting', order)).text, /look at how many/, 'unseen')
  // Came since: left alone.
  await add('zz2@x.test', {}, readers)
  t.match((await get(page)).text, /Delete 2 contacts\?/)
  // Fits since, and was a contact before: not agreed to.
  await post(`/contacts/${(await find('ann@x.test'))?.id}`, { firstName: 'Zzoe' })
  const refused = await post('/contacts/fitting', { ...order, seen })
  t.equal(refused.status, 422)
  t.match(
    refused.text,
    /2 of those who were contacts then fit now, and not 1[\s\S]*Delete 3 contacts/,
  )
  await post(`/contacts/${(await find('ann@x.test'))?.id}`, { firstName: 'Ann' })
  const until = async (begun: Awaited<ReturnType<typeof post>>) => {
    for (;;) {
      const { text } = await follow(begun)
      if (/>done</.test(text)) return text
    }
  }
  t.match(await until(await post('/contacts/fitting', { ...order, seen })), /1 of 1/)
  t.equal(await find('zz1@x.test'), undefined)
  t.ok(await find('zz2@x.test'))
  const other = { do: 'set', key: 'new', newKey: 'town', value: 'Oslo' }
  const whole = await post('/contacts/fitting', { ...other, seen: seenIn(all.text) })
  t.match([whole.status, whole.text], [422, /1 of those who were contacts then fit now, and not 2/])
  const ofList = await get(`/contacts/fitting?do=set&list=${readers}`)
  await add('zz3@x.test', {}, readers)
  const put = { ...other, list: readers, seen: seenIn(ofList.text) }
  t.match(await until(await post('/contacts/fitting', put)), /1 of 1/)
  t.same((await find('zz2@x.test'))?.metadata, { town: 'Oslo' })
  t.same((await find('zz3@x.test'))?.metadata, {})
  const once = await post('/contacts/fitting', { ...put, key: 'own:town' })
  const late = await post(`/tasks/${once.location.split('/').at(-1)}/state`, { to: 'running' })
  t.equal(late.status, 303)
  t.match((await follow(late)).text, /Nothing was changed: it (goes on|is done) already/)
})

t.test('what a form has asked is on the page of who answered, as the form asks it', async (t) => {
  const { add, get, post, store, accountId, list } = await open(t)
  const id = await add('ann@x.test', { metadata: { size: 'M', other: 'x' } })
  const size = { name: 'size', label: 'Your size', type: 'choice' as const, choices: ['S', 'M'] }
  const fields = [{ ...size, required: false }]
  const given = { name: 'Shop', lists: [await list('Readers')], consent: 'News, please', fields }
  await createForm({ store, clock }, accountId, { ...usualSettings, ...given })
  const { text } = await get(`/contacts/${id}`)
  t.match(text, /Your size<\/label>[\s\S]*?<select[^>]*>[\s\S]*?<option selected>M</)
  t.match(text, />other<\/label>/, 'what nobody has described has its key')
  const own = { key: 'size', was: 'M', firstName: '', lastName: '', phone: '' }
  t.equal((await post(`/contacts/${id}`, { ...own, value: 'XL' })).status, 422)
  t.equal((await post(`/contacts/${id}`, { ...own, value: 'S' })).status, 303)
})

t.test('what somebody agreed to by a form is on their page', async (t) => {
  const { add, get, store, accountId } = await open(t)
  const id = await add('ann@x.test')
  const detail = {
    by: 'recipient',
    formId: '01a1fc92-0000-7000-8000-5f0e1c2d3b4a',
    note: 'Form “News”, version 3: I would like <b>news</b>',
    version: 3,
    page: 'https://shop.test/"><script>',
    address: '192.0.2.0',
    askedAt: Date.UTC(2026, 10, 28, 10),
  }
  await store.write((tx) =>
    recordConsent(tx, accountId, 'ann@x.test', { at: clock.now(), kind: 'confirmed', detail }),
  )
  const { text } = await get(`/contacts/${id}`)
  t.match(
    text.replaceAll('<wbr>', ''),
    /Confirmed by mail by themselves, on https:\/\/shop\.test\/&quot;&gt;&lt;script&gt;, from the network 192\.0\.2\.0, asked for \d+ (?:s|min|h|days) before – Form “News”, version 3: I would like &lt;b&gt;news/i,
  )
})

t.test(
  'whoever was erased and is added again is said to be, and nobody suppressed them by hand',
  async (t) => {
    const { add, get, post, reasons } = await open(t)
    const first = await add('ann@x.test')
    const typed = { typed: 'ann@x.test' }
    const erased = await post(`/contacts/${first}/erase`, typed)
    t.equal(erased.status, 303)
    for (let n = 0; n < 200 && (await get(`/contacts/${first}`)).status === 200; n++) {
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    const again = await add('ann@x.test')
    t.same(await reasons('ann@x.test'), ['manual'])
    const { text } = await get(`/contacts/${again}`)
    t.match(text, /Gets none: erased on request, added again on /)
    t.match(
      text,
      /Erased on request, added again, [\s\S]*Was erased on request: mail them only if they ask for it again/,
    )
    t.notMatch(text, /by erasure/)
    await add('bob@x.test')
    await post(`/contacts/${await add('cid@x.test')}/unsubscribe`, { note: 'by phone' })
    const listed = (await get('/contacts?state=erased')).text.replaceAll('<wbr>', '')
    t.match(listed, 'ann@x.test')
    t.notMatch(listed, /bob@x\.test|cid@x\.test/)
  },
)
