import t from 'tap'
import { createAccount } from '../../src/accounts/index.js'
import { makeApplianceKey } from '../../src/config/index.js'
import { forgetDmarc } from '../../src/dmarc/index.js'
import { addDomain } from '../../src/domains/index.js'
import { forgetTlsReports } from '../../src/tls-reports/index.js'
import { FakeClock } from '../support/clock.js'
import { openTestStore } from '../support/store.js'

const dayMs = 86_400_000
const today = 20_000
const now = today * dayMs + 3_600_000
const running = () => new AbortController().signal
const stopped = AbortSignal.abort()

t.test(
  'what was counted and sent about TLS goes after eight days, whatever its amount',
  async (t) => {
    const store = await openTestStore(t, { clock: new FakeClock(now) })
    await store.write(async (tx) => {
      for (const [day, domains] of [
        [today - 20, 450],
        [today - 9, 3],
        [today - 8, 2],
        [today - 1, 2],
      ] as const) {
        for (let i = 0; i < domains; i++) {
          const of = { day, domain: `d${i}.test` }
          const session = {
            policy_type: 'no-policy-found' as const,
            policy: '',
            result: '' as const,
          }
          const ends = { mx_host: '', mx_name: '', receiving_address: '', sending_address: '' }
          const row = { ...of, ...session, ...ends, reason: '', sessions: 1 }
          await tx.insertInto('tls_sessions').values(row).execute()
          const report = { ...of, report_id: `r${i}`, decided_at: now }
          await tx.insertInto('tls_reports').values(report).execute()
        }
      }
      const post = { domain: 'd0.test', uri: 'https://a.test', email_id: null, tries: 1, cause: '' }
      for (const day of [today - 9, today - 1]) {
        const row = { ...post, day, state: 'sent' as const, next_at: now }
        await tx.insertInto('tls_report_posts').values(row).execute()
      }
    })
    t.equal(await forgetTlsReports({ store }, { now, signal: stopped }), 0, 'it ends when told to')
    t.equal(await forgetTlsReports({ store }, { now, signal: running() }), 2 * 453 + 1)
    for (const table of ['tls_sessions', 'tls_reports', 'tls_report_posts'] as const) {
      const rows = await store.read
        .selectFrom(table as 'tls_reports')
        .select('day')
        .execute()
      t.ok(rows.length > 0 && rows.every(({ day }) => day >= today - 8), table)
    }
    t.equal(await forgetTlsReports({ store }, { now, signal: running() }), 0)
  },
)

t.test('what receivers reported goes after 400 days, names of addresses after 60', async (t) => {
  const clock = new FakeClock(now)
  const store = await openTestStore(t, { clock })
  const account = await createAccount({ store, clock }, 'Shop')
  const key = makeApplianceKey(Buffer.alloc(32, 7))
  const made = { store, clock, key }
  const { id } = await addDomain(made, account.id, 'shop.test', { trust: true })
  await store.write(async (tx) => {
    for (const day of [today - 500, today - 401, today - 400, today]) {
      const of = { domain_id: id, day, reporter: 'google.com' }
      const report = { ...of, proof: '', report_id: `r${day}`, begins_at: 0, ends_at: 1 }
      const dmarc = { ...report, policy: 'none', messages: 1 }
      await tx.insertInto('dmarc_reports').values(dmarc).execute()
      const tls = { ...report, successes: 1, failures: 0, failure_types: '{}' }
      await tx.insertInto('tls_reports_received').values(tls).execute()
      const passed = { disposition: 'none' as const, dkim: 1, spf: 1, forwarded: 0, proven: 1 }
      for (const source of ['192.0.2.1', '192.0.2.2']) {
        const row = { ...of, ...passed, source, messages: 1, identifiers: '' }
        await tx.insertInto('dmarc_sources').values(row).execute()
      }
    }
    for (const [address, day] of [
      ['192.0.2.1', today - 61],
      ['192.0.2.2', today - 60],
    ] as const) {
      await tx.insertInto('dmarc_hosts').values({ address, name: '', day }).execute()
    }
  })
  t.equal(await forgetDmarc({ store }, { now, signal: running() }), 2 * (2 + 1 + 1) + 1)
  for (const table of ['dmarc_sources', 'dmarc_reports', 'tls_reports_received'] as const) {
    const rows = await store.read
      .selectFrom(table as 'dmarc_reports')
      .select('day')
      .distinct()
      .orderBy('day')
      .execute()
    t.same(
      rows.map(({ day }) => day),
      [today - 400, today],
      table,
    )
  }
  const hosts = await store.read.selectFrom('dmarc_hosts').select('address').execute()
  t.same(hosts, [{ address: '192.0.2.2' }])
})
