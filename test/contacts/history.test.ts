import { Readable } from 'node:stream'
import t, { type Test } from 'tap'
import { createAccount } from '../../src/accounts/index.js'
import {
  addContact,
  contactHistory,
  createList,
  deleteList,
  exportContacts,
  findContact,
  importContacts,
  removeFromList,
} from '../../src/contacts/index.js'
import { silentLog } from '../../src/log/index.js'
import { lift, liftExpired, suppress } from '../../src/suppression/index.js'
import { optIn, optOut } from '../../src/topics/index.js'
import { FakeClock } from '../support/clock.js'
import { openTestStore } from '../support/store.js'

async function open(t: Test) {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  const deps = { store, clock }
  const { id: account } = await createAccount(deps, 'One')
  const { id: stranger } = await createAccount(deps, 'Two')
  const { id: listId } = await createList(deps, account, 'Readers')
  return {
    ...deps,
    account,
    stranger,
    listId,
    import: (text: string, file: string, list = listId, owner = account) => {
      const options = { listId: list, ceiling: null, file, defaultCountry: 'NG' }
      return importContacts(deps, owner, Readable.from([Buffer.from(text)]), options)
    },
    /** Kinds and details, after which a second passes. */
    history: async (email: string, owner = account) => {
      const events = await contactHistory(store.read, owner, email)
      await clock.advance(1_000)
      return events.map(({ kind, detail }) => [kind, detail])
    },
    export: async (list?: string, owner = account) => {
      let csv = ''
      for await (const lines of exportContacts(store.read, owner, list)) csv += lines
      return csv
    },
  }
}

t.test('everything that happens to an address is recorded, and outlives the contact', async (t) => {
  const site = await open(t)
  const { account, listId, clock, store } = site
  const other = (await createList(site, account, 'Others')).id
  const emailId = '019a9b10-3333-7000-8000-00000000ef02'
  const topicId = '019a9b10-2222-7000-8000-00000000ef01'
  const email = 'Ada@x.test'
  const known: unknown[] = []
  const expect = async (...more: unknown[]) => {
    known.push(...more)
    t.same(await site.history('ADA@x.test'), known)
  }
  await site.import('email\nbob@x.test\nAda@x.test\n', 'readers.csv')
  await expect(['imported', { listId, file: 'readers.csv', line: 3 }])
  await site.import('email\nada@x.test\n', 'again.csv')
  await expect()
  await addContact(site, account, { email, firstName: 'Ada' }, { listId })
  await expect()
  await addContact(site, account, { email }, { listId: other })
  await expect(['added', { by: 'api', listId: other }])

  const inTx = (work: Parameters<typeof store.write>[0]) => store.write(work)
  await inTx((tx) => optOut(tx, account, { topicId, address: email, emailId }, clock.now()))
  await expect(['left_topic', { topicId, emailId }])
  await inTx((tx) => optOut(tx, account, { topicId, address: 'ada@x.test' }, clock.now()))
  await expect()
  const gone = { email, reason: 'unsubscribe', emailId, detail: 'One-click' } as const
  await inTx((tx) => suppress(tx, account, gone, clock.now()))
  await expect(['unsubscribed', { emailId, note: 'One-click' }])
  await inTx((tx) => suppress(tx, account, gone, clock.now()))
  await expect()
  await inTx((tx) => optIn(tx, account, { topicId, address: email }, clock.now()))
  await inTx((tx) => lift(tx, account, email, { by: 'recipient', at: clock.now() }))
  await inTx((tx) => lift(tx, account, email, { by: 'operator', at: clock.now() }))
  await expect(
    ['returned_to_topic', { topicId, by: 'recipient' }],
    ['lifted', { by: 'recipient', reasons: ['unsubscribe'] }],
  )
  const bounce = { email, reason: 'bounce', expiresAt: clock.now() + 5_000 } as const
  await inTx((tx) => suppress(tx, account, bounce, clock.now()))
  await clock.advance(5_000)
  await liftExpired({ ...site, log: silentLog }, new AbortController().signal)
  await liftExpired({ ...site, log: silentLog }, new AbortController().signal)
  await expect(['bounced', {}], ['lifted', { by: 'time', reasons: ['bounce'] }])

  const { contact } = await addContact(site, account, { email })
  await removeFromList(site, account, other, contact.id)
  await deleteList(site, account, listId)
  await expect()
  t.equal(await store.read.selectFrom('contacts').selectAll().executeTakeFirst(), undefined)
  t.same(await site.history('bob@x.test'), [['imported', { listId, file: 'readers.csv', line: 2 }]])
  t.same(await site.history('ada@x.test', site.stranger), [])
})

