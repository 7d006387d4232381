// Issue 46: contacts of one account are imported, added, changed and deleted at several nodes at once.
import t, { type Test } from 'tap'
import { createAccount } from '../../src/accounts/index.js'
import { systemClock as clock } from '../../src/clock/index.js'
import {
  addContact,
  type ContactList,
  createList,
  deleteContact,
  findContacts,
  importContacts,
  putOnList,
  takeOffList,
} from '../../src/contacts/index.js'
import { ApiError } from '../../src/errors/index.js'
import { makeTurns, openStore } from '../../src/store/index.js'
import { databaseOf, noPostgres, startPostgres } from '../support/postgres.js'
import { makeTempDir } from '../support/store.js'

/** Stores over one server, as threads of several nodes have them, an account, and lists. */
async function open(t: Test, lists: readonly string[]) {
  const server = await startPostgres(t)
  const dataDir = makeTempDir(t)
  const url = await databaseOf(dataDir, server.url)
  const openOne = async (slot: number) => {
    const store = await openStore({ dataDir, url, clock, turns: makeTurns(), slot })
    t.teardown(() => store.close())
    return store
  }
  const stores = []
  for (let slot = 0; slot < 5; slot++) stores.push(await openOne(slot))
  const [store = fault()] = stores
  const { id: account } = await createAccount({ store, clock }, 'One')
  const made: ContactList[] = []
  for (const name of lists) made.push(await createList({ store, clock }, account, name))
  const countIn = async (table: 'contacts' | 'list_members', where: [string, string]) => {
    const { n } = await store.read
      .selectFrom(table)
      .select(({ fn }) => fn.countAll<number>().as('n'))
      .where(where[0] as never, '=', where[1] as never)
      .executeTakeFirstOrThrow()
    return n
  }
  return {
    stores,
    account,
    lists: made.map(({ id }) => id),
    /** Compares each counter with the rows; resolves with how many contacts there are. */
    async count(t: Test): Promise<number> {
      const there = await countIn('contacts', ['account_id', account])
      const [total] = await store.read.selectFrom('contact_totals').select('contacts').execute()
      t.equal(total?.contacts, there, 'the total is right')
      for (const { id, name } of made) {
        const [list] = await store.read
          .selectFrom('contact_lists')
          .leftJoin('list_days', 'list_id', 'id')
          .select(['contact_count', 'joined', 'gone'])
          .where('id', '=', id)
          .execute()
        const members = await countIn('list_members', ['list_id', id])
        t.equal(list?.contact_count, members, `the count of list ${name} is right`)
        t.equal((list?.joined ?? 0) - (list?.gone ?? 0), members, `and that of its day`)
      }
      return there
    },
  }
}

function fault(): never {
  throw new Error('There are fewer stores')
}

async function* fileOf(from: number, to: number) {
  yield Buffer.from('email,firstName\n')
  for (let n = from; n < to; n++) yield Buffer.from(`r${n}@x.test,Ann\n`)
}

t.test(
  'everything that is done at once is done, and counted',
  {
    skip: noPostgres ?? false,
  },
  async (t) => {
    const { stores, account, lists, count } = await open(t, ['A', 'B'])
    const [a = '', b = ''] = lists
    const [one = fault(), two = fault(), ...others] = stores.map((store) => ({ store, clock }))
    const read = (n: number, listId: string, from: number) =>
      importContacts(others[n] ?? fault(), account, fileOf(from, from + 1_000), {
        listId,
        ceiling: null,
        defaultCountry: 'NG',
        file: 'a.csv',
      })
    let isOver = false
    const imports = Promise.all([read(0, a, 0), read(1, a, 500), read(2, b, 0)]).finally(() => {
      isOver = true
    })
    const repeat = async (work: (n: number) => Promise<unknown>) => {
      let n = 0
      while (!isOver) await work(n++)
      return n
    }
    const some = async (listId: string) => {
      const { members } = await findContacts(
        one.store.read,
        account,
        { listId },
        { limit: 5, defaultCountry: 'NG' },
      )
      return { listId, ids: members.map(({ id }) => id) }
    }
    const [[first, second, third], added, , deleted] = await Promise.all([
      imports,
      repeat((n) => addContact(two, account, { email: `s${n}@x.test` }, { listId: b })),
      // People of the files, who come again with a later row, or stay away.
      repeat(async () => {
        const { ids } = await some(a)
        await putOnList(two, account, { listId: b, ids }, { by: 'api' })
        await takeOffList(one, account, b, ids)
      }),
      repeat(async (n) => {
        await addContact(one, account, { email: `gone${n}@x.test` }, { listId: a })
        await deleteContact(two, account, `gone${n}@x.test`)
      }),
    ])
    t.comment(`${added} were added one by one, and ${deleted} added and deleted, meanwhile`)
    t.ok(added > 0 && deleted > 0)
    t.equal(first.imported + second.imported, 1_500)
    t.equal(first.skipped + second.skipped, 500)
    t.equal(third.imported + third.skipped, 1_000)
    t.equal(await count(t), 1_500 + added)
  },
)

t.test(
  'imports at several nodes do not pass the ceiling',
  { skip: noPostgres ?? false },
  async (t) => {
    const { stores, account, lists, count } = await open(t, ['A', 'B', 'C'])
    const ends = await Promise.all(
      stores.slice(2).map(async (store, n) => {
        const options = {
          listId: lists[n] ?? '',
          ceiling: 700,
          defaultCountry: 'NG',
          file: 'a.csv',
        }
        const file = fileOf(n * 400, n * 400 + 400)
        try {
          return await importContacts({ store, clock }, account, file, options)
        } catch (error) {
          if (!(error instanceof ApiError)) throw error
          t.equal(error.code, 'plan_limit_exceeded')
          return error.fields as { imported: number }
        }
      }),
    )
    t.equal(
      ends.reduce((sum, { imported }) => sum + imported, 0),
      700,
    )
    t.equal(await count(t), 700)
  },
)

t.test('who waits for a turn holds up nobody else', { skip: noPostgres ?? false }, async (t) => {
  const { stores, account } = await open(t, [])
  const [one = fault(), two = fault()] = stores
  let letGo = () => {}
  const isHeld = new Promise<void>((resolve) => {
    letGo = resolve
  })
  const said: string[] = []
  const say = (what: string) => async () => void said.push(what)
  const begun = new Promise<void>((resolve) => {
    // Like a node that is stopped in the middle.
    void one.write(async () => {
      resolve()
      await isHeld
    }, account)
  })
  await begun
  const others = [1, 2].map((n) => two.write(say(`in turn ${n}`), account))
  await two.write(say('another write'))
  await two.byRow(say('by row'))
  t.same(said, ['another write', 'by row'])
  letGo()
  await Promise.all(others)
  t.same(said.slice(2), ['in turn 1', 'in turn 2'])
})
