import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { applianceAccountId, newestKeys } from '../../src/accounts/index.js'
import { lastDeed, readChanges } from '../../src/audit/index.js'
import {
  cancelArchived,
  findRuns,
  finishReleases,
  listAutomations,
  listRuns,
  liveFigures,
  type RunsFilter,
} from '../../src/automations/index.js'
import { changedAccounts, forgetHandedIn } from '../../src/billing/index.js'
import { makeSharedCounts } from '../../src/bounded/index.js'
import {
  archivedCampaigns,
  campaignsBetween,
  finishCourses,
  listBroadcastsOf,
  listUndelivered,
  pageOfPeople,
  whoNames,
} from '../../src/broadcasts/index.js'
import { loadConfig, makeApplianceKey } from '../../src/config/index.js'
import { contactHistory, findByPhone, findContacts } from '../../src/contacts/index.js'
import { deleteUnused, makeContent, putContents } from '../../src/contents/index.js'
import {
  expireOverdue,
  findDeliveries,
  firstDue,
  holdOverdue,
  joinBacklog,
  makeBacklogMemory,
  putOffOf,
  releaseLeases,
  surroundingsOf,
} from '../../src/deliveries/index.js'
import { trackingHosts } from '../../src/domains/index.js'
import { listEmails, mailsByMessageIds, makeIdempotency } from '../../src/emails/index.js'
import { readTimeline } from '../../src/events/index.js'
import {
  dueReminders,
  entriesOf,
  forgetEntries,
  listForms,
  makeFollowForms,
} from '../../src/forms/index.js'
import { listParkedReports } from '../../src/inbound/parked.js'
import { silentLog } from '../../src/log/index.js'
import { makeRateExchange } from '../../src/nodes/index.js'
import { notice, pastNotices } from '../../src/notices/index.js'
import { openOrders } from '../../src/outbound/orders/index.js'
import { saveSts } from '../../src/outbound/tls-policy/sts-cache.js'
import { isTlsReport } from '../../src/outbound/tls-sessions/own-reports.js'
import { makeChallenges } from '../../src/people/challenges.js'
import {
  findInvitation,
  forgetPastEntries,
  identitiesOf,
  listInvitations,
  listPasskeys,
  listTeam,
  sessionsOf,
  setRole,
} from '../../src/people/index.js'
import { countedTogether } from '../../src/people/shared-failures.js'
import { listPictures } from '../../src/pictures/index.js'
import { announceOnce, forgetOldCounts, readAudit } from '../../src/protection/index.js'
import { waitingAt } from '../../src/receiving/desk.js'
import { listReceived, listRules } from '../../src/receiving/index.js'
import { receiverOf } from '../../src/receiving/taking.js'
import { segmentsOfContact } from '../../src/segments/index.js'
import { campaignDeedsOf, noteMailed, otherMarketing } from '../../src/stats/index.js'
import type { Store, Tx } from '../../src/store/index.js'
import { databaseFile } from '../../src/store/sqlite/files.js'
import { listSessions } from '../../src/submission/index.js'
import {
  liftExpired,
  listSuppressions,
  suppress,
  suppressFailing,
} from '../../src/suppression/index.js'
import { announceSurges, finishDecided, surgesOf } from '../../src/surges/index.js'
import { listTasks, liveTasks } from '../../src/tasks/index.js'
import {
  addEndpoint,
  announceDisabled,
  countSetAside,
  listEndpoints,
  readDeliveries,
} from '../../src/webhooks/index.js'
import { startSandbox } from '../sandbox/start.js'
import { openEngine, send, trigger, wait } from '../support/automation-rig.js'
import { openCampaigns, plans } from '../support/campaigns.js'
import { FakeClock } from '../support/clock.js'
import { day, openMailLog } from '../support/mail-log.js'
import { aboutSqlite } from '../support/postgres.js'
import { startPosthorn } from '../support/posthorn.js'
import { makeTempDir, openTestStore } from '../support/store.js'

/*
 * An index costs every write, and one that no statement uses is for nothing: SQLite passes over a
 * partial one where its condition comes as a bound value. So the statements that this process prepares
 * are collected, while the parts of the appliance do what each index is there for, and then asked for their plans.
 */
