import t, { type Test } from 'tap'
import { createAccount } from '../../src/accounts/index.js'
import {
  addContact,
  contactTotal,
  createList,
  deleteList,
  findContact,
  listDays,
  listLists,
  listMembers,
  onlyOnList,
  removeDeletedLists,
  removeFromList,
} from '../../src/contacts/index.js'
import { silentLog } from '../../src/log/index.js'
import { suppress } from '../../src/suppression/index.js'
import { FakeClock } from '../support/clock.js'
import { poison } from '../support/poison.js'
import { openTestStore } from '../support/store.js'

async function open(t: Test) {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  const deps = { store, clock }
  const { id: account } = await createAccount(deps, 'One')
  const { id: stranger } = await createAccount(deps, 'Two')
  const emails = async (listId: string, options: { limit?: number; email?: string } = {}) => {
    const { members } = await listMembers(store.read, account, listId, { limit: 500, ...options })
    return members.map((member) => member.email)
  }
  return {
    ...deps,
    read: store.read,
    account,
    stranger,
    emails,
    /** One after another, so that they are listed in order. */
    list: async (name: string, owner = account) => {
      await clock.advance(1)
      return (await createList(deps, owner, name)).id
    },
    add: async (listId: string | undefined, email: string, more: object = {}) =>
      addContact(deps, account, { email, ...more }, { listId }),
    /** At once, so that they share commits. */
    addMany: (listId: string, count: number) =>
      Promise.all(
        Array.from({ length: count }, (_, n) =>
          addContact(deps, account, { email: `c${n}@x.test` }, { listId }),
        ),
      ),
    /** What the counters say, and what there is. */
    counts: async () => {
      const [lists, rows] = await Promise.all([
        listLists(store.read, account),
        store.read.selectFrom('contacts').select('id').where('account_id', '=', account).execute(),
      ])
      const onLists: number[] = []
      for (const { id, contactCount } of lists) {
        t.equal((await emails(id)).length, contactCount, 'the counter of a list is right')
        const days = await listDays(store.read, id, { days: 90, now: clock.now() })
        const change = days.reduce((sum, { joined, gone }) => sum + joined - gone, 0)
        t.equal(change, contactCount, 'and what is known of its days')
        onLists.push(contactCount)
      }
      t.equal(await contactTotal(store.read, account), rows.length, 'that of the account too')
      return { lists: onLists, contacts: rows.length }
    },
  }
}

t.test('a contact is on any number of lists, or none, and once on each', async (t) => {
  const site = await open(t)
  const [a, b] = [await site.list('A'), await site.list('A')]
  t.match(await site.add(a, 'ada@x.test'), { added: true, joined: true })
  t.match(await site.add(a, 'ADA@x.test'), { added: false, joined: false })
  t.match(await site.add(b, 'Ada@x.test'), { added: false, joined: true })
  t.match(await site.add(undefined, 'bob@x.test'), { added: true, joined: false })
  t.same(await site.counts(), { lists: [1, 1], contacts: 2 })
  const foreign = await site.list('Theirs', site.stranger)
  for (const list of [foreign, 'nonsense']) {
    await t.rejects(site.add(list, 'new@x.test'), {
      code: 'not_found',
      message: 'The account has no contact list with this id',
    })
    await t.rejects(site.emails(list), { code: 'not_found' })
  }
  t.equal(await findContact(site.read, site.account, 'new@x.test'), undefined)
})

t.test('names are given anew, metadata is laid over what is known', async (t) => {
  const site = await open(t)
  await site.add(undefined, 'ada@x.test', { firstName: ' Ada\n Mary ', metadata: { a: 1, b: [1] } })
  await site.add(undefined, 'ada@x.test', { lastName: 'Obi', metadata: { b: { c: 2 } } })
  const known = await findContact(site.read, site.account, 'ada@x.test')
  t.match(known, { firstName: 'Ada Mary', lastName: 'Obi' })
  t.same(known?.metadata, { a: 1, b: { c: 2 } })
  await site.add(undefined, 'ada@x.test', { firstName: '' })
  t.match(await findContact(site.read, site.account, 'ada@x.test'), { firstName: null })
  const large = { metadata: { a: 'x'.repeat(17_000) } }
  await t.rejects(site.add(undefined, 'ada@x.test', large), { code: 'validation_error' })
})

