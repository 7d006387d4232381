// What a clock that was ahead has dated, or what is old behind much that is young, does not stop retention.
import t from 'tap'
import { createAccount } from '../../src/accounts/index.js'
import { forgetRuns } from '../../src/automations/index.js'
import { dayMs, hourMs } from '../../src/clock/index.js'
import { makeForgetOld } from '../../src/events/index.js'
import { silentLog } from '../../src/log/index.js'
import { forgetOldRows } from '../../src/retention/old-rows.js'
import { dropUnnamed, unnamedBodies } from '../../src/retention/uses.js'
import { firstUuidAt } from '../../src/store/index.js'
import { FakeClock } from '../support/clock.js'
import { openTestStore } from '../support/store.js'

const signal = new AbortController().signal

t.test('a log of which some rows are dated ahead is forgotten as far as it is old', async (t) => {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  const now = clock.now()
  const ages = [10, 10, -60, -60, 9, 1, -1]
  const rows = ages.map((days, id) => ({ id: id + 1, account_id: 'a', at: now - days * dayMs }))
  const gone: number[] = []
  const forget = makeForgetOld(
    { store, log: silentLog },
    {
      log: 'events',
      after: async (id, limit) => rows.filter((row) => row.id > id).slice(0, limit),
      remove: async (_tx, ids) => void gone.push(...ids),
    },
    async () => new Map([['a', 7 * dayMs]]),
  )
  t.equal(await forget(now, signal), 5)
  t.same(gone, [1, 2, 3, 4, 5])
})

t.test('the audit log too', async (t) => {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  const now = clock.now()
  const of = { account_id: null, user_id: null, actor: 'cli', name: 'n', action: 'a' } as const
  const add = (days: number) =>
    store.write((tx) =>
      tx
        .insertInto('audit_log')
        .values({ ...of, at: now - days * dayMs, target: null, detail: '{}', address_key: null })
        .execute(),
    )
  for (const days of [-60, 10, 10, -60, 10, 1]) await add(days)
  const forever = Number.POSITIVE_INFINITY
  const ages = { sessions: forever, inbound: forever, consent: forever, audit: 7 * dayMs }
  await forgetOldRows(
    { store, clock, log: silentLog },
    ages as Parameters<typeof forgetOldRows>[1],
    { now, signal },
  )
  const left = await store.read.selectFrom('audit_log').select('at').orderBy('id').execute()
  t.same(
    left.map(({ at }) => (now - at) / dayMs),
    [1],
  )
})

t.test('runs that ended long ago go, whatever stands before them', async (t) => {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  const { id: accountId } = await createAccount({ store, clock }, 'Test')
  const now = clock.now()
  const automation = '01a1fc92-0000-7000-8000-000000000001'
  await store.write(async (tx) => {
    await tx
      .insertInto('automations')
      .values({
        id: automation,
        account_id: accountId,
        name: 'A',
        status: 'disabled',
        version: 0,
        running: 0,
        waiting: 0,
        completed: 230,
        exited: 0,
        failed: 0,
        cancelled: 0,
        enrolled: 230,
        created_at: 0,
        updated_at: 0,
        paused_at: null,
      })
      .execute()
    const run = (beganAt: number, endedAt: number, n: number) => ({
      id: firstUuidAt(beganAt).slice(0, -4) + n.toString(16).padStart(4, '0'),
      account_id: accountId,
      automation_id: automation,
      version: 1,
      contact_id: null,
      step_id: 1,
      status: 'completed' as const,
      reason: null,
      history: '[]',
      started_at: beganAt,
      ended_at: endedAt,
    })
    for (let n = 0; n < 230; n++) {
      // The first page took long.
      const isOld = n >= 220
      const began = now - (60 - n / 10) * dayMs
      const ended = isOld ? began + hourMs : now - hourMs
      await tx
        .insertInto('automation_runs')
        .values(run(began, ended, n))
        .execute()
    }
  })
  const keep = async () => new Map([[accountId, 7 * dayMs]])
  t.equal(await forgetRuns({ store }, keep, { now, signal }), 10)
})

t.test('a body without a use that nobody names any more goes, others stay', async (t) => {
  const store = await openTestStore(t)
  const add = (uses: number) =>
    store.write(async (tx) => {
      const { id } = await tx
        .insertInto('bodies')
        .values({ html: '<p>x</p>', text: null })
        .returning('id')
        .executeTakeFirstOrThrow()
      await tx.insertInto('body_uses').values({ body_id: id, uses, hash: null }).execute()
      return id
    })
  const [unused, used] = [await add(0), await add(1)]
  t.match(await unnamedBodies(store.read, 0, 10), { last: unused, bodies: [{ id: unused }] })
  for (const id of [unused, used]) await store.write((tx) => dropUnnamed(tx, id))
  const left = await store.read.selectFrom('bodies').select('id').execute()
  t.same(left, [{ id: used }])
})
