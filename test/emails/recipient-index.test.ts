// Mails are found by their recipients at once, and among millions: entries are filled in behind.
import { createHash } from 'node:crypto'
import type { Insertable } from 'kysely'
import t, { type Test } from 'tap'
import { type EmailFilter, listEmails } from '../../src/emails/index.js'
import { enteredFor, enterIfLate, enterNext } from '../../src/emails/recipient-index.js'
import { type EmailRow, firstUuidAt, type Store } from '../../src/store/index.js'
import { FakeClock } from '../support/clock.js'
import { openTestStore } from '../support/store.js'

const minute = 60_000
const day = 1_440 * minute
const accountId = '01a1fc92-0000-7000-8000-000000000001'

type Row = Insertable<EmailRow> & { to_list: string; extras: string | null }

async function open(t: Test) {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  const row = (
    to: string[],
    more: { account_id?: string; extras?: string; message_id?: string } = {},
  ): Row => {
    const id = store.ids.uuid()
    return {
      id,
      account_id: accountId,
      domain_id: 'd',
      body_id: null,
      to_list: JSON.stringify(to),
      from_header: 'a@sender.test',
      reply_to: null,
      subject: 's',
      type: 'transactional',
      topic_id: null,
      metadata: null,
      status: 'delivered',
      message_id: `<${id}@x.test>`,
      provider: 'primary',
      waiting: 0,
      delivered: 1,
      bounced: 0,
      failed: 0,
      extras: null,
      opened_at: null,
      clicked_at: null,
      scheduled_at: null,
      sent_at: null,
      created_at: clock.now(),
      ...more,
    }
  }
  const insert = (one: ReturnType<typeof row>) =>
    store.write((tx) => tx.insertInto('emails').values(one).execute())
  return {
    clock,
    store,
    row,
    insert,
    async add(...given: Parameters<typeof row>): Promise<string> {
      const one = row(...given)
      await insert(one)
      return one.id
    },
    async find(to: string, limit = 100): Promise<string[]> {
      const { emails } = await listEmails(store.read, accountId, { to }, { limit })
      return emails.map(({ id }) => id)
    },
    async enterAll(): Promise<void> {
      while ((await enterNext({ store, clock })) > 0);
    },
  }
}

const entries = async (store: Store) =>
  await store.read.selectFrom('recipient_entries').selectAll().execute()

t.test('a mail is found before it is entered, and after', async (t) => {
  const { clock, store, add, find, enterAll } = await open(t)
  const ids: string[] = []
  for (let i = 0; i < 30; i++) {
    ids.unshift(await add([`R <r@one.test>`, `n${i}@one.test`]))
    await add(['else@one.test'])
    await add(['r@one.test'], { account_id: '01a1fc92-0000-7000-8000-000000000002' })
    await clock.advance(day / 3)
    if (i === 20) await enterAll()
    t.same(await find('r@one.test'), ids, `after ${i}`)
  }
  const extras = JSON.stringify({ cc: ['C <c@two.test>'], bcc: ['b@two.test', 'n0@one.test'] })
  ids.unshift(await add(['r@one.test', 'r@one.test'], { extras }))
  t.same(await find('b@two.test'), ids.slice(0, 1))
  await clock.advance(2 * minute)
  await enterAll()
  t.same(await find('r@one.test'), ids)
  t.same(await find('c@two.test'), ids.slice(0, 1))
  t.same(await find('b@two.test'), ids.slice(0, 1))
  t.same(await find('n0@one.test'), [ids[0], ids.at(-1)])
  t.same(await find('nobody@one.test'), [])
  t.equal((await entries(store)).length, 30 * 4 + 4)
})

t.test('capitals make no difference, whoever wrote them, before and after', async (t) => {
  const { clock, store, add, find, enterAll } = await open(t)
  const ids = [await add(['Ann <Ann@one.test>']), await add(['ann@one.test'])].reverse()
  const older = await add(['old@one.test'])
  const everybody = async () => [await find('ann@one.test'), await find('ANN@one.test')]
  t.same(await everybody(), [ids, ids])
  await clock.advance(2 * minute)
  await enterAll()
  t.same(await everybody(), [ids, ids])
  // As it was entered by an older version, for `Old@one.test`.
  const keyOf = (address: string) =>
    createHash('sha256').update(`${accountId} ${address}`).digest().readUIntBE(0, 6)
  await store.write(async (tx) => {
    const key = keyOf('Old@one.test')
    await tx.updateTable('recipient_entries').set({ key }).where('email_id', '=', older).execute()
    const to = JSON.stringify(['Old@one.test'])
    await tx.updateTable('emails').set({ to_list: to }).where('id', '=', older).execute()
  })
  t.same(await find('Old@one.test'), [older])
})