t.test('a page is the newest first, and the next begins where it ended', async (t) => {
  const site = await open(t)
  const list = await site.list('A')
  const all: string[] = []
  for (let n = 0; n < 7; n++) {
    all.unshift(`c${n}@x.test`)
    await site.add(list, `c${n}@x.test`)
    await site.clock.advance(1)
  }
  const seen: string[] = []
  let cursor: string | undefined
  const sizes: number[] = []
  do {
    const page = await listMembers(site.read, site.account, list, { limit: 3, cursor })
    sizes.push(page.members.length)
    seen.push(...page.members.map((member) => member.email))
    cursor = page.nextCursor ?? undefined
    // Who comes meanwhile is before the first page, who goes does not shift the others.
    await site.add(list, `late${seen.length}@x.test`)
  } while (cursor !== undefined)
  t.same(seen, all)
  t.same(sizes, [3, 3, 1])
  t.same(await site.emails(list, { email: ' C3@X.test' }), ['c3@x.test'])
  t.same(await site.emails(list, { email: 'nobody@x.test' }), [])
  for (const cursor of ['', 'x', 'AaH8kpkVdTOClgpb59HC8', `${'A'.repeat(22)}A`, '=='])
    await t.rejects(
      listMembers(site.read, site.account, list, { limit: 3, cursor }),
      { code: 'validation_error' },
      cursor,
    )
})

t.test('a contact shows why it is not mailed, the strongest reason first', async (t) => {
  const site = await open(t)
  const list = await site.list('A')
  await site.add(list, 'Ada@x.test')
  const shown = async () =>
    (await listMembers(site.read, site.account, list, { limit: 1 })).members[0]
  t.match(await shown(), { suppressed: null, unsubscribedAt: null })
  const now = site.clock.now()
  for (const reason of ['unsubscribe', 'manual', 'bounce', 'complaint'] as const) {
    await site.store.write((tx) => suppress(tx, site.account, { email: 'ada@x.test', reason }, now))
    t.match(await shown(), { suppressed: reason, unsubscribedAt: now })
  }
})

t.test('off its last list a contact is deleted; suppression remains', async (t) => {
  const site = await open(t)
  const [a, b] = [await site.list('A'), await site.list('B')]
  const { contact } = await site.add(a, 'ada@x.test', { firstName: 'Ada' })
  await site.add(b, 'ada@x.test')
  await site.store.write((tx) =>
    suppress(tx, site.account, { email: 'ada@x.test', reason: 'unsubscribe' }, 5),
  )
  await removeFromList(site, site.account, a, contact.id)
  t.same(await site.counts(), { lists: [1, 0], contacts: 1 }, 'the newest first')
  for (const [list, id] of [
    [a, contact.id],
    [b, a],
  ] as const) {
    await t.rejects(removeFromList(site, site.account, list, id), { code: 'not_found' })
  }
  await t.rejects(removeFromList(site, site.stranger, b, contact.id), { code: 'not_found' })
  await removeFromList(site, site.account, b, contact.id)
  t.same(await site.counts(), { lists: [0, 0], contacts: 0 })
  const again = await site.add(b, 'ada@x.test')
  t.match(again.contact, { firstName: null, unsubscribedAt: 5 })
  t.not(again.contact.id, contact.id)
})

t.test('a list goes with those who are on no other, however long it is', async (t) => {
  const site = await open(t)
  const [a, b] = [await site.list('A'), await site.list('B')]
  await site.addMany(a, 450)
  await site.add(b, 'c7@x.test')
  await site.add(undefined, 'none@x.test')
  await t.rejects(deleteList(site, site.stranger, a), { code: 'not_found' })
  await deleteList(site, site.account, a)
  t.same(await site.counts(), { lists: [1], contacts: 2 })
  t.same(await site.emails(b), ['c7@x.test'])
  await t.rejects(deleteList(site, site.account, a), { code: 'not_found' })
})

