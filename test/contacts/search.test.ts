// Contacts of all lists: found by how address, name or number begins, a page at a time, by searches of indexes.
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { createAccount } from '../../src/accounts/index.js'
import { systemClock } from '../../src/clock/index.js'
import {
  addContact,
  type ContactState,
  changeContact,
  contactsAmong,
  createList,
  findByPhone,
  findContacts,
  listsOfContacts,
  requireContact,
} from '../../src/contacts/index.js'
import { silentLog } from '../../src/log/index.js'
import { createSegment, keepSegments } from '../../src/segments/index.js'
import { suppress } from '../../src/suppression/index.js'
import { FakeClock } from '../support/clock.js'
import { aboutSqlite } from '../support/postgres.js'
import { makeTempDir, openTestStore } from '../support/store.js'

const statements = new Set<string>()
const { prototype } = Database
const prepare = prototype.prepare as (source: string) => Database.Statement
prototype.prepare = function (this: Database.Database, source: string) {
  statements.add(source)
  return prepare.call(this, source)
} as typeof prototype.prepare

interface Search {
  email?: string
  q?: string
  listId?: string
  segmentId?: string
  newest?: boolean
  state?: ContactState
}

async function open(t: Test) {
  const clock = new FakeClock()
  const dataDir = makeTempDir(t)
  const store = await openTestStore(t, { clock, dataDir })
  const deps = { store, clock }
  const { id: account } = await createAccount(deps, 'One')
  const { id: stranger } = await createAccount(deps, 'Two')
  return {
    ...deps,
    dataDir,
    account,
    add: async (email: string, more: object = {}, listId?: string, owner = account) =>
      (await addContact(deps, owner, { email, ...more }, { listId })).contact,
    list: async (name: string) => (await createList(deps, account, name)).id,
    block: (email: string, reason: 'unsubscribe' | 'bounce' | 'manual') =>
      store.write((tx) => suppress(tx, account, { email, reason }, clock.now())),
    stranger,
    /** The addresses of each page. */
    pages: async (search: Search, limit = 100): Promise<string[][]> => {
      const pages: string[][] = []
      let cursor: string | undefined
      do {
        const options = { limit, cursor, defaultCountry: 'NG' }
        const page = await findContacts(store.read, account, search, options)
        pages.push(page.members.map(({ email }) => email))
        cursor = page.nextCursor ?? undefined
      } while (cursor !== undefined)
      return pages
    },
  }
}

t.test('by how address, name, last name or number begins; nobody twice', async (t) => {
  const { add, pages, stranger, store, account } = await open(t)
  const ann = await add('ann@x.test', {
    firstName: 'Ann',
    lastName: 'Obi',
    phone: '+2348031234567',
  })
  await add('z.anna@x.test', { firstName: 'ANNA' })
  await add('obi@x.test', { lastName: 'Émile' })
  await add('other@x.test', { firstName: 'Ann', lastName: 'Zed' }, undefined, stranger)
  const found = async (q: string) => (await pages({ q })).flat()
  t.same(await found('ann'), ['ann@x.test', 'z.anna@x.test'])
  t.same(await found('Ann o'), ['ann@x.test'], 'first and last name')
  t.same(await found('OBI'), ['obi@x.test', 'ann@x.test'], 'address first, then last name')
  t.same(await found('émi'), ['obi@x.test'], 'letters beyond ASCII in any case')
  t.same(await found('ann@'), ['ann@x.test'])
  for (const number of ['0803 123', '+234803', '00234803', '08031234567', '2348031']) {
    t.same(await found(number), ['ann@x.test'], number)
  }
  for (const none of ['nn', '%', '_', "'", '0804', '\u{10FFFF}'])
    t.same(await found(none), [], none)
  t.same((await pages({ email: ' ANN@x.test ' })).flat(), ['ann@x.test'])
  t.same((await pages({})).flat(), ['ann@x.test', 'obi@x.test', 'z.anna@x.test'], 'by address')

  await changeContact({ store, clock: systemClock }, account, ann.id, {
    firstName: '',
    lastName: 'Bello',
  })
  t.same(await found('bel'), ['ann@x.test'], 'by the new name')
  t.same(await found('obi'), ['obi@x.test'])
  await t.rejects(
    changeContact({ store, clock: systemClock }, stranger, ann.id, { firstName: 'X' }),
    {
      code: 'not_found',
    },
  )
})