t.test('who is known already came in by an import too', async (t) => {
  const site = await open(t)
  const { account, listId } = site
  await addContact(site, account, { email: 'ada@x.test' }, { by: 'command' })
  await site.history('ada@x.test')
  await site.import('email\nada@x.test\n', 'a.csv')
  t.same(await site.history('ada@x.test'), [
    ['added', { by: 'command' }],
    ['imported', { listId, file: 'a.csv', line: 2 }],
  ])
  const [contact] = await site.store.read.selectFrom('contacts').select('id').execute()
  await removeFromList(site, account, listId, contact?.id ?? '')
  await site.import('email\nada@x.test\n', 'b.csv')
  t.same(
    (await site.history('ada@x.test')).map(([, detail]) => detail),
    [{ by: 'command' }, { listId, file: 'a.csv', line: 2 }, { listId, file: 'b.csv', line: 2 }],
  )
})

t.test('an export is what an import takes back', async (t) => {
  const site = await open(t)
  const { account, stranger, listId } = site
  const list = { listId }
  await site.import(
    'email,firstName,lastName,phone,Town,note\n' +
      'ada@x.test,"Ada ""A""",Obi,08031234567,"Lagos; Ikeja",\n' +
      'bob@x.test,Bob,,call me,,"two\nlines"\n',
    'a.csv',
  )
  const metadata = JSON.parse(
    '{"Email":"x","n":[1],"off":false,"none":null,"":" ","odd":"\uFFFD\\u0000","__proto__":{"a":1}}',
  )
  await addContact(site, account, { email: 'c@x.test', metadata }, list)
  await addContact(site, account, { email: 'off@x.test' })
  await site.store.write((tx) =>
    suppress(tx, account, { email: 'ada@x.test', reason: 'unsubscribe' }, 0),
  )
  const all = await site.export()
  const created = new Date(site.clock.now()).toISOString()
  t.equal(
    all,
    [
      'email,firstName,lastName,phone,unsubscribedAt,createdAt,metadata',
      `ada@x.test,"Ada ""A""",Obi,"'+2348031234567",1970-01-01T00:00:00.000Z,${created},"{""Town"":""Lagos; Ikeja""}"`,
      `bob@x.test,Bob,,,,${created},"{""note"":""two\\nlines"",""phone"":""call me""}"`,
      `c@x.test,,,,,${created},"{""Email"":""x"",""n"":[1],""off"":false,""none"":null,"""":"" "",""odd"":""\uFFFD\\u0000"",""__proto__"":{""a"":1}}"`,
      `off@x.test,,,,,${created},`,
      '',
    ].join('\r\n'),
  )
  t.equal((await site.export(listId)).split('\r\n').length, 5, 'three, a header and the end')
  await t.rejects(site.export('nonsense'), { code: 'not_found' })
  t.comment('elsewhere: who left stays away there too')
  const { id } = await createList(site, stranger, 'Again')
  const counts = { imported: 4, skipped: 0, invalid: 0, refused: [], suppressed: 1 }
  t.match(await site.import(all, 'all.csv', id, stranger), counts)
  t.equal(await site.export(undefined, stranger), all)
  t.same(
    Object.entries((await findContact(site.store.read, stranger, 'c@x.test'))?.metadata ?? {}),
    Object.entries(metadata),
  )
  const many = Array.from({ length: 1_100 }, (_, n) => `m${n}@x.test\n`).join('')
  await site.import(`email\n${many}`, 'many.csv')
  t.equal((await site.export()).split('\r\n').length, 1 + 4 + 1_100 + 1)
  t.equal((await site.export(listId)).split('\r\n').length, 1 + 3 + 1_100 + 1)
})
