import t from 'tap'
import { loadPlans } from '../../src/billing/index.js'
import { systemClock as clock } from '../../src/clock/index.js'
import { addContact, createList } from '../../src/contacts/index.js'
import { segmentPages } from '../../src/dashboard/segments/routes.js'
import { createForm } from '../../src/forms/index.js'
import { silentLog } from '../../src/log/index.js'
import { keepSegments, listSegments } from '../../src/segments/index.js'
import { eraseSuppressions, suppress, suppressReturned } from '../../src/suppression/index.js'
import { hostile, isTame, startAccountPages } from '../dashboard/account-pages.js'

t.test('a segment is written as a sentence, counted, saved, shown and deleted', async (t) => {
  const plans = loadPlans('config/plans.toml')
  const rig = await startAccountPages(t, ({ account }, { store }) =>
    segmentPages(account, { store, clock, plans }),
  )
  const { store, accountId, get, post } = rig
  const deps = { store, clock }
  const list = await createList(deps, accountId, 'Readers')
  for (const [n, town] of ['Lagos', 'LAGOS', 'Accra', hostile].entries()) {
    const given = { email: `c${n}@x.test`, firstName: hostile, metadata: { town } }
    await addContact(deps, accountId, given, { listId: list.id })
  }
  await store.write((tx) =>
    suppress(tx, accountId, { email: 'c1@x.test', reason: 'unsubscribe' }, clock.now()),
  )
  t.match((await get('/segments')).text, /No segment yet/)
  t.match((await get('/segments/new')).text, /Is on the list “Readers”[\s\S]*Condition|town/)
  const town = {
    name: 'Lagos',
    mode: 'all',
    group: '0',
    field: 'contact.metadata.town',
    operator: 'eq',
    value: 'lagos',
  }
  const counted = await post('/segments/new/draft', { ...town, do: 'count' })
  t.match(
    counted.text,
    /2 people fit\. 1 of them gets your marketing mail; of the others 1 unsubscribed/,
  )
  const more = await post('/segments/new/draft', { ...town, do: 'add.0' })
  t.match(more.text, /Condition 2/)
  t.match(more.text, /value="lagos"/, 'what was typed is kept')
  t.notMatch((await post('/segments/new/draft', { ...town, do: 'remove.0' })).text, /Condition 1/)
  t.match((await post('/segments/new/draft', { ...town, do: 'group' })).text, /Group 1/)

  const wrong = { ...town, field: 'contact.createdAt', operator: 'within', value: 'soon' }
  const refused = await post('/segments/new', wrong)
  t.equal(refused.status, 422)
  t.match(refused.text, /Condition 1: write how long, such as 30 days/)
  const nameless = await post('/segments/new', { ...town, name: '' })
  t.match(nameless, { status: 422, text: /id="field-name-fault">Write a name of 1 to 100/ })

  t.equal((await post('/segments/new', town)).status, 303)
  const [segment] = await listSegments(store.read, accountId)
  t.match(segment, {
    name: 'Lagos',
    rule: {
      all: [{ field: 'contact.metadata.town', operator: 'eq', value: 'lagos', ignoreCase: true }],
    },
  })
  const path = `/segments/${segment?.id}`
  const begun = (await get(path)).text
  t.match(
    begun,
    /So far: 0 people fit[\s\S]*Nobody so far/,
    'nobody is said to fit before all were asked',
  )
  t.match(begun, 'id="segment" data-live', 'and who waits sees them come')
  await keepSegments({ ...deps, log: silentLog }, new AbortController().signal)
  const shown = await get(path)
  t.notMatch(shown.text, 'data-live')
  t.match(shown.text, /2 people fit[\s\S]*town is lagos[\s\S]*c1@x\.test[\s\S]*c0@x\.test/)
  isTame(t, shown, 'what others wrote is text')
  t.match((await get(`${path}/contacts.csv`)).text, /^email,[\s\S]*c1@x\.test/)
  t.match((await get(`${path}/edit`)).text, /value="lagos"/)
  await post(`${path}/edit`, {
    ...town,
    name: 'Since a month',
    field: 'contact.createdAt',
    operator: 'within',
    value: '30 days',
  })
  t.match(await listSegments(store.read, accountId), [
    { name: 'Since a month', rule: { all: [{ operator: 'within', value: 'P30D' }] } },
  ])
  t.match((await get(`${path}/edit`)).text, /value="30 days"/)
  t.equal((await post(`${path}/delete`, {})).status, 303)
  t.same(await listSegments(store.read, accountId), [])

  const fields = [{ name: 'town', label: 'What town?', type: 'text' as const }]
  const form = { name: 'F', lists: [list.id], consent: 'News?', fields }
  await createForm(deps, accountId, form)
  const asked = await get('/segments/new')
  t.match(asked.text, '>What town?</option>', 'what a form asks has its label')
  await store.write((tx) =>
    suppress(tx, accountId, { email: 'c0@x.test', reason: 'manual' }, clock.now()),
  )
  const both = (await post('/segments/new/draft', { ...town, do: 'count' })).text
  t.match(both, 'of the others 1 unsubscribed, 1 suppressed by hand.')
  await store.write(async (tx) => {
    await eraseSuppressions(tx, accountId, 'c0@x.test', clock.now())
    await suppressReturned(tx, accountId, ['c0@x.test'], clock.now())
  })
  const apart = (await post('/segments/new/draft', { ...town, do: 'count' })).text
  t.match(apart, 'of the others 1 unsubscribed, 1 erased on request')
})
