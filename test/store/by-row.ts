// What `byRow` promises, and the works of the appliance that stand on it: part of engines.test.ts.
import type { Test } from 'tap'
import { loadConfig } from '../../src/config/index.js'
import {
  type Claimed,
  claim,
  depthUpTo,
  type Settlement,
  settle,
} from '../../src/deliveries/index.js'
import { makeLandEvents } from '../../src/events/index.js'
import { makeProtection } from '../../src/protection/index.js'
import type { Store } from '../../src/store/index.js'

const accountId = 'x'
const stream = { lane: 'one.test', class: 0 as const, accountId }
const now = 1_000_000
const land = makeLandEvents([makeProtection(loadConfig({ env: {} }).protection)])

/** Mails of two recipients each, all of them due. */
async function fill({ write }: Store, mails: number): Promise<void> {
  await write(async (tx) => {
    await tx.insertInto('accounts').values({ id: accountId, name: 'X', created_at: 0 }).execute()
    const counts = { waiting: 2, delivered: 0, bounced: 0, failed: 0 }
    const texts = { from_header: 'x@x.test', to_list: '[]', subject: '', message_id: 'm' }
    const kind = { type: 'transactional', status: 'queued', provider: 'primary' } as const
    for (let n = 0; n < mails; n++) {
      const ids = { id: `m${n}`, account_id: accountId, domain_id: 'd', created_at: 0 }
      await tx
        .insertInto('emails')
        .values({ ...ids, ...texts, ...kind, ...counts })
        .execute()
      for (const of of [0, 1]) {
        const delivery = { id: 2 * n + of + 1, email_id: `m${n}`, account_id: accountId }
        const times = { due_at: n, expires_at: 10 * now, attempts: 0 }
        await tx
          .insertInto('queue')
          .values({
            ...delivery,
            ...times,
            recipient: `r${n}-${of}@one.test`,
            lane: 'one.test',
            class: 0,
          })
          .execute()
      }
    }
  })
}

const delivered = ({ id, emailId, recipient }: Claimed): Settlement => ({
  kind: 'delivered',
  id,
  emailId,
  accountId,
  class: 0,
  recipient,
  startedAt: now,
  attempts: 1,
  reply: '250 ok',
  remote: null,
  tls: null,
  transcript: '',
})

export async function byRowPromises(
  t: Test,
  openTwo: (t: Test) => Promise<[Store, Store]>,
): Promise<void> {
  await t.test('two threads that claim at once take nothing twice', async (t) => {
    const stores = await openTwo(t)
    await fill(stores[0], 60)
    t.match(await depthUpTo(stores[0].read, 30), { counted: 31 })
    const taken = await Promise.all(
      stores.map(async ({ byRow }, thread) => {
        const mine: number[] = []
        for (let none = 0; none < 3; ) {
          const claims = await Promise.all(
            [0, 1].map(() =>
              byRow((tx) => claim(tx, [{ ...stream, limit: 7 }], { now, node: 1, lease: thread })),
            ),
          )
          const ids = claims.flat().flatMap((one) => one.taken.map(({ id }) => id))
          mine.push(...ids)
          if (ids.length === 0) none++
        }
        return mine
      }),
    )
    t.equal(taken.flat().length, 120)
    t.equal(new Set(taken.flat()).size, 120)
  })

  await t.test('what threads settle at once is counted to the unit', async (t) => {
    const stores = await openTwo(t)
    const [{ read, byRow }] = stores
    await fill(stores[0], 60)
    const [all] = await byRow((tx) =>
      claim(tx, [{ ...stream, limit: 200 }], { now, node: 1, lease: 0 }),
    )
    const parts = stores.map((_, of) => (all?.taken ?? []).filter(({ id }) => id % 2 === of))
    await Promise.all(
      stores.map(async ({ byRow }, of) => {
        const mine = parts[of] ?? []
        const batches = Array.from({ length: 8 }, (_, n) => mine.slice(8 * n, 8 * (n + 1)))
        await Promise.all(
          batches.map((batch) =>
            byRow((tx) => settle(tx, batch.map(delivered), { lease: 0, now, land })),
          ),
        )
      }),
    )
    const hours = await read.selectFrom('protection_hours').select('recipients').execute()
    t.same(hours, [{ recipients: 120 }])
    const standing = await read.selectFrom('protection').select('recipients').execute()
    t.same(standing, hours, 'the sums of the window')
    const types = await read
      .selectFrom('events')
      .select(({ fn }) => ['type', fn.countAll<number>().as('count')])
      .groupBy('type')
      .orderBy('type')
      .execute()
    t.same(types, [
      { type: 'delivered', count: 120 },
      { type: 'sent', count: 60 },
    ])
    const mails = await read
      .selectFrom('emails')
      .select(['waiting', 'delivered', 'status'])
      .execute()
    t.ok(mails.every((mail) => mail.waiting === 0 && mail.delivered === 2))
    t.ok(mails.every(({ status }) => status === 'delivered'))
  })

  await t.test('a key that another thread has put in meanwhile is seen', async (t) => {
    const stores = await openTwo(t)
    let made = 0
    // As whoever looks for a row, and makes it where there is none.
    const once = ({ byRow }: Store) =>
      byRow(async (tx) => {
        const found = await tx.selectFrom('accounts').select('id').where('id', '=', 'y').execute()
        if (found.length > 0) return false
        await tx.insertInto('accounts').values({ id: 'y', name: 'Y', created_at: 0 }).execute()
        return true
      })
    const answers = await Promise.all(stores.flatMap((store) => [once(store), once(store)]))
    for (const isMade of answers) if (isMade) made++
    t.equal(made, 1)
  })
}