const statements = new Set<string>()
const { prototype } = Database
const prepare = prototype.prepare as (source: string) => Database.Statement
const recording = function (this: Database.Database, source: string) {
  statements.add(source)
  return prepare.call(this, source)
}
prototype.prepare = recording as typeof prototype.prepare

const never = new AbortController().signal

/** What several nodes count together. */
async function countTogether({ store, clock }: { store: Store; clock: FakeClock }) {
  const key = makeApplianceKey(Buffer.alloc(32, 7))
  const challenges = makeChallenges({ store, clock, key })
  await challenges.take(challenges.make(null).toString('base64url'), null)
  const limits = countedTogether({ store, clock, key })
  for (let n = 0; n < 3; n++) await limits.take({ who: 'ada' })
  await makeRateExchange({ store, clock }, makeSharedCounts()).run()
}

t.test('every index is used by a statement', aboutSqlite, async (t) => {
  const dataDir = makeTempDir(t)
  const posthorn = await startPosthorn(t, { dataDir })
  const { store, accountId } = posthorn
  const clock = new FakeClock()
  const rig = await openCampaigns(t, { store, accountId, clock })
  await rig.addMany(2)
  const campaign = await rig.create()
  await rig.expand()
  const get = (path: string) => posthorn.call('GET', path)
  const key = makeApplianceKey(Buffer.alloc(32))
  const url = 'https://hooks.test/'
  const endpoint = await addEndpoint({ store, clock, key }, plans, accountId, { url, events: [] })
  const topic = await posthorn.call('POST', '/v1/topics', { body: { name: 'News' } })

  // What clients ask for.
  const mail = { from: 'a@sender.test', to: 'b@one.test', subject: 's', html: 'x' }
  const sent = await posthorn.send(mail)
  for (const path of [
    '/v1/contacts/lists',
    '/v1/broadcasts',
    '/v1/topics',
    `/v1/emails/${sent.json.id}`,
    `/v1/topics/${topic.json.id}/opt-outs`,
    '/v1/emails',
    '/v1/emails?status=bounced',
    '/v1/emails?template=hello',
    '/v1/emails?status=scheduled',
  ]) {
    t.equal((await get(path)).status, 200, path)
  }
  const test = { ...mail, listId: rig.listId, to: 'me@sender.test' }
  t.equal((await posthorn.call('POST', '/v1/broadcasts/test', { body: test })).status, 200)
  const [contact] = (await get(`/v1/contacts/${rig.listId}`)).json.contacts
  const place = `/v1/contacts/${rig.listId}/${contact.id}`
  t.equal((await posthorn.call('DELETE', place)).status, 200)
  await findByPhone(store.read, accountId, '+4915112345678', 'DE').catch(() => {})
  for (const search of [{ q: 'ann' }, { newest: true }]) {
    await findContacts(store.read, accountId, search, { limit: 1, defaultCountry: 'DE' })
  }

  await listForms(store.read, accountId)
  await entriesOf(store.read, accountId, 'a@b.test')
  await forgetEntries({ store }, Date.now(), new AbortController().signal)
  const followForms = makeFollowForms(async () => {})
  const complained = { type: 'complained', emailId: sent.json.id, detail: null } as never
  await store.write((tx) => followForms(tx, [complained]))
  await dueReminders(store.read, Date.now())

  // What operators ask for.
  t.equal((await fetch(posthorn.url)).status, 200)
  await putOffOf(store.read, accountId, { most: 1, lanes: 1 })
  await contactHistory(store.read, accountId, 'p0@d0.test')
  await segmentsOfContact(store.read, accountId, contact.id)
  await listUndelivered(store.read, campaign.id, 10)
  await noteMailed(store, 1)
  for (const who of whoNames) await pageOfPeople(store.read, campaign.id, { who, limit: 10 })
  await campaignDeedsOf(store.read, contact.id)
  await readTimeline(store.read, accountId, sent.json.id)
  await readAudit(store.read, { accountId, limit: 10 })
  await listEndpoints(store.read, accountId)
  await readDeliveries(store.read, accountId, endpoint.id, { failed: false, limit: 10 })
  await readDeliveries(store.read, accountId, endpoint.id, { failed: true, limit: 10 })
  await newestKeys(store.read, accountId, { limit: 10 })
  await countSetAside(store.read)
  const scheduledAt = new Date(Date.now() + 86_400_000).toISOString()
  const { id: emailId } = (await posthorn.send({ ...mail, scheduledAt })).json
  const { waiting } = await findDeliveries(store.read, { emailId })
  if (waiting[0] !== undefined) await surroundingsOf(store.read, waiting[0], clock.now())

  // What pages ask for, about people.
  await listBroadcastsOf(store.read, accountId, ['draft'], { limit: 1 })
  await archivedCampaigns(store.read, accountId, { limit: 1 })
  await archivedCampaigns(store.read, accountId, { limit: 1, behind: { id: 'b', sentAt: 1 } })
  await campaignsBetween(store.read, accountId, { from: 0, to: 1, limit: 1 })
  await otherMarketing(store.read, accountId, { from: 0, to: 1 })
  await listTasks(store.read, accountId, 'import', 1)
  await listPictures(store.read, accountId, { limit: 1 })
  await liveTasks(store.read)
  await listTeam(store.read, accountId)
  await listInvitations(store.read, accountId, 0)
  await findInvitation(store.read, 'A'.repeat(43), 0).catch(() => undefined)
  await sessionsOf(store.read, 'u', 0)
  await identitiesOf(store.read, 'u')
  await listPasskeys(store.read, 'u')
  await readChanges(store.read, accountId, { filter: {}, before: undefined, limit: 1 })
  await lastDeed(store.read, accountId, { action: 'broadcast.pause', target: 'x' })

  // What the appliance does by itself, now and then or in its threads.
  const deps = { store, clock, log: silentLog }
  const write = (work: (tx: Tx) => Promise<unknown>) => store.write(work)
  const backlog = joinBacklog(makeBacklogMemory())
  const gateOf = async () => undefined
  await makeIdempotency(deps).sweep(never)
  await expireOverdue({ ...deps, backlog, gateOf, land: rig.land }, never)
  await holdOverdue(deps)
  await write((tx) => releaseLeases(tx, { thread: 0, node: store.node, now: 0 }))
  await firstDue(store.read, { node: 1, lane: 'one.test', class: 0, accountId, now: 0 })
  await liftExpired(deps, never)
  await finishCourses(deps, never)
  await finishReleases(deps, never)
  await write((tx) => forgetPastEntries(tx, 0))
  await write((tx) => setRole(tx, accountId, 'u', 'viewer', 0))
  await write((tx) => putContents(tx, store, accountId, [makeContent([Buffer.from('x')])]))
  await deleteUnused(deps, never)
  const event = { accountId, emailId: 'm', deliveryId: 1, class: 0, at: 1, reply: null } as const
  const full = { ...event, recipient: 'a@one.test', type: 'bounced' } as const
  await write((tx) => suppressFailing(tx, [{ ...full, detail: { suppress: 'repeated' } }]))
  const policy = { id: '1', mode: 'none', mx: [], maxAgeMs: 1, fetchedAt: 1, expiresAt: 2 } as const
  await write((tx) => saveSts(tx, 'one.test', policy))
  await isTlsReport(store.read, { accountId: applianceAccountId, emailId: 'm' })
  await changedAccounts(store.read, {})
  await write((tx) => forgetHandedIn(tx, 0))
  await surgesOf(store.read, accountId, { limit: 1 })
  await listRules(store.read, accountId)
  await receiverOf(store.read, 'in.one.test')
  await store.read.selectFrom('receiving_rules').selectAll().where('domain_id', '=', 'd').execute()
  for (const filter of [{}, { emailId: 'm' }]) {
    await listReceived(store.read, accountId, filter, { limit: 1 })
  }
  await mailsByMessageIds(store.read, accountId, ['<a@x.test>'])
  await waitingAt(store.read, 1)
  await announceSurges({ ...deps, mail: async () => {} }, never)
  await finishDecided({ ...deps, land: rig.land }, never)
  await openOrders(store.read, 0)
  await announceDisabled(deps, never)
  const { protection: settings } = loadConfig({ env: {} })
  await announceOnce({ ...deps, settings }, never)
  await write((tx) =>
    notice(tx, { kind: 'disk', key: 'd', severity: 'daily', text: '', fix: '', now: 0 }),
  )
  await pastNotices(store.read, 1)
  await forgetOldCounts({ store, clock }, 1, never)
  await listParkedReports(store.read)
  await trackingHosts(store.read)
  await listSessions(store.read, { accountId, refused: false, limit: 1 })
  await (await startSandbox(t, { store: await openTestStore(t) })).close()

  await countTogether({ store, clock })
  await automate(t)
  await retain(t)

  const db = new Database(databaseFile(dataDir))
  t.teardown(() => db.close())
  const used = new Set<string>()
  for (const text of statements) {
    if (!/^(select|with|insert|update|delete)\b/i.test(text) || / max_page_count/.test(text))
      continue
    for (const [, name = ''] of planOf(db, text).matchAll(/USING (?:COVERING )?INDEX (\w+)/g)) {
      used.add(name)
    }
  }
  for (const [of, index] of rare) {
    const plans = [...statements].filter((text) => of.test(text)).map((text) => planOf(db, text))
    t.ok(plans.length > 0, `${of}`)
    for (const plan of plans) t.match(plan, index)
  }
  const there = prepare
    .call(db, "select name from sqlite_schema where type = 'index' and sql is not null")
    .pluck()
    .all() as string[]
  t.ok(there.length > 25)
  t.same(
    there.filter((name) => !used.has(name)),
    [],
    'indexes that nothing here uses',
  )
})

