import t, { type Test } from 'tap'
import { ApiError } from '../../src/errors/index.js'
import { makeLandEvents } from '../../src/events/index.js'
import { startClerk } from '../../src/inbound/clerk.js'
import {
  discardParkedReports,
  listParkedReports,
  readParkedReport,
  retryParkedReports,
} from '../../src/inbound/index.js'
import { maxParked, parkReport } from '../../src/inbound/parked.js'
import { openSpool } from '../../src/inbound/spool.js'
import { silentLog } from '../../src/log/index.js'
import { silentMeter } from '../../src/metrics/index.js'
import type { Store } from '../../src/store/index.js'
import { FakeClock } from '../support/clock.js'
import { poison } from '../support/poison.js'
import { openTestStore } from '../support/store.js'
import { returnPaths } from './start.js'

/** Letters in the spool, and a clerk that files each of them without effect. */
async function open(t: Test, { letters, waiting = 500 }: { letters: number; waiting?: number }) {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock })
  const spool = await openSpool({ store, clock }, { mails: 10 * waiting, bytes: 2 ** 30 })
  const keep = (text: string) =>
    spool.keep({
      envelope: { remoteAddress: '192.0.2.1', mailFrom: '', helo: '' },
      reports: ['x@y.test'],
      operator: [],
      raw: Buffer.from(text),
      sizeBytes: 4,
      forward: false,
    })
  for (let n = 0; n < letters; n++) await keep(`letter ${n}`)
  const rows = () => store.read.selectFrom('inbound_spool').selectAll().orderBy('id').execute()
  const start = (more: { store?: Store } = {}) => {
    const clerk = startClerk({
      store,
      clock,
      log: silentLog,
      meter: silentMeter,
      spool,
      returnPaths,
      land: makeLandEvents([]),
      reader: {
        read: async (raws) =>
          raws.map(() => ({
            kind: 'read',
            reading: {
              report: {
                kind: 'not-a-report',
                why: 'a letter',
                tokens: [],
                original: { messageId: '', to: '', subject: '' },
              },
              verdicts: [],
            },
          })),
        renew() {},
        async close() {},
      },
      ...more,
    })
    t.teardown(() => clerk.close())
    return clerk
  }
  const until = async (isSo: () => Promise<boolean>) => {
    while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 5))
  }
  return { clock, store, spool, keep, rows, start, until }
}

t.test('reports that cannot be filed are parked, and the others go on', async (t) => {
  const { store, spool, clock, rows, start, until } = await open(t, { letters: 50, waiting: 50 })
  // More than are read together, and the first that are due.
  const broken = (await rows()).slice(0, 40).map(({ id }) => id)
  await store.write((tx) =>
    tx.updateTable('inbound_spool').set({ recipients: '{' }).where('id', 'in', broken).execute(),
  )
  t.notOk(spool.hasRoom('192.0.2.1', 0))
  start()
  await until(async () => (await rows()).length === 40)
  await until(async () => (await listParkedReports(store.read)).length === 40)
  const [first] = await listParkedReports(store.read)
  t.match(first, { remoteAddress: '192.0.2.1', recipients: '{', fault: /JSON/ })
  t.match(await readParkedReport(store.read, broken[0] ?? 0), /^letter 0$/)
  t.ok(spool.hasRoom('192.0.2.1', 0), 'they take no room of those that arrive')

  // The operator has mended one, and drops another.
  const [mended, dropped] = broken
  await store.write(async (tx) => {
    await tx
      .updateTable('inbound_spool')
      .set({ recipients: '[]' })
      .where('id', '=', mended ?? 0)
      .execute()
    t.equal(await retryParkedReports(tx, [mended ?? 0]), 1)
    t.equal(await discardParkedReports(tx, [dropped ?? 0]), 1)
  })
  await until(async () => {
    await clock.advance(60_000)
    return (await rows()).length === 38
  })
  t.same(
    (await rows()).map(({ id }) => id),
    broken.slice(2),
  )
  // All again: they are as broken as before.
  t.equal(await store.write((tx) => retryParkedReports(tx)), 38)
  await until(async () => {
    await clock.advance(60_000)
    return (await listParkedReports(store.read)).every(({ fault }) => fault !== null)
  })
})

t.test('one that cannot be parked either is left alone until the next start', async (t) => {
  const { store, keep, rows, start, until } = await open(t, { letters: 3 })
  const [bad] = await rows()
  const isBad = `old.id = ${bad?.id}`
  await poison(store, 'delete on inbound_spool', isBad)
  await poison(store, 'update on inbound_spool', isBad)
  const clerk = start()
  await until(async () => (await rows()).length === 1)
  await keep('later')
  clerk.ring()
  await until(async () => (await rows()).length === 1)
  t.match(await rows(), [{ id: bad?.id, parked_at: null }])
})

t.test('while the storage fails nothing is parked', async (t) => {
  const { store, clock, rows, start, until } = await open(t, { letters: 2 })
  let fails = true
  let refused = 0
  const failing: Store = {
    ...store,
    async write(work) {
      if (!fails) return await store.write(work)
      refused++
      throw new ApiError('service_unavailable', 'The database cannot be written just now')
    },
  }
  start({ store: failing })
  await until(async () => refused >= 2)
  t.same(await listParkedReports(store.read), [])
  fails = false
  await until(async () => {
    await clock.advance(1_000)
    return (await rows()).length === 0
  })
})

t.test('the newest of too many are kept', async (t) => {
  const { store, rows, clock } = await open(t, { letters: maxParked + 2 })
  const all = (await rows()).map(({ id }) => id)
  for (const [at, id] of all.entries()) {
    const now = clock.now() + at
    await store.write((tx) => parkReport(tx, id, { fault: 'broken', now }))
  }
  t.same(
    (await rows()).map(({ id }) => id),
    all.slice(2),
  )
})
