// What automations that begin on a date cost: `node dist/test/bench/automation-dates.js [CONTACTS]`. How long it takes until all
// contacts have their day, what one change of a contact costs, and how fast a day begins on which very many have theirs.
import t from 'tap'
import { makeDateKeeper, makeVersions } from '../../src/automations/index.js'
import { silentLog } from '../../src/log/index.js'
import { dayMs, exit, openEngine, trigger } from '../support/automation-rig.js'
import { loadAverage, rsaSignatures } from './rig.js'

t.setTimeout(1_200_000)
const contacts = Number(process.argv[2] ?? 1_000_000)
await t.test('automations that begin on a date', async (t) => {
  const rig = await openEngine(t)
  const { store, clock, accountId } = rig
  const year = new Date(clock.now()).getUTCFullYear() + 1
  await clock.advance(Date.parse(`${year}-01-10T00:00:00Z`) - clock.now())
  const idOf = (n: number) => `019b0000-0000-7000-8000-${String(n).padStart(12, '0')}`
  const two = (n: number) => String(n).padStart(2, '0')
  /** One in ten has the same day, as a form does it that asks for no year and proposes one. */
  const dayOf = (n: number) =>
    n % 10 === 0 ? '06-01' : `${two(1 + (n % 12))}-${two(1 + (n % 28))}`
  const perWrite = 1_000
  for (let at = 0; at < contacts; at += perWrite) {
    await store.write((tx) =>
      tx
        .insertInto('contacts')
        .values(
          Array.from({ length: Math.min(perWrite, contacts - at) }, (_, n) => ({
            id: idOf(at + n),
            account_id: accountId,
            email: `p${at + n}@x.test`,
            address: `p${at + n}@x.test`,
            metadata: JSON.stringify({ birthday: `1990-${dayOf(at + n)}` }),
            created_at: at,
          })),
        )
        .execute(),
    )
  }
  await rig.enabled([trigger('$contact.date', { date: { field: 'birthday' } }), exit()])
  const keeper = makeDateKeeper({
    store,
    clock,
    log: silentLog,
    versions: makeVersions(),
    isFull: async () => false,
  })
  const worked = async () => {
    const begun = performance.now()
    let most = 0
    for (let at = begun; await keeper.work(); ) {
      const now = performance.now()
      most = Math.max(most, now - at)
      at = now
    }
    return { ms: performance.now() - begun, most }
  }
  const rate = (n: number, ms: number) => `${Math.round((n / ms) * 1_000).toLocaleString('en')}/s`

  const filled = await worked()
  t.comment(
    `${contacts} contacts have their day: ${rate(contacts, filled.ms)}, longest write ${filled.most.toFixed(1)} ms`,
  )
  const changed = performance.now()
  const someChanged = 2_000
  for (let n = 0; n < someChanged; n += 200) {
    await keeper.changed(
      accountId,
      Array.from({ length: 200 }, (_, at) => idOf(n + at)),
    )
  }
  t.comment(`changed contacts: ${rate(someChanged, performance.now() - changed)}`)
  await clock.advance(Date.parse(`${year}-06-01T09:00:01Z`) - dayMs - clock.now())
  await worked()
  await clock.advance(dayMs)
  const { enrolled: before } = await store.read
    .selectFrom('automations')
    .select('enrolled')
    .executeTakeFirstOrThrow()
  const begun = await worked()
  const { enrolled } = await store.read
    .selectFrom('automations')
    .select('enrolled')
    .executeTakeFirstOrThrow()
  t.ok(enrolled - before >= contacts / 10)
  t.comment(
    `${enrolled - before} begin on one day: ${rate(enrolled - before, begun.ms)}, longest write ${begun.most.toFixed(1)} ms`,
  )
  t.comment(`RSA-2048 signatures/s ${Math.round(rsaSignatures())}, load average ${loadAverage()}`)
})
