// The pages of topics and of contact lists, over HTTP.
import t, { type Test } from 'tap'
import { loadPlans } from '../../../src/billing/index.js'
import { systemClock as clock } from '../../../src/clock/index.js'
import { listContactFields } from '../../../src/contact-fields/index.js'
import {
  addContact,
  changeList,
  createList,
  type ImportTasks,
  listLists,
} from '../../../src/contacts/index.js'
import { fieldPages } from '../../../src/dashboard/fields/routes.js'
import { listPages } from '../../../src/dashboard/lists/routes.js'
import { topicPages } from '../../../src/dashboard/topics/routes.js'
import { sampleCentre } from '../../../src/preferences/routes.js'
import { createSegment } from '../../../src/segments/index.js'
import { suppress } from '../../../src/suppression/index.js'
import { createTopic, listTopics, optOut, updateTopic } from '../../../src/topics/index.js'
import { hostile, isTame, startAccountPages, type Who } from '../account-pages.js'

async function open(t: Test) {
  const plans = loadPlans('config/plans.toml')
  const rig = await startAccountPages(t, ({ account }, { store }) => {
    const centre = (accountId: string) => sampleCentre(store.read, accountId)
    fieldPages(account, { store, clock, plans })
    topicPages(account, { store, clock, plans, sampleCentre: centre })
    listPages(account, { store, clock, plans, imports: undefined as unknown as ImportTasks })
  })
  const { store, accountId } = rig
  const deps = { store, clock }
  return {
    ...rig,
    topic: (name: string, position = 0) => createTopic(deps, accountId, { name, position }),
    topicNamed: (id: string, name: string) => updateTopic(deps, accountId, id, { name }),
    topics: () => listTopics(store.read, accountId, { archived: true }),
    leave: (topicId: string, address: string) =>
      store.write((tx) => optOut(tx, accountId, { topicId, address }, clock.now())),
    list: (name: string) => createList(deps, accountId, name),
    lists: () => listLists(store.read, accountId),
    add: (listId: string, email: string, firstName?: string) =>
      addContact(deps, accountId, { email, firstName }, { listId }),
  }
}

t.test('a topic is made, renamed, moved, archived and restored', async (t) => {
  const rig = await open(t)
  const { get, post, follow, noted, topics } = rig
  t.match((await get('/topics')).text, /No topic yet/)
  const made = await post('/topics/new', { name: 'Offers', description: 'Weekly' })
  t.match((await follow(made)).text, /The topic “Offers” is made.*Weekly/s)
  const [offers] = await topics()
  await rig.topic('News', 0)
  t.match((await get('/topics')).text, /News.*Offers/s)
  t.match(
    (await follow(await post(`/topics/${offers?.id}/move`, { way: 'up' }))).text,
    /Offers.*News/s,
  )
  // An empty description takes it away.
  const changed = await post(`/topics/${offers?.id}`, { name: 'Bargains', description: '' })
  t.match((await follow(changed)).text, /Saved.*Bargains/s)
  t.match((await topics())[0], { name: 'Bargains', description: '', position: 0 })
  const opened = /name="revision" value="([^"]+)"/.exec((await get(`/topics/${offers?.id}`)).text)
  const mine = { name: 'Mine', description: '', revision: opened?.[1] ?? '' }
  await rig.topicNamed(offers?.id ?? '', 'Deals')
  const late = await post(`/topics/${offers?.id}`, mine)
  t.match(late, { status: 422, text: /Changed meanwhile by [\s\S]*Name: Deals[\s\S]*value="Mine"/ })
  await rig.topicNamed(offers?.id ?? '', 'Bargains')
  const archived = await follow(await post(`/topics/${offers?.id}/archive`))
  t.match(archived.text, /archived; who has left it stays known/)
  t.notMatch((await get('/topics')).text, /Bargains/)
  t.match((await get('/topics?show=archived')).text, /Bargains/)
  t.equal((await post(`/topics/${offers?.id}/move`, { way: 'down' })).status, 409)
  await post(`/topics/${offers?.id}/restore`)
  t.match((await get('/topics')).text, /Bargains/)
  t.same(
    noted.map(({ action }) => action),
    ['create', 'change', 'change', 'archive', 'change'].map((verb) => `topic.${verb}`),
  )
})

