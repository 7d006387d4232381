import t, { type Test } from 'tap'
import { createAccount } from '../../src/accounts/index.js'
import { makeForgetContactEvents } from '../../src/automations/upkeep/forget.js'
import { markChanged } from '../../src/changes/index.js'
import { addContact, createList, deleteContact, deleteList } from '../../src/contacts/index.js'
import { silentLog } from '../../src/log/index.js'
import type { Rule } from '../../src/rules/index.js'
import {
  changeSegment,
  countPeople,
  createSegment,
  deleteSegment,
  exportSegment,
  keepSegments,
  listSegments,
  requireSegment,
  SegmentRule,
  segmentsWait,
} from '../../src/segments/index.js'
import type { ContactRow, Store } from '../../src/store/index.js'
import { FakeClock } from '../support/clock.js'
import { openTestStore } from '../support/store.js'

const never = new AbortController().signal
const dayMs = 86_400_000
const everybody: Rule = { field: 'contact.email', operator: 'exists' }

async function open(t: Test) {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  const deps = { store, clock }
  const { id: account } = await createAccount(deps, 'One')
  const list = await createList(deps, account, 'Readers')
  const add = async (email: string, metadata: Record<string, string> = {}) =>
    (await addContact(deps, account, { email, metadata }, { listId: list.id })).contact
  const keep = (over: Store = store) => keepSegments({ store: over, clock, log: silentLog }, never)
  const make = (name: string, rule: Rule) => createSegment(deps, account, { name, rule })
  const rowsOf = async (table: 'segments' | 'segment_members' | 'segment_due') =>
    (await store.read.selectFrom(table).selectAll().execute()).length
  const addMany = (emails: readonly string[]) =>
    store.write(async (tx) => {
      const blank = { first_name: null, last_name: null, name_key: null, last_name_key: null }
      const rows = emails.map(
        (email): ContactRow => ({
          ...blank,
          id: store.ids.uuid(),
          account_id: account,
          address: email,
          email,
          phone: null,
          metadata: null,
          created_at: clock.now(),
          changed_at: null,
          shelf: 0,
        }),
      )
      for (let at = 0; at < rows.length; at += 500) {
        await tx
          .insertInto('contacts')
          .values(rows.slice(at, at + 500))
          .execute()
      }
      await tx
        .updateTable('contact_totals')
        .set(({ eb }) => ({ contacts: eb('contacts', '+', rows.length) }))
        .where('account_id', '=', account)
        .execute()
    })
  return { ...deps, deps, account, list, add, addMany, keep, make, rowsOf }
}

t.test('what a rule compares with is bounded', (t) => {
  const has = (operator: string, value: unknown) =>
    SegmentRule.is({ field: 'contact.metadata.town', operator, value })
  const many = (length: number) => Array.from({ length }, (_, n) => `town ${n}`)
  t.ok(has('in', many(100)))
  t.notOk(has('in', many(101)), 'so many values')
  t.notOk(has('in', [['Lagos']]), 'a value within a value')
  t.notOk(has('eq', { town: 'x'.repeat(1_000) }))
  t.notOk(has('contains', ['Lagos']))
  t.ok(has('eq', null))
  const long = { field: 'contact.metadata.town', operator: 'in', value: many(100) }
  t.notOk(SegmentRule.is({ all: Array.from({ length: 20 }, () => long) }), 'more than 16 KiB')
  t.end()
})

t.test('a deleted segment is gone at once, and its rows in slices', async (t) => {
  const { store, deps, account, add, addMany, keep, make, rowsOf } = await open(t)
  await add('c@x.test')
  await addMany(Array.from({ length: 1_200 }, (_, n) => `n${n}@x.test`))
  const { id } = await make('All', everybody)
  await make('Others', { field: 'contact.createdAt', operator: 'within', value: 'P3D' })
  await keep()
  t.equal(await rowsOf('segment_members'), 2_402)
  await deleteSegment(deps, account, id)
  t.equal(await rowsOf('segment_members'), 2_402, 'nobody waits for these')
  await t.rejects(requireSegment(store.read, account, id), /no segment/)
  t.match(await listSegments(store.read, account), [{ name: 'Others' }])
  t.ok(await segmentsWait(deps), 'a restart finds it')
  const sizes: number[] = []
  const write: Store['write'] = async (work) => {
    const result = await store.write(work)
    sizes.push(await rowsOf('segment_members'))
    return result
  }
  await keep({ ...store, write })
  t.equal(sizes[0], 1_402, 'a slice a write')
  t.equal(sizes.at(-1), 1_201)
  t.equal(await rowsOf('segments'), 1)
  t.notOk(await segmentsWait(deps))
})

