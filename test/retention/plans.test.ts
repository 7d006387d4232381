import t from 'tap'
import { day, openMailLog } from '../support/mail-log.js'
import { aboutSqlite } from '../support/postgres.js'
import { collectStatements, planOf } from '../support/statements.js'

/** Read in the order of the primary key, some rows of them; or small: a row an account, a campaign or one of its versions, a kind. */
const inOrderOfKey = new Set([
  'bodies',
  'submission_sessions',
  'operator_mails',
  'consent',
  'accounts',
  'contents',
  'webhook_endpoints',
  'line',
  'json_each',
  'broadcasts',
  'broadcast_variants',
  'figure_cursors',
  'retention_state',
  'recipient_index',
  'audit_log',
])

t.test('all that retention asks is a search by keys', aboutSqlite, async (t) => {
  const log = await openMailLog(t, { plan: 'Free' })
  const { clock, store, campaigns } = log
  await campaigns.addMany(2)
  await campaigns.create()
  await campaigns.expand()
  const tags = [{ name: 'plan', value: 'pro' }]
  await log.accept([
    { tags, files: [Buffer.from('f')] },
    { html: 'waits', to: ['w@two.test'] },
  ])
  await log.deliver((to) => (to.startsWith('w') ? 'deferred' : 'delivered'))
  await log.accept([{ html: 'newest' }])
  const statements = collectStatements(t)
  for (let days = 0; days < 40; days += 5) {
    await clock.advance(5 * day)
    await log.run()
  }
  const asked = [...statements].filter(
    (text) => /^(select|with|insert|update|delete)\b/i.test(text.trim()) && !/pragma_/.test(text),
  )
  t.ok(asked.length > 40)
  for (const text of asked) {
    const plan = await planOf(store.read, text)
    const scans = plan.flatMap(
      (line) => /^SCAN (?!\d+-ROW VALUES)(\w+)\b(?! USING COVERING)/.exec(line)?.[1] ?? [],
    )
    const unbounded = scans.filter((table) => !inOrderOfKey.has(table))
    t.same(unbounded, [], `${text.slice(0, 200)}\n${plan.join('\n')}`)
    t.notMatch(plan.join('\n'), /TEMP B-TREE FOR ORDER BY/, text.slice(0, 200))
  }
})