t.test(
  'a field is made, moved, changed and deleted, and recipients see what they may change',
  async (t) => {
    const { get, post, follow, noted, add, list, store, accountId } = await open(t)
    t.match((await get('/fields')).text, /No field yet/)
    const town = {
      label: 'Home town',
      type: 'choice',
      choices: 'Lagos\n\nAbuja ',
      recipientsMayEdit: 'on',
    }
    const made = await follow(await post('/fields/new', town))
    t.match(
      made.text,
      /The field “Home town” is made[\s\S]*\{\{ homeTown \}\}[\s\S]*may change it[\s\S]*topics\/-\/centre/,
    )
    t.match((await get('/topics/-/centre')).text, /Home town[\s\S]*<option>Lagos/)
    await post('/fields/new', { label: 'Visits', type: 'number', name: 'visits' })
    await post('/fields/new', { label: 'First name', type: 'firstName' })
    const fields = await listContactFields(store.read, accountId)
    t.match(fields, [
      { name: 'homeTown', choices: ['Lagos', 'Abuja'], recipientsMayEdit: true },
      { name: 'visits', recipientsMayEdit: false },
      { name: 'firstName', type: 'text' },
    ])
    for (const [form, says] of [
      [{ label: 'Visits again', type: 'text', name: 'VISITS' }, /There is a field named/],
      [{ label: 'Size', type: 'choice', name: '' }, /nothing to choose from/],
      [{ label: 'X', type: 'text', name: 'a-b' }, /A name in merge tags has at most 40 letters/],
      [{ label: 'x'.repeat(81), type: 'text', name: '' }, /at most 80 characters; this one has 81/],
      [{ label: '', type: 'text', name: '' }, /field-label-fault">Write a label/],
      [
        { label: 'Y', type: 'choice', choices: 'a\n'.repeat(60) },
        /field-choices-fault">A field has at most 50 choices; these are 60/,
      ],
      [{ label: 'Y', type: 'text', choices: 'a' }, /Only a choice has choices/],
    ] as const) {
      const refused = await post('/fields/new', form)
      t.equal(refused.status, 422)
      t.match(refused.text, says)
      if (form.label !== '') t.match(refused.text, `value="${form.label}"`)
    }
    const [first, visits] = fields
    await post(`/fields/${visits?.id}/move`, { way: 'up' })
    t.match((await get('/fields')).text, /Visits[\s\S]*Home town/)
    await post(`/fields/${first?.id}`, { label: 'Town', type: 'text' })
    t.notMatch((await get('/fields')).text, />may change it</)
    await add((await list('L')).id, 'ann@x.test')
    await store.write((tx) =>
      tx.updateTable('contacts').set({ metadata: '{"shoe":"<42>"}' }).execute(),
    )
    t.match((await get('/fields')).text, /fields\/new\?name=shoe/)
    await post(`/fields/${visits?.id}/delete`)
    t.equal((await get(`/fields/${visits?.id}`)).status, 404)
    t.equal((await post('/fields/new', town, 'viewer')).status, 403)
    t.equal((await get(`/fields/${first?.id}`, 'stranger')).status, 404)
    t.same(
      noted.map(({ action }) => action),
      ['create', 'create', 'create', 'change', 'change', 'delete'].map((verb) => `field.${verb}`),
    )
    isTame(t, await post('/fields/new', { label: hostile, type: hostile, name: hostile }), 'field')
  },
)

t.test('a topic that cannot be made keeps what was typed, and tells why', async (t) => {
  const { get, post, topic, noted } = await open(t)
  await topic('News')
  const taken = await post('/topics/new', { name: 'NEWS', description: 'again' })
  t.equal(taken.status, 422)
  t.match(taken.text, /There is a topic named &quot;NEWS&quot; already.*value="again"/s)
  t.equal((await post('/topics/new', { name: ' ' })).status, 422)
  t.equal((await get('/topics/nonsense')).status, 404)
  t.strictSame(noted, [])
})

t.test('who has left a topic is there, and the page that recipients see', async (t) => {
  const { get, topic, leave, otherId, store } = await open(t)
  const { id } = await topic(hostile.slice(0, 60))
  for (const name of ['ada', 'bob']) await leave(id, `${name}@example.com`)
  const shown = await get(`/topics/${id}`)
  t.match(shown.text, /2 addresses have left it.*\/suppression\/address\?email=bob%40example\.com/s)
  isTame(t, shown, 'a topic')
  isTame(t, await get('/topics'), 'the list')
  const centre = await get('/topics/-/centre')
  isTame(t, centre, 'the centre')
  t.match(centre.text, /<style>:root.*type="checkbox" name="topic"/s, 'its style is in it')
  t.match(centre.headers.get('content-security-policy') ?? '', /default-src 'none'.*sandbox/)
  const other = await createTopic({ store, clock }, otherId, { name: 'Theirs' })
  t.equal((await get(`/topics/${other.id}`)).status, 404)
})

t.test('a list is made, renamed, read page by page and deleted by its name', async (t) => {
  const { get, post, follow, list, lists, add, noted, store, accountId } = await open(t)
  t.match((await get('/lists')).text, /No list yet/)
  t.match(
    (await follow(await post('/lists/new', { name: 'Readers' }))).text,
    /The list “Readers” is made/,
  )
  const [made] = await lists()
  const at = `/lists/${made?.id}`
  const other = await list('Others')
  for (let n = 10; n < 70; n++) await add(made?.id ?? '', `n${n}@example.com`, 'Ann')
  await add(other.id, 'n10@example.com')
  const bounced = { email: 'n69@example.com', reason: 'bounce' } as const
  await store.write((tx) => suppress(tx, accountId, bounced, clock.now()))
  const first = (await get(at)).text
  t.match(
    first,
    /60 people are on it.*n69@example\.com.*bounced.*n68@example\.com.*Gets marketing mail/s,
  )
  const [, older = ''] = /href="([^"]*after=[^"]*)"/.exec(first) ?? []
  t.match((await get(older)).text, /n19@example\.com.*n10@example\.com/s)
  t.match((await get(`${at}?email=N12@example.com`)).text, /n12@example\.com/)
  t.match(
    (await get(`${at}?email=nobody@example.com`)).text,
    /nobody@example\.com is not on the list/,
  )
  const [, revision = ''] = /name="revision" value="([^"]+)"/.exec(first) ?? []
  const mine = { name: 'Friends', revision }
  await changeList({ store }, accountId, made?.id ?? '', { doubleOptIn: true })
  const late = await post(at, mine)
  t.match(late, { status: 422, text: /Changed meanwhile by [\s\S]*Double opt-in: wanted/ })
  const [, over = ''] = /name="over" value="([^"]+)"/.exec(late.text) ?? []
  t.equal((await post(at, { ...mine, over })).status, 303, 'who has read it may write over it')
  const csv = await get(`${at}/contacts.csv`)
  t.match(csv.text, /^email,firstName.*\r?\n.*n69@example\.com,Ann/s)

  const asking = { field: `list.${made?.id}`, operator: 'eq', value: true } as const
  await createSegment({ store, clock }, accountId, { name: 'On it', rule: asking })
  t.match((await get(at)).text, 'segment “On it”', 'who deletes it knows whom that empties')
  const asked = await get(`${at}/delete`)
  t.match(asked.text, 'segment “On it”')
  t.match(asked.text, /60 contacts on it.*59 contacts on no other list: deleted for good/s)
  const wrong = await post(`${at}/delete`, { name: 'Readers' })
  t.equal(wrong.status, 422)
  t.match(wrong.text, /Type Friends to delete it/)
  t.match(
    (await follow(await post(`${at}/delete`, { name: 'Friends' }))).text,
    /“Friends” is deleted/,
  )
  t.match(await lists(), [{ name: 'Others', contactCount: 1 }])
  t.same(
    noted.map(({ action }) => action),
    ['create', 'change', 'export', 'delete'].map((verb) => `list.${verb}`),
  )
})