t.test('a deleted list has only such segments looked at again as name it', async (t) => {
  const { store, deps, account, list, add, keep, make } = await open(t)
  await add('c@x.test')
  await make('Naming', { field: `list.${list.id.toUpperCase()}`, operator: 'eq', value: true })
  await make('Other', everybody)
  await keep()
  await deleteList(deps, account, list.id)
  const states = (await listSegments(store.read, account)).map((one) => [one.name, one.state])
  t.same(Object.fromEntries(states), { Naming: 'filling', Other: 'current' })
  await keep()
  t.match(await listSegments(store.read, account), [{ count: 0 }, { count: 0 }])
})

t.test('who is deleted leaves a segment that is changed meanwhile', async (t) => {
  const { store, deps, account, add, keep, make, rowsOf } = await open(t)
  const { id: contactId } = await add('c@x.test')
  const { id } = await make('All', everybody)
  await keep()
  await deleteContact(deps, account, contactId)
  let isChanged = false
  const write: Store['write'] = async (work) => {
    if (!isChanged) {
      isChanged = true
      const rule: Rule = { field: 'contact.email', operator: 'contains', value: '@' }
      await changeSegment(deps, account, id, { rule })
    }
    return store.write(work)
  }
  await keep({ ...store, write })
  t.ok(isChanged)
  t.equal(await rowsOf('segment_members'), 0)
  t.match(await listSegments(store.read, account), [{ count: 0 }])
})

t.test('events that are deleted by their age count no more', async (t) => {
  const { store, clock, account, add, keep, make } = await open(t)
  const { id } = await add('c@x.test')
  const event = { account_id: account, contact_id: id, name: 'order', payload: null }
  const values = [0, 0, 20 * dayMs].map((later) => ({
    ...event,
    at: clock.now() + later,
    occurred_at: null,
    depth: 0,
  }))
  await store.write((tx) => tx.insertInto('automation_events').values(values).execute())
  await make('Twice', { field: 'event.order', operator: 'gte', value: 2 })
  await keep()
  t.match(await listSegments(store.read, account), [{ count: 1 }])
  await clock.advance(21 * dayMs)
  const forget = makeForgetContactEvents(
    { store, log: silentLog },
    async () => new Map([[account, 10 * dayMs]]),
  )
  t.equal(await forget(clock.now(), never), 2)
  await keep()
  t.match(await listSegments(store.read, account), [{ count: 0 }])
})

t.test('a duration that is a field of theirs falls due as any', async (t) => {
  const { store, clock, account, add, keep, make } = await open(t)
  await add('c@x.test', { back: 'P2D' })
  await make('New', {
    field: 'contact.createdAt',
    operator: 'within',
    value: { var: 'contact.metadata.back' },
  })
  await keep()
  t.match(await listSegments(store.read, account), [{ count: 1 }])
  await clock.advance(2 * dayMs)
  await keep()
  t.match(await listSegments(store.read, account), [{ count: 0 }])
})

t.test('a sample is taken whatever addresses begin with', async (t) => {
  const { store, clock, account, add, addMany } = await open(t)
  await add('c@x.test')
  const starts = ['_', 'é', '+', 'user']
  for (const start of starts) {
    await addMany(Array.from({ length: 1_100 }, (_, n) => `${start}${n}@x.test`))
  }
  const { sample, count } = await countPeople({ read: store.read, clock }, account, everybody)
  t.ok(typeof sample === 'number' && sample > 0 && sample <= 4_401, `${sample} looked at`)
  t.equal(count, 4_401)
})

t.test('a clock that is set back by little has nothing looked at again', async (t) => {
  const { clock, deps, add, keep, make } = await open(t)
  await add('c@x.test')
  await make('All', everybody)
  await keep()
  clock.setBack(1)
  t.notOk(await segmentsWait(deps))
  clock.setBack(60_000)
  t.ok(await segmentsWait(deps))
})

t.test('an account whose segments cannot be judged does not stop the others', async (t) => {
  const { store, clock, deps, account, add, keep, make } = await open(t)
  await add('c@x.test')
  const { id } = await make('Broken', everybody)
  await store.write((tx) =>
    tx.updateTable('segments').set({ rule: 'no JSON' }).where('id', '=', id).execute(),
  )
  const { id: other } = await createAccount(deps, 'Two')
  const { id: listId } = await createList(deps, other, 'Theirs')
  await clock.advance(1)
  await createSegment(deps, other, { name: 'Theirs', rule: everybody })
  await addContact(deps, other, { email: 'd@x.test' }, { listId })
  await keep()
  t.match(await listSegments(store.read, other), [{ state: 'current', count: 1 }])
  t.ok(account !== other && (await segmentsWait(deps)), 'it is tried again')
})