/** Statements that look for few among a million, and what they must find them by. */
const rare: readonly (readonly [RegExp, RegExp])[] = [
  [/from "webhook_jobs" .*attempts > 0/, /INDEX webhook_jobs_tried/],
  [/as "inFlight" from "queue" where \+"lane"/, /INDEX queue_lease/],
  [/where "blocked" = .* order by "id" limit/, /COVERING INDEX automation_live_blocked /],
]

/** A run that waits for an event, gets it, and is looked at, left and ended. */
async function automate(t: Test): Promise<void> {
  const rig = await openEngine(t)
  const { store, clock, accountId } = rig
  const id = await rig.enabled([trigger(), wait('paid', 'paid', { timeout: 'P1D' }), send('one')])
  await rig.start()
  await rig.work()
  const block = (blocked: string | null) =>
    store.write((tx) => tx.updateTable('automation_live').set({ blocked }).execute())
  await block('quota')
  await liveFigures(store.read)
  await block(null)
  await rig.event({ event: 'paid' })
  await rig.work()
  await listAutomations(store.read, accountId, { limit: 1 })
  await listEmails(store.read, accountId, { automationId: id }, { limit: 1 })
  await liveFigures(store.read)
  await listRuns(store.read, id, { statuses: ['waiting', 'completed'], limit: 1 })
  for (const filter of [
    { statuses: ['running', 'waiting'], stepIds: [1] },
    { statuses: ['exited'], reason: 'goal' },
    { statuses: ['exited'], reason: 'goal', stepIds: [1] },
    { statuses: ['completed'], stepIds: [1] },
    { wait: 'quota' },
  ] satisfies RunsFilter[]) {
    await findRuns(store.read, id, filter, { limit: 1 })
  }
  const address = { email: 'ann@example.com', reason: 'complaint' } as const
  await store.write((tx) => suppress(tx, accountId, address, clock.now()))
  await listSuppressions(store.read, accountId, { reason: 'bounce', limit: 1 })
  await cancelArchived({ store, clock }, never)
}

/** A mail that is too old goes. */
async function retain(t: Test): Promise<void> {
  const log = await openMailLog(t, { plan: 'Free' })
  await log.accept([{}])
  await log.deliver()
  await log.accept([{ html: 'newest' }])
  await log.clock.advance(8 * day)
  await log.run()
}

function planOf(db: Database.Database, text: string): string {
  try {
    const values = text.split('?').slice(1)
    const plan = prepare.call(db, `explain query plan ${text}`)
    const rows = plan.all(...values.map(() => null)) as { detail: string }[]
    return rows.map(({ detail }) => detail).join('\n')
  } catch {
    // Of another database: a lock file, one before its migration.
    return ''
  }
}
