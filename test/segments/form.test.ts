import t from 'tap'
import { loadPlans } from '../../src/billing/index.js'
import { systemClock as clock } from '../../src/clock/index.js'
import { addContact, createList } from '../../src/contacts/index.js'
import { segmentPages } from '../../src/dashboard/segments/routes.js'
import { wordsOf } from '../../src/dashboard/segments/rule-words.js'
import { ruleOfSentence, sentenceOf } from '../../src/dashboard/segments/sentence.js'
import type { Rule } from '../../src/rules/index.js'
import { createSegment, requireSegment } from '../../src/segments/index.js'
import { startAccountPages } from '../dashboard/account-pages.js'

t.test('the form of a segment', async (t) => {
  const plans = loadPlans('config/plans.toml')
  const rig = await startAccountPages(t, ({ account }, { store }) =>
    segmentPages(account, { store, clock, plans }),
  )
  const { store, accountId, get, post } = rig
  const deps = { store, clock }
  const list = await createList(deps, accountId, 'Readers')
  await addContact(
    deps,
    accountId,
    { email: 'c@x.test', metadata: { age: 5 } },
    { listId: list.id },
  )
  const make = async (rule: Rule) =>
    (await createSegment(deps, accountId, { name: 'Before', rule })).id
  const ruleOf = async (id: string) => (await requireSegment(store.read, accountId, id)).rule
  const rowed = (field: string, operator: string, value: string) => ({
    name: 'After',
    mode: 'all',
    group: '0',
    field,
    operator,
    value,
  })

  await t.test('another name leaves the rule as it is', async (t) => {
    const rule: Rule = { field: 'engagement.sent', operator: 'gte', value: 3 }
    const id = await make(rule)
    const saved = await post(`/segments/${id}/edit`, rowed('engagement.sent', 'gte', '3'))
    t.equal(saved.status, 303)
    t.match(await requireSegment(store.read, accountId, id), { name: 'After', rule })
    await post(`/segments/${id}/edit`, rowed('engagement.sent', 'gte', '4'))
    t.match(await ruleOf(id), { all: [{ value: 4 }] })
  })

  await t.test('what another tab has saved is not taken back without a word', async (t) => {
    const id = await make({ field: 'engagement.sent', operator: 'gte', value: 3 })
    const page = (await get(`/segments/${id}/edit`)).text
    const revision = /name="revision" value="([^"]+)"/.exec(page)?.[1] ?? ''
    const as = (value: string, more = {}) =>
      post(`/segments/${id}/edit`, {
        ...rowed('engagement.sent', 'gte', value),
        revision,
        ...more,
      })
    t.equal((await as('5')).status, 303)
    const late = await as('7')
    t.equal(late.status, 422)
    t.match(late.text, /Changed meanwhile by [\s\S]*Who is in it: [^<]*5[\s\S]*value="7"/)
    t.match(await ruleOf(id), { all: [{ value: 5 }] })
    const over = /name="over" value="([^"]+)"/.exec(late.text)?.[1] ?? ''
    t.equal((await as('7', { over })).status, 303)
    t.match(await ruleOf(id), { all: [{ value: 7 }] })
  })

  await t.test('a rule that the form would save otherwise is not shown in it', async (t) => {
    const town: Rule = { field: 'contact.metadata.town', operator: 'eq', value: 'Lagos' }
    const age: Rule = { field: 'contact.metadata.age', operator: 'eq', value: 5 }
    t.equal(wordsOf(town, []), 'town is Lagos')
    for (const rule of [town, age]) {
      const id = await make(rule)
      t.match((await get(`/segments/${id}/edit`)).text, /written for the API/)
      const wrong = await post(`/segments/${id}/edit`, { name: '' })
      t.equal(wrong.status, 422)
      t.notMatch(wrong.text, /Add a condition/, 'what is typed then would be lost')
      t.equal((await post(`/segments/${id}/edit`, { name: 'After' })).status, 303)
      t.same(await ruleOf(id), rule)
    }
  })

  await t.test('is not 5: neither the number nor the text', async (t) => {
    const row = {
      field: 'contact.metadata.age',
      operator: 'neq',
      value: '5',
      since: '',
      group: 0,
    }
    const rule = ruleOfSentence({ mode: 'all', modes: [], parents: [], rows: [row] })
    t.same(rule, {
      all: [{ not: { field: 'contact.metadata.age', operator: 'in', value: ['5', 5] } }],
    })
    t.same(sentenceOf(rule)?.rows, [row])
  })

  await t.test('a condition that is left empty or does not fit is refused', async (t) => {
    const refused = async (field: string, operator: string, value: string) => {
      const { status, text } = await post('/segments/new', rowed(field, operator, value))
      return status === 422 ? text : `${status}`
    }
    t.match(
      await refused('contact.email', 'contains', ' '),
      /Condition 1: say what it is compared with/,
    )
    t.match(await refused(`list.${list.id}`, 'contains', 'x'), /holds or does not hold/)
    t.match(await refused('mailable', 'exists', ''), /holds or does not hold/)
    t.equal(await refused(`list.${list.id}`, 'yes', ''), '303')
    t.equal(await refused(`list.${list.id}.joinedAt`, 'exists', ''), '303')
  })

  await t.test('ten conditions of an account with many fields are below 64 KiB', async (t) => {
    for (let n = 0; n < 49; n++) await createList(deps, accountId, `${n} ${'name '.repeat(15)}`)
    for (let n = 0; n < 60; n++) {
      const rule: Rule = { field: 'mailable', operator: 'eq', value: true }
      await createSegment(deps, accountId, { name: `${n} ${'name '.repeat(15)}`, rule })
    }
    const all = Array.from({ length: 10 }, (_, n) => `list.${list.id}${n > 4 ? '.joinedAt' : ''}`)
    const drafted = await post('/segments/new/draft', {
      name: 'Many',
      mode: 'all',
      group: all.map(() => '0'),
      field: all,
      operator: all.map(() => 'exists'),
      value: all.map(() => ''),
      do: 'count',
    })
    t.equal(drafted.status, 200)
    t.ok(drafted.text.length < 65_536, `${drafted.text.length}`)
    t.equal(drafted.text.match(/ selected>Is on the list “Readers”/g)?.length, 5)
    t.match(drafted.text, /Only the last condition offers all fields/)
  })
})
