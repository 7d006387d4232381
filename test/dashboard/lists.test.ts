import Database from 'better-sqlite3'
import t from 'tap'
import { newestKeys } from '../../src/accounts/index.js'
import { systemClock } from '../../src/clock/index.js'
import { consentHistory } from '../../src/consent/index.js'
import {
  createList,
  listDays,
  listMembers,
  listPage,
  onlyOnList,
} from '../../src/contacts/index.js'
import { findDomain, lastLook, listDomains } from '../../src/domains/index.js'
import { cursorOf } from '../../src/store/index.js'
import { databaseFile } from '../../src/store/sqlite/files.js'
import { listSuppressions, suppressionsOf } from '../../src/suppression/index.js'
import {
  countRequests,
  findDelivery,
  listEndpoints,
  readDeliveries,
  replay,
} from '../../src/webhooks/index.js'
import { aboutSqlite } from '../support/postgres.js'
import { makeTempDir, openTestStore } from '../support/store.js'
import { webhookRig } from '../support/webhooks.js'

/*
 * The lists of pages are read through indexes, whatever else there is. The statements that are prepared while they
 * are read are asked for their plans.
 */
const statements = new Set<string>()
const { prototype } = Database
const prepare = prototype.prepare as (source: string) => Database.Statement
const recording = function (this: Database.Database, source: string) {
  statements.add(source)
  return prepare.call(this, source)
}

t.test(
  'no list of a page looks at the rows of others, or sorts all of its own',
  aboutSqlite,
  async (t) => {
    const dataDir = makeTempDir(t)
    const store = await openTestStore(t, { dataDir })
    const rig = await webhookRig(t, { store })
    const { accountId } = rig
    const { read } = store
    const { id } = await rig.endpoint('https://app.example.com/hooks')
    prototype.prepare = recording as typeof prototype.prepare
    t.teardown(() => {
      prototype.prepare = prepare as typeof prototype.prepare
    })
    await newestKeys(read, accountId, { before: id, limit: 51 })
    await listDomains(read, accountId, { after: 'a.test', limit: 51 })
    await lastLook(read, (await findDomain(read, accountId, 'shop.test')).id)
    await listEndpoints(read, accountId, { after: id, limit: 51 })
    for (const failed of [false, true]) {
      for (const outcome of ['waiting', 'failed'] as const) {
        await readDeliveries(read, accountId, id, { failed, limit: 51, after: { id: 1, outcome } })
      }
    }
    await findDelivery(read, accountId, id, 1).catch(() => {})
    await countRequests(read, id, 10_001)
    await replay({ store, now: () => 1 }, accountId, id, { from: 1, to: 9, failedOnly: true })
    await listSuppressions(read, accountId, { limit: 51, after: { email: 'a', reason: 'manual' } })
    await listSuppressions(read, accountId, {
      limit: 51,
      reason: 'bounce',
      after: { email: 'a', reason: 'bounce' },
    })
    await suppressionsOf(read, accountId, 'a@one.test')
    await consentHistory(read, accountId, 'a@one.test')
    const list = await createList({ store, clock: systemClock }, accountId, 'Readers')
    await listPage(read, accountId, { cursor: list.id, limit: 50 })
    await listDays(read, list.id, { days: 91, now: 1 })
    await onlyOnList(read, list.id)
    const cursor = cursorOf(list.id, `contacts ${list.id}`)
    await listMembers(read, accountId, list.id, { limit: 50, cursor, email: 'a@one.test' })

    const db = new Database(databaseFile(dataDir), { readonly: true })
    t.teardown(() => db.close())
    const asked = [...statements].filter((text) => /^select/i.test(text))
    t.ok(asked.length > 12, `${asked.length} statements`)
    for (const text of asked) {
      const bound = Array.from(text.matchAll(/\?/g), () => 'x')
      const plan = db.prepare(`explain query plan ${text}`).all(...bound) as { detail: string }[]
      // Of an account's endpoints there are few, and of a page's domains two keys each.
      const sorts = /"(webhook_endpoints|dkim_keys)"/.test(text) ? /$^/ : /TEMP B-TREE/
      const scans = /^SCAN (?!json_each|some|\(subquery)/
      const bad = plan.filter(({ detail }) => scans.test(detail) || sorts.test(detail))
      t.strictSame(bad, [], text.slice(0, 160))
    }
    t.ok(
      [...statements].some((text) => /outcome <> 'delivered'/.test(text)),
      'what did not arrive is asked for by a literal',
    )
  },
)