t.test('pages by keys have everybody once, also those of the same name', async (t) => {
  const { add, pages, list, block, store, account, clock } = await open(t)
  const readers = await list('Readers')
  for (let n = 10; n < 35; n++) {
    await add(`p${n}@x.test`, { firstName: n % 2 ? 'Pat' : 'Sam' }, n < 30 ? readers : undefined)
  }
  for (const n of [11, 12, 33]) await block(`p${n}@x.test`, 'unsubscribe')
  await block('p11@x.test', 'bounce')
  await block('nobody@x.test', 'unsubscribe')
  const all = Array.from({ length: 25 }, (_, n) => `p${n + 10}@x.test`)
  for (const search of [{}, { q: 'p' }]) {
    const got = await pages(search, 10)
    t.same([...got.flat()].sort(), all)
    t.same(got[0]?.length, 10)
  }
  t.equal((await pages({ q: 'sam' }, 5)).flat().length, 13)
  const onList = await pages({ listId: readers }, 7)
  t.same(
    onList.map(({ length }) => length),
    [7, 7, 6],
  )
  t.equal(onList[0]?.[0], 'p29@x.test', 'newest first')
  const newest = await pages({ newest: true }, 7)
  t.same(newest.flat(), all.toReversed(), 'all of them, newest first')
  const rule = { field: 'contact.firstName', operator: 'eq', value: 'Pat' } as const
  const { id: segmentId } = await createSegment({ store, clock }, account, { name: 'Pats', rule })
  await keepSegments({ store, clock, log: silentLog }, new AbortController().signal)
  const pats = all.filter((_, n) => n % 2 === 1).toReversed()
  t.same((await pages({ segmentId }, 4)).flat(), pats, 'who is in a segment')
  t.same((await pages({ segmentId, q: 'p1', state: 'mailable' })).flat(), [
    'p13@x.test',
    'p15@x.test',
    'p17@x.test',
    'p19@x.test',
  ])
  await t.rejects(pages({ segmentId: account }), { code: 'not_found' })
  t.same((await pages({ state: 'unsubscribed' }, 2)).flat(), [
    'p11@x.test',
    'p12@x.test',
    'p33@x.test',
  ])
  t.same((await pages({ state: 'bounced' })).flat(), ['p11@x.test'])
  t.same((await pages({ state: 'suppressed' })).flat(), [])
  t.equal((await pages({ state: 'mailable' }, 10)).flat().length, 22)
  t.same((await pages({ state: 'unsubscribed', listId: readers, q: 'p1' })).flat(), [
    'p11@x.test',
    'p12@x.test',
  ])
  const [first = ''] = (await store.read.selectFrom('contacts').select('id').execute()).map(
    ({ id }) => id,
  )
  t.match((await listsOfContacts(store.read, [first])).get(first), [{ name: 'Readers' }])
})

t.test('on whichever shelves they are, all are found once', async (t) => {
  const { add, pages, store, account } = await open(t)
  const emails: string[] = []
  // So many contacts decide on which shelf the next one is put.
  for (const [n, contacts] of [4_000, 4_096, 4_097, 30_000, 100].entries()) {
    const names = { firstName: 'Ann', lastName: `Obi ${9 - n}` }
    emails.push((await add(`p${n}@x.test`, { ...names, phone: '+2348031234567' })).email)
    await store.write((tx) =>
      tx
        .updateTable('contact_totals')
        .set({ contacts })
        .where('account_id', '=', account)
        .execute(),
    )
  }
  const shelves = await store.read.selectFrom('contacts').select('shelf').orderBy('id').execute()
  t.same(
    shelves.map(({ shelf }) => shelf),
    [0, 0, 1, 1, 7],
  )
  for (const q of ['ann', 'ann obi', 'obi', '0803']) {
    for (const limit of [1, 2, 3, 100]) {
      t.same((await pages({ q }, limit)).flat().sort(), emails, `${q}, ${limit} a page`)
    }
  }
  await add('last@x.test', { phone: '+2348031234567' })
  t.match(await findByPhone(store.read, account, '08031234567', 'NG'), { email: 'last@x.test' })
})

t.test('where few fit a page ends early, and the next one goes on', async (t) => {
  const { pages, list, store, account, add } = await open(t)
  const rare = await list('Rare')
  await store.write(async (tx) => {
    for (let n = 0; n < 1_300; n++) {
      await tx
        .insertInto('contacts')
        .values({
          id: `00000000-0000-7000-8000-${String(n).padStart(12, '0')}`,
          account_id: account,
          address: `a${String(n).padStart(5, '0')}@x.test`,
          email: `a${String(n).padStart(5, '0')}@x.test`,
          first_name: null,
          last_name: null,
          name_key: null,
          last_name_key: null,
          phone: null,
          metadata: null,
          created_at: 1,
        })
        .execute()
    }
  })
  await add('azz@x.test', {}, rare)
  t.same(await pages({ q: 'a', listId: rare }, 10), [[], ['azz@x.test']])
})

t.test('every statement of a search is a search of an index', aboutSqlite, async (t) => {
  const { pages, list, dataDir, add, block, store, account } = await open(t)
  const listId = await list('Readers')
  const ids: string[] = []
  for (const email of ['ann@x.test', 'anna@x.test']) {
    const fields = { firstName: 'Ann', lastName: 'Obi', phone: '+2348031234567' }
    ids.push((await add(email, fields, listId)).id)
    await block(email, 'manual')
  }
  statements.clear()
  for (const q of [undefined, 'ann', '0803']) {
    for (const more of [{}, { listId }, { state: 'suppressed' as const }]) {
      await pages({ ...(q !== undefined && { q }), ...more }, 1)
    }
  }
  await pages({ email: 'ann@x.test' })
  const [{ id } = { id: '' }] = await contactsAmong(store.read, account, ids)
  await requireContact(store.read, account, id)
  await listsOfContacts(store.read, [id])
  const db = new Database(`${dataDir}/posthorn.db`, { readonly: true })
  t.teardown(() => db.close())
  const asked = [...statements].filter((text) =>
    /from "(contacts|suppressions|list_members)"/.test(text),
  )
  t.ok(asked.length >= 10, `${asked.length} statements`)
  for (const text of asked) {
    const values = text
      .split('?')
      .slice(1)
      .map(() => '[]')
    const plan = (
      prepare.call(db, `explain query plan ${text}`).all(...values) as { detail: string }[]
    )
      .map(({ detail }) => detail)
      .filter((detail) => !/json_each|^LIST SUBQUERY|REUSE LIST|CREATE BLOOM/.test(detail))
    for (const detail of plan) {
      t.match(detail, /^SEARCH |USE TEMP B-TREE FOR LAST TERM/, `${detail}: ${text}`)
    }
  }
})