t.test('a mail is found by the Message-ID that a program gave it', async (t) => {
  const { clock, store, add, enterAll } = await open(t)
  const messageId = '<Order.4711@shop.test>'
  const id = await add(['r@one.test'], { message_id: messageId })
  const twin = await add(['r@one.test'], { message_id: '<order.4711@shop.test>' })
  const own = await add(['r@one.test'])
  const find = async (filter: EmailFilter) => {
    const { emails } = await listEmails(store.read, accountId, filter, { limit: 10 })
    return emails.map((email) => email.id)
  }
  const look = async (when: string) => {
    t.same(await find({ messageId }), [id], when)
    t.same(await find({ messageId: '<order.4711@shop.test>' }), [twin], when)
    t.same(await find({ messageId: `<${own}@x.test>` }), [own], when)
    t.same(await find({ messageId: `<${own}@y.test>` }), [], when)
    t.same(await find({ messageId, to: 'else@one.test' }), [], when)
  }
  await look('before it is entered')
  await clock.advance(2 * minute)
  await enterAll()
  await look('after')
  t.equal((await entries(store)).length, 5, 'one of our own making is found by its id')
})

t.test('what is entered is found without a look at other mails, page by page', async (t) => {
  const { clock, store, add, enterAll } = await open(t)
  const ids: string[] = []
  for (let i = 0; i < 900; i++) {
    const id = await add([i % 90 === 0 ? 'r@one.test' : `x${i}@one.test`])
    if (i % 90 === 0) ids.unshift(id)
    await clock.advance(minute)
  }
  await clock.advance(2 * minute)
  await enterAll()
  const filter = { to: 'r@one.test' }
  // One look, of 200 mails at most, finds all ten among the 900.
  const whole = await listEmails(store.read, accountId, filter, { limit: 100, most: 1 })
  t.same(
    whole.emails.map(({ id }) => id),
    ids,
  )
  t.equal(whole.next, undefined)
  const seen: string[] = []
  for (let before: string | undefined; ; ) {
    const page = await listEmails(store.read, accountId, filter, { limit: 3, before })
    seen.push(...page.emails.map(({ id }) => id))
    before = page.next
    if (before === undefined) break
  }
  t.same(seen, ids)
})

t.test('to enter mails again changes nothing, and those of the last minute wait', async (t) => {
  const { clock, store, add, find, enterAll } = await open(t)
  const first = await add(['r@one.test'])
  await enterAll()
  t.same(await entries(store), [], 'a write may still be under way')
  await clock.advance(2 * minute)
  await enterAll()
  const once = await entries(store)
  t.equal(once.length, 1)
  // As after a restore of an older database.
  await store.write((tx) => tx.updateTable('recipient_index').set({ through: '' }).execute())
  await enterAll()
  t.same(await entries(store), once)
  t.same(await find('r@one.test'), [first])
})

t.test('a mail that is committed late is entered with it', async (t) => {
  const { clock, store, row, add, find, enterAll } = await open(t)
  const late = row(['late@one.test'])
  await clock.advance(5 * minute)
  const next = await add(['r@one.test'])
  await clock.advance(5 * minute)
  await enterAll()
  await store.write(async (tx) => {
    await tx.insertInto('emails').values(late).execute()
    await enterIfLate(tx, clock, [{ row: late }])
  })
  t.same(await find('late@one.test'), [late.id])
  await enterAll()
  t.same(await find('r@one.test'), [next])
  const fresh = row(['fresh@one.test'])
  await store.write((tx) => enterIfLate(tx, clock, [{ row: fresh }]))
  t.equal((await entries(store)).length, 2, 'one that is not late costs nothing')
})

t.test('a damaged mail keeps no others from being entered', async (t) => {
  const { clock, add, find, enterAll, store } = await open(t)
  const broken = await add(['r@one.test'])
  await store.write((tx) =>
    tx.updateTable('emails').set({ to_list: '[' }).where('id', '=', broken).execute(),
  )
  await add(['r@one.test'], { extras: '{"cc":5}' })
  const good = await add(['r@one.test'])
  await clock.advance(2 * minute)
  await enterAll()
  t.match(await find('r@one.test'), [good])
  const page = { since: '0', until: 'g', limit: 5 }
  t.same(await enteredFor(store.read, { accountId, address: 'x@one.test' }, page), [])
})

t.test('a mail that comes after a clock was set back is found as the others are', async (t) => {
  const { clock, store, add, row, find, enterAll } = await open(t)
  await add(['ann@one.test'])
  await clock.advance(2 * minute)
  await enterAll()
  clock.setBack(2 * day)
  // As after a restart: the id is behind all that are entered.
  const late = { ...row(['bob@one.test']), id: firstUuidAt(clock.now()) }
  await store.write(async (tx) => {
    await tx.insertInto('emails').values(late).execute()
    await enterIfLate(tx, clock, [
      { row: late as Parameters<typeof enterIfLate>[2][number]['row'] },
    ])
  })
  t.same(await find('bob@one.test'), [late.id])
})