t.test('a deletion that was cut short is finished later, and is not seen meanwhile', async (t) => {
  const site = await open(t)
  const list = await site.list('A')
  await site.addMany(list, 250)
  await site.store.write((tx) =>
    tx.updateTable('contact_lists').set({ deleted_at: 1 }).where('id', '=', list).execute(),
  )
  t.same(await listLists(site.read, site.account), [])
  await t.rejects(site.add(list, 'new@x.test'), { code: 'not_found' })
  const stopped = new AbortController()
  stopped.abort()
  await removeDeletedLists({ ...site, log: silentLog }, stopped.signal)
  t.same(await site.counts(), { lists: [], contacts: 250 }, 'not while it stops')
  let done = false
  const removal = removeDeletedLists(
    { ...site, log: silentLog },
    new AbortController().signal,
  ).finally(() => {
    done = true
  })
  while (!done) await site.clock.advance(20)
  await removal
  t.same(await site.counts(), { lists: [], contacts: 0 })
  t.same(await site.read.selectFrom('contact_lists').selectAll().execute(), [])
})

t.test('nobody passes the ceiling, however many come at once', async (t) => {
  const site = await open(t)
  const list = await site.list('A')
  const options = { listId: list, ceiling: 3 }
  const results = await Promise.all(
    Array.from({ length: 6 }, (_, n) =>
      addContact(site, site.account, { email: `c${n}@x.test` }, options).then(
        () => 'in',
        (error) => `${error.status} ${error.code}`,
      ),
    ),
  )
  t.same(results, [...Array(3).fill('in'), ...Array(3).fill('403 plan_limit_exceeded')])
  t.match(
    await addContact(site, site.account, { email: 'C1@x.test', firstName: 'Ada' }, options),
    { added: false, contact: { firstName: 'Ada' } },
    'who is there already takes no place',
  )
  t.same(await site.counts(), { lists: [3], contacts: 3 })
})

t.test('a deleted list that cannot be removed keeps no other', async (t) => {
  const site = await open(t)
  const [bad, other] = [await site.list('A'), await site.list('B')]
  await poison(site.store, 'delete on contact_lists', `old.id = '${bad}'`)
  await site.store.write((tx) => tx.updateTable('contact_lists').set({ deleted_at: 1 }).execute())
  await removeDeletedLists({ ...site, log: silentLog }, new AbortController().signal)
  const left = await site.read.selectFrom('contact_lists').select('id').execute()
  t.same(left, [{ id: bad }])
  t.ok(other)
})

t.test('many lists are read some at a time, in their order and each once', async (t) => {
  const { store, read, account } = await open(t)
  const rows = Array.from({ length: 1_203 }, (_, i) => ({
    id: store.ids.uuid(),
    account_id: account,
    name: `List ${i}`,
    // Many of one time.
    created_at: Math.floor(i / 400),
    deleted_at: i === 700 ? 1 : null,
  }))
  for (let i = 0; i < rows.length; i += 500) {
    await store.write((tx) =>
      tx
        .insertInto('contact_lists')
        .values(rows.slice(i, i + 500))
        .execute(),
    )
  }
  let turns = 0
  let ended = false
  const turn = () => {
    turns++
    if (!ended) setImmediate(turn)
  }
  setImmediate(turn)
  const lists = await listLists(read, account)
  ended = true
  t.same(
    lists.map(({ name }) => name),
    rows
      .filter(({ deleted_at }) => deleted_at === null)
      .map(({ name }) => name)
      .toReversed(),
  )
  t.ok(turns >= 2, 'others had their turn')
})

t.test('a list tells its days, and who is on no other list', async (t) => {
  const site = await open(t)
  const [a, b] = [await site.list('A'), await site.list('B')]
  await site.addMany(a, 30)
  for (let n = 0; n < 10; n++) await site.add(b, `c${n}@x.test`)
  t.same(await onlyOnList(site.read, a), { count: 20, of: undefined })
  t.same(await onlyOnList(site.read, b), { count: 0, of: undefined })
  await site.clock.advance(2 * 86_400_000)
  const { members } = await listMembers(site.read, site.account, a, { limit: 3 })
  for (const { id } of members) await removeFromList(site, site.account, a, id)
  const days = await listDays(site.read, a, { days: 4, now: site.clock.now() })
  t.same(
    days.map(({ joined, gone }) => [joined, gone]),
    [
      [0, 0],
      [30, 0],
      [0, 0],
      [0, 3],
    ],
  )
  await deleteList(site, site.account, a)
  t.same(
    await onlyOnList(site.read, b),
    { count: 10, of: undefined },
    'a deleted list holds nobody',
  )
  t.same(await site.read.selectFrom('list_days').selectAll().where('list_id', '=', a).execute(), [])
})
