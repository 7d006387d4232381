import t from 'tap'
import { makeWaitForMessage } from '../../src/dashboard/sandbox/wait.js'
import type { Store } from '../../src/store/index.js'
import { FakeClock } from '../support/clock.js'
import { aboutSqlite } from '../support/postgres.js'
import { openTestStore } from '../support/store.js'

const keep = (store: Store, id: number, subject: string) =>
  store.write(async (tx) => {
    const where = { remote_address: '127.0.0.1', helo: 'me.test', tls: 0 as const }
    const whose = { mail_from: 'a@b.test', header_from: 'a@b.test', rcpt_to: '["ann@example.org"]' }
    const rest = { received_at: 0, size_bytes: 20, verdicts: null }
    const row = { id, subject, ...where, ...whose, ...rest }
    await tx.insertInto('sandbox_messages').values(row).execute()
    const raw = Buffer.from(`Subject: ${subject}\r\n\r\nx\r\n`)
    await tx.insertInto('sandbox_sources').values({ id, raw }).execute()
  })

t.test(
  'a hundred that wait for mail look together, and more are refused',
  aboutSqlite,
  async (t) => {
    const store = await openTestStore(t)
    const clock = new FakeClock()
    let looks = 0
    const read = new Proxy(store.read, {
      get(target, name) {
        if (name === 'selectFrom') looks++
        const value = Reflect.get(target, name, target)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    const waitFor = makeWaitForMessage({ store: { ...store, read }, clock }, 100)
    const forOther = new URLSearchParams({ subject: 'other', timeout: '5s' })
    const waits = Array.from({ length: 99 }, () => waitFor(forOther))
    const outcomes = Promise.allSettled(waits)
    const wanted = waitFor(new URLSearchParams({ subject: 'welcome', timeout: '5s' }))
    await t.rejects(waitFor(forOther), { code: 'service_unavailable' })
    await clock.advance(30)
    looks = 0
    await clock.advance(300)
    t.ok(looks < 50, `${looks} looks in 300 ms without mail`)

    // What was committed late has the smaller id.
    await keep(store, 8, 'first')
    await clock.advance(15)
    await keep(store, 7, 'Welcome')
    await clock.advance(1_100)
    t.match(await wanted, { id: 7, subject: 'Welcome' })
    await clock.advance(5_000)
    t.match((await outcomes)[0], { status: 'rejected', reason: { code: 'not_found' } })
    t.match(
      await waitFor(new URLSearchParams({ subject: 'first' })),
      { id: 8 },
      'there is room again',
    )
  },
)