t.test('an export ends where its segment is deleted', async (t) => {
  const { store, deps, account, add, addMany, keep, make } = await open(t)
  await add('c@x.test')
  await addMany(Array.from({ length: 600 }, (_, n) => `n${n}@x.test`))
  const { id } = await make('All', everybody)
  await keep()
  const rows = exportSegment(store.read, account, id)
  await rows.next()
  t.equal((await rows.next()).value?.trim().split('\n').length, 500)
  await deleteSegment(deps, account, id)
  await keep()
  const rest: string[] = []
  for await (const part of rows) rest.push(part)
  t.same(
    rest.filter((part) => part !== ''),
    [],
  )
})

t.test('segments are filled together, some of the contacts a write', async (t) => {
  const { store, account, addMany, keep, make, rowsOf } = await open(t)
  await addMany(Array.from({ length: 2_500 }, (_, n) => `n${n}@x.test`))
  await make('All', everybody)
  await make('Lately', { field: 'contact.createdAt', operator: 'within', value: 'P3D' })
  await make('Nobody', { field: 'mailable', operator: 'eq', value: false })
  const rows = [0]
  const states = new Set<string>()
  const write: Store['write'] = async (work) => {
    const result = await store.write(work)
    rows.push(await rowsOf('segment_members'))
    states.add((await listSegments(store.read, account)).map(({ state }) => state).join())
    return result
  }
  let left = 2
  const cutOff: Store['write'] = async (work) => {
    if (left-- === 0) throw new Error('killed')
    return store.write(work)
  }
  await keep({ ...store, write: cutOff })
  t.equal(await rowsOf('segment_members'), 2_000, 'cut off between two writes of a slice')
  rows[0] = 2_000
  await keep({ ...store, write })
  t.equal(rows.at(-1), 5_000)
  const grown = rows.slice(1).map((now, at) => now - (rows[at] ?? 0))
  t.ok(Math.max(...grown) <= 1_001, `${Math.max(...grown)} rows a write at most`)
  t.same([...states], ['filling,filling,filling', 'current,current,current'])
  t.match(
    (await listSegments(store.read, account)).map(({ name, count }) => [name, count]).sort(),
    [
      ['All', 2_500],
      ['Lately', 2_500],
      ['Nobody', 0],
    ],
  )
})

t.test(
  'a segment that is changed between two writes of a look misleads none that asks',
  async (t) => {
    const { store, deps, account, addMany, keep, make } = await open(t)
    await addMany(Array.from({ length: 1_100 }, (_, n) => `n${n}@x.test`))
    const inTown = (value: string): Rule => ({
      field: 'contact.metadata.town',
      operator: 'eq',
      value,
    })
    const town = await make('Town', inTown('Jos'))
    await make('Asks', { field: `segment.${town.id}`, operator: 'eq', value: true })
    await keep()
    await store.write(async (tx) => {
      await tx.updateTable('contacts').set({ metadata: '{"town":"Jos"}' }).execute()
      const all = await tx.selectFrom('contacts').select('id').execute()
      await markChanged(
        tx,
        account,
        all.map(({ id }) => id),
      )
    })
    let writes = 0
    const write: Store['write'] = async (work) => {
      const result = await store.write(work)
      if (writes++ === 0) await changeSegment(deps, account, town.id, { rule: inTown('Kano') })
      return result
    }
    await keep({ ...store, write })
    t.ok(writes > 3, 'the look took several writes')
    t.same(
      (await listSegments(store.read, account)).map(({ count }) => count),
      [0, 0],
    )
  },
)

t.test('a rule that speaks of time no more leaves nothing that falls due', async (t) => {
  const { clock, deps, account, add, keep, make, rowsOf } = await open(t)
  await add('c@x.test')
  const lately: Rule = { field: 'contact.createdAt', operator: 'within', value: 'P2D' }
  const [first, second] = [await make('One', lately), await make('Two', lately)]
  await keep()
  t.equal(await rowsOf('segment_due'), 2)
  await changeSegment(deps, account, first.id, { rule: everybody })
  await keep()
  t.equal(await rowsOf('segment_due'), 1, 'it was filled anew')
  await changeSegment(deps, account, second.id, { rule: everybody })
  await clock.advance(3 * dayMs)
  await keep()
  t.equal(await rowsOf('segment_due'), 0, 'its time came before it was filled anew')
  t.notOk(await segmentsWait(deps))
})