t.test('lists are read page by page; a list of others is none', async (t) => {
  const { get, list, otherId, store } = await open(t)
  for (let n = 10; n < 65; n++) await list(`L${n} ${n === 64 ? hostile.slice(0, 80) : ''}`)
  const first = await get('/lists')
  isTame(t, first, 'the lists')
  t.match(first.text, /L64.*L15/s)
  const [, older = ''] = /href="([^"]*after=[^"]*)"/.exec(first.text) ?? []
  t.match((await get(older)).text, /L14.*L10/s)
  const theirs = await createList({ store, clock }, otherId, 'Theirs')
  for (const path of ['', '/delete', '/contacts.csv', '?after=x'])
    t.equal((await get(`/lists/${theirs.id}${path}`)).status, 404, path)
  t.equal((await get(`/lists?after=${theirs.id}`)).status, 404)
})

t.test('who only looks sees no button, and nothing is done for them', async (t) => {
  const { get, post, topic, list, noted } = await open(t)
  const paths = [`/topics/${(await topic('News')).id}`, `/lists/${(await list('Readers')).id}`]
  for (const who of ['viewer', 'operator'] satisfies Who[]) {
    for (const path of ['/topics', '/lists', ...paths]) {
      const { status, text } = await get(path, who)
      t.equal(status, 200, path)
      t.notMatch(text, /method="post" action="\/a\/[^"]*\/(topics|lists)/, path)
    }
    for (const path of ['/topics/new', '/lists/new', ...paths])
      t.equal((await post(path, { name: 'x' }, who)).status, 403, path)
  }
  t.same(
    noted.map(({ action }) => action),
    ['account.view-as'],
  )
})
