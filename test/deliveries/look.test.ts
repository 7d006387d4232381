// For pages: a look at the queue costs the same however long it is.
import t, { type Test } from 'tap'
import { lookForWaiting } from '../../src/deliveries/index.js'
import { queueClass, type Store } from '../../src/store/index.js'
import { openTestStore } from '../support/store.js'

const accounts = ['00000000-0000-7000-8000-00000000000a', '00000000-0000-7000-8000-00000000000b']

/** Twenty waiting deliveries: to two domains, of two accounts, the last four held. */
async function fill(t: Test): Promise<Store> {
  const store = await openTestStore(t)
  await store.write(async (tx) => {
    for (let n = 1; n <= 20; n++) {
      const lane = n % 2 === 0 ? 'even.test' : 'odd.test'
      await tx
        .insertInto('queue')
        .values({
          id: n,
          email_id: `mail-${n}`,
          account_id: accounts[n % 4 === 0 ? 1 : 0] ?? '',
          lane,
          recipient: `r${n}@${lane}`,
          class: queueClass.campaign,
          due_at: n,
          lease: null,
          attempts: 0,
          expires_at: 1_000,
          last_attempt_at: null,
          last_reply: null,
          last_transcript: null,
          ...(n > 16 && { held_at: 1, held_reason: 'x', held_due_at: n }),
        })
        .execute()
    }
  })
  return store
}

t.test('a look through the queue is bounded, and going on finds the rest', async (t) => {
  const { read } = await fill(t)
  const filter = { accountId: accounts[1] }
  const found: number[] = []
  let looks = 0
  for (let after: number | null = -1; after !== null; looks++) {
    const look: Awaited<ReturnType<typeof lookForWaiting>> = await lookForWaiting(read, filter, {
      after,
      most: 6,
    })
    t.ok(look.ids.length <= 6)
    found.push(...look.ids)
    after = look.next
  }
  t.same(found, [4, 8, 12, 16, 20])
  t.equal(looks, 4, 'six at a time')
  t.same(await lookForWaiting(read, filter), { ids: found, next: null, isCut: false })
})

t.test('by a domain, a mail or what is held it goes by their index', async (t) => {
  const { read } = await fill(t)
  const odd = await lookForWaiting(read, { lane: 'odd.test' })
  t.same(odd, { ids: [1, 3, 5, 7, 9, 11, 13, 15, 17, 19], next: null, isCut: false })
  const later = await lookForWaiting(read, { lane: 'odd.test' }, { after: 13 })
  t.same(later.ids, [15, 17, 19])
  const cut = await lookForWaiting(read, { lane: 'odd.test' }, { most: 4 })
  t.match(cut, { isCut: true, next: null })
  t.equal(cut.ids.length, 4)
  t.same((await lookForWaiting(read, { emailId: 'mail-7' })).ids, [7])
  t.same((await lookForWaiting(read, { held: true, lane: 'even.test' })).ids, [18, 20])
  t.same((await lookForWaiting(read, { held: true })).ids, [17, 18, 19, 20])
  t.same((await lookForWaiting(read, { ids: [3, 99] })).ids, [3])
})
