import { fork } from 'node:child_process'
import t, { type Test } from 'tap'
import {
  applianceAccountId,
  createAccount,
  openApplianceAccount,
} from '../../src/accounts/index.js'
import { pausesOf } from '../../src/billing/index.js'
import { loadConfig } from '../../src/config/index.js'
import { ApiError } from '../../src/errors/index.js'
import { type MailEvent, makeLandEvents } from '../../src/events/index.js'
import { silentLog } from '../../src/log/index.js'
import { openNotices, pastNotices } from '../../src/notices/index.js'
import {
  type AuditEntry,
  alarmOf,
  announceOnce,
  countPaused,
  forgetOldCounts,
  highestRates,
  makeProtection,
  pauseByOperator,
  readAudit,
  readStanding,
  unpause,
} from '../../src/protection/index.js'
import { FakeClock } from '../support/clock.js'
import { makeTempDir, openTestStore } from '../support/store.js'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
const { protection: settings } = loadConfig({ env: {} })

type Kind = 'delivered' | 'relayed' | 'bounced' | 'soft' | 'complained' | 'failed' | 'deferred'

/** An account, and events of it that land as if by the outbound or inbound thread. */
async function openAccount(t: Test, options: { dataDir?: string; countSimulator?: boolean } = {}) {
  const clock = new FakeClock()
  const store = await openTestStore(t, { clock, ...options })
  const { id: accountId } = await createAccount({ store, clock }, 'Library')
  const { countSimulator = false } = options
  const land = makeLandEvents([makeProtection({ ...settings, countSimulator })])
  let deliveries = 0
  const event = (kind: Kind, own: Partial<MailEvent> = {}): MailEvent => {
    deliveries++
    return {
      accountId,
      emailId: `email-${deliveries}`,
      deliveryId: deliveries,
      class: 0,
      recipient: `a${deliveries}@one.test`,
      at: clock.now(),
      reply: null,
      detail: null,
      type: kind === 'soft' ? 'bounced' : kind,
      ...(kind === 'bounced' ? { detail: { bounceType: 'Permanent' } } : {}),
      ...(kind === 'complained' ? { detail: { feedbackType: 'abuse', evidence: 'a loop' } } : {}),
      ...(kind === 'soft' ? { detail: { bounceType: 'Transient' } } : {}),
      ...own,
    }
  }
  const landAll = (events: readonly MailEvent[]) => store.write((tx) => land(tx, events))
  const rig = {
    clock,
    store,
    accountId,
    event,
    landAll,
    /** One transaction, like many results of an outbound thread. */
    lands: (count: number, kind: Kind, own: Partial<MailEvent> = {}) =>
      landAll(Array.from({ length: count }, () => event(kind, own))),
    pauses: () => pausesOf(store.read, accountId),
    standing: () => readStanding(store.read, accountId, { now: clock.now(), settings }),
    /** The oldest first. */
    audit: async (): Promise<AuditEntry[]> =>
      (await readAudit(store.read, { accountId, limit: 100 })).reverse(),
    actions: async () => (await rig.audit()).map(({ action, reason }) => `${action} ${reason}`),
    order: (note: string | null = null) => ({
      accountId,
      who: 'ada',
      note,
      now: clock.now(),
      settings,
    }),
  }
  return rig
}

const totals = (
  [recipients, bounces, complaints, unproved]: readonly number[],
  [mailed, bouncedMarketing, complainedMarketing]: readonly number[] = [],
) => ({
  recipients: recipients ?? 0,
  bounces: bounces ?? 0,
  complaints: complaints ?? 0,
  marketing_recipients: mailed ?? 0,
  marketing_bounces: bouncedMarketing ?? 0,
  marketing_complaints: complainedMarketing ?? 0,
  unproved: unproved ?? 0,
})

t.test('rates call for what decisions.md says, and for nothing one event before', async (t) => {
  const rows: [
    all: number[],
    marketing: number[],
    bounce: string | undefined,
    complaint?: string,
  ][] = [
    [[199, 199, 199], [], undefined],
    [[200, 9], [], undefined],
    [[200, 10], [], 'warn'],
    [[201, 10], [], undefined],
    [[200, 19], [], 'warn'],
    [[200, 20], [], 'pause'],
    [[201, 20], [], 'warn'],
    [[1_000, 49], [], undefined],
    [[1_000, 50], [], 'warn'],
    [[1_000, 99], [], 'warn'],
    [[1_000, 100], [], 'pause'],
    [[1_000, 50], [500, 50], 'pause marketing'],
    [[1_000, 50], [1_000, 50], 'pause marketing'],
    [[1_000, 50], [500, 24], 'warn'],
    [[1_000, 50], [9, 9], 'warn'],
    [[1_000, 49], [200, 49], undefined],
    [[1_000, 0, 0], [], undefined, undefined],
    [[1_001, 0, 1], [], undefined, undefined],
    [[1_000, 0, 1], [], undefined, 'warn'],
    [[1_000, 0, 4], [], undefined, 'warn'],
    [[1_000, 0, 5], [], undefined, 'pause'],
    [[200, 0, 2], [], undefined, 'warn'],
    [[200, 0, 3], [], undefined, 'pause'],
    [[1_000, 0, 2], [1_000, 0, 2], undefined, 'pause marketing'],
    [[1_000, 0, 1], [1_000, 0, 1], undefined, 'pause marketing'],
    [[1_001, 0, 1], [1_001, 0, 1], undefined, undefined],
    [[1_000, 0, 1], [999, 0, 0], undefined, 'warn'],
    [[1_000, 0, 3], [1_000, 0, 3], undefined, 'pause marketing'],
    [[3_000, 0, 3], [], undefined, 'warn'],
    [[3_001, 0, 3], [], undefined, undefined],
  ]
  for (const [all, marketing, bounce, complaint] of rows) {
    const counted = totals(all, marketing)
    const named = JSON.stringify([all, marketing])
    t.equal(alarmOf(counted, 'bounce', settings), bounce, `bounces of ${named}`)
    t.equal(alarmOf(counted, 'complaint', settings), complaint, `complaints of ${named}`)
  }
})

t.test('an account is paused at the very event, in the middle of a transaction too', async (t) => {
  const rig = await openAccount(t)
  await rig.lands(180, 'delivered')
  await rig.lands(19, 'bounced')
  t.same(await rig.actions(), [], 'of 199 no rate is made')
  const many: Kind[] = ['delivered', 'bounced', 'bounced', 'delivered', 'delivered', 'delivered']
  await rig.landAll(many.map((kind) => rig.event(kind)))
  const [warned, paused, ...others] = await rig.audit()
  t.same(others, [])
  t.match(warned, { action: 'warned', reason: 'bounce', totals: totals([200, 19]) })
  // 20 of 201 are less than a tenth, 21 of 202 are more, and 21 of 211 less again.
  t.match(paused, { action: 'paused', reason: 'bounce', totals: totals([202, 21]) })
  t.match(paused, { who: 'protection', note: null, at: rig.clock.now() })
  t.same(await rig.pauses(), { paused: 'bounce', marketingPaused: null })
  await rig.lands(50, 'bounced')
  await rig.lands(50, 'complained')
  t.equal((await rig.audit()).length, 2, 'once paused, nothing more is said')
})

t.test('it is the recipient who comes that makes the rate', async (t) => {
  const rig = await openAccount(t)
  await rig.lands(30, 'bounced')
  await rig.lands(169, 'delivered')
  t.same(await rig.actions(), [])
  await rig.lands(1, 'delivered')
  t.same(await rig.actions(), ['paused bounce'])
})

t.test('complaints warn and pause', async (t) => {
  const rig = await openAccount(t)
  await rig.lands(1_000, 'delivered')
  await rig.lands(1, 'complained')
  t.same(await rig.actions(), ['warned complaint'])
  await rig.lands(3, 'complained')
  t.same(await rig.pauses(), { paused: null, marketingPaused: null })
  await rig.lands(1, 'complained')
  t.same(await rig.actions(), ['warned complaint', 'paused complaint'])
  t.same(await rig.pauses(), { paused: 'complaint', marketingPaused: null })
})

t.test('marketing is paused when the warning comes from campaigns or automations', async (t) => {
  for (const marketing of [1, 2] as const) {
    const rig = await openAccount(t)
    await rig.lands(500, 'delivered')
    await rig.lands(400, 'delivered', { class: marketing })
    await rig.lands(47, 'bounced', { class: marketing })
    t.same(await rig.actions(), [])
    await rig.lands(1, 'bounced', { class: marketing })
    t.same(await rig.actions(), ['marketing_paused bounce'])
    t.same(await rig.pauses(), { paused: null, marketingPaused: 'bounce' })
    await rig.lands(1, 'bounced', { class: marketing })
    t.equal((await rig.audit()).length, 1, 'said once')
    t.same(await countPaused(rig.store.read), { all: 0, marketing: 1 })
    await rig.lands(60, 'bounced')
    t.same(await rig.pauses(), { paused: 'bounce', marketingPaused: 'bounce' })
    t.same(await countPaused(rig.store.read), { all: 1, marketing: 0 })
  }
})

t.test('a warning is repeated after a window, not before', async (t) => {
  const rig = await openAccount(t)
  const week = async () => {
    await rig.lands(940, 'delivered')
    await rig.lands(60, 'bounced')
  }
  await week()
  await rig.lands(300, 'delivered')
  await rig.lands(20, 'bounced')
  t.same(await rig.actions(), ['warned bounce'], 'though the rate was below for a while')
  await rig.clock.advance(7 * dayMs - hourMs)
  await week()
  t.same(await rig.actions(), ['warned bounce'])
  await rig.clock.advance(hourMs)
  await week()
  t.same(await rig.actions(), ['warned bounce', 'warned bounce'])
})

t.test('what is older than the window slides out by the hour', async (t) => {
  const rig = await openAccount(t)
  await rig.lands(18, 'bounced')
  await rig.clock.advance(hourMs)
  await rig.lands(300, 'delivered')
  await rig.clock.advance(7 * dayMs - 2 * hourMs)
  await rig.lands(1, 'delivered')
  t.match((await rig.standing()).totals, totals([319, 18]))
  await rig.clock.advance(hourMs)
  t.match((await rig.standing()).totals, totals([301, 0]), 'without any event')
  await rig.lands(20, 'bounced')
  t.match((await rig.standing()).totals, totals([321, 20]))
  t.same(await rig.actions(), ['warned bounce'], '38 of 339 would have paused it')
  const hours = await rig.store.read.selectFrom('protection_hours').selectAll().execute()
  t.equal(hours.length, 3, 'the oldest hour is deleted')
  await rig.clock.advance(9 * dayMs)
  const { signal } = new AbortController()
  const forgotten = await forgetOldCounts(rig, settings.window, signal)
  t.match(forgotten, { accounts: 1, addresses: Number })
  const tables = ['protection', 'protection_hours', 'protection_providers'] as const
  for (const table of [...tables, 'protection_addresses'] as const) {
    t.same(await rig.store.read.selectFrom(table).selectAll().execute(), [], `${table} is empty`)
  }
  t.same(await forgetOldCounts(rig, settings.window, signal), { accounts: 0, addresses: 0 })
})

t.test('a recipient counts once, whatever is told of him later', async (t) => {
  const rig = await openAccount(t)
  const of = (deliveryId: number) => ({
    deliveryId,
    emailId: 'one',
    recipient: `r${deliveryId}@one.test`,
  })
  const after = (before: NonNullable<MailEvent['before']>) => ({ ...of(1), before })
  await rig.lands(1, 'deferred', of(1))
  await rig.lands(1, 'delivered', of(1))
  await rig.lands(1, 'bounced', after('delivered'))
  await rig.lands(1, 'bounced', after('bounced'))
  await rig.lands(1, 'complained', of(1))
  t.same((await rig.standing()).totals, totals([1, 1, 1]), 'a bounce after the 250, told twice')
  await rig.lands(1, 'complained', of(1))
  t.same((await rig.standing()).totals, totals([1, 1, 1]), 'a complaint told twice')
  await rig.lands(1, 'relayed', of(2))
  await rig.lands(1, 'delivered', { ...of(2), before: 'relayed' })
  t.same((await rig.standing()).totals, totals([2, 1, 1]), 'a smart host that reports')
  await rig.lands(1, 'soft', of(3))
  await rig.lands(1, 'failed', of(4))
  t.same((await rig.standing()).totals, totals([3, 1, 1]), 'a soft bounce is no hard one')
  await rig.lands(1, 'bounced', { ...of(5), detail: null })
  const detail = { evidence: 'a loop' }
  await rig.lands(1, 'complained', { deliveryId: null, recipient: null, detail })
  t.same((await rig.standing()).totals, totals([4, 2, 2]))
})

t.test('no share is over 100 %, however late a report comes', async (t) => {
  const rig = await openAccount(t)
  const { clock, accountId } = rig
  const mailed = (count: number, own: Partial<MailEvent>) =>
    Array.from({ length: count }, () => rig.event('delivered', own))
  const reported = (kind: 'bounced' | 'complained', events: readonly MailEvent[]) =>
    events.map(({ deliveryId, recipient, emailId, class: of, at }) =>
      rig.event(kind, {
        deliveryId,
        recipient,
        emailId,
        class: of,
        answeredAt: at,
        ...(kind === 'bounced' ? { before: 'delivered' as const } : {}),
      }),
    )
  const old = mailed(30, { class: 2 })
  await rig.landAll(old)
  await clock.advance(6 * dayMs)
  await rig.landAll(reported('bounced', old.slice(0, 10)))
  t.match((await rig.standing()).totals, totals([30, 10], [30, 10]), 'none of them twice')
  // Now the day on which it left is no longer counted, and what is told of it still is.
  await clock.advance(2 * dayMs)
  t.match((await rig.standing()).totals, totals([10, 10], [10, 10]))
  await rig.landAll(reported('complained', old.slice(10, 15)))
  t.match((await rig.standing()).totals, totals([15, 10, 5], [15, 10, 5]))
  // Of a mail that nobody knows any more, and after the counts were started anew.
  await rig.store.write((tx) =>
    pauseByOperator(tx, { ...rig.order(), reason: 'bounce', marketing: false }),
  )
  await rig.store.write((tx) => unpause(tx, rig.order()))
  const fresh = mailed(1, {})
  await rig.landAll(fresh)
  await rig.landAll(reported('bounced', [...fresh, ...old.slice(20, 23)]))
  const unknown = rig.event('bounced', { before: 'delivered', answeredAt: null })
  await rig.landAll([unknown])
  const standing = await rig.standing()
  t.match(standing.totals, totals([5, 5], [3, 3]))
  t.same(
    standing.providers.map(({ recipients, bounces }) => [recipients, bounces]),
    [[5, 5]],
  )
  const hours = await rig.store.read.selectFrom('protection_hours').selectAll().execute()
  t.ok(hours.every(({ recipients, bounces }) => bounces <= recipients))
  t.ok(hours.every(({ account_id }) => account_id === accountId))
  const { bounce } = await highestRates(rig.store.read, {
    now: clock.now(),
    settings: { ...settings, minRecipients: 1 },
  })
  t.equal(bounce, 1)
})

t.test('who bounces or complains counts once in the window, by however many mails', async (t) => {
  const rig = await openAccount(t)
  await rig.lands(250, 'delivered')
  await rig.lands(3, 'complained', { recipient: 'angry@one.test' })
  await rig.lands(1, 'complained', { recipient: 'Angry@One.test' })
  await rig.lands(30, 'bounced', { recipient: 'gone@one.test' })
  t.same((await rig.standing()).totals, totals([280, 1, 1]))
  t.same(await rig.actions(), ['warned complaint'], 'one of 250 warns, and pauses nothing')
  await rig.clock.advance(7 * dayMs - hourMs)
  await rig.lands(1, 'bounced', { recipient: 'gone@one.test' })
  t.same((await rig.standing()).totals, totals([281, 1, 1]))
  await rig.clock.advance(hourMs)
  await rig.lands(1, 'bounced', { recipient: 'gone@one.test' })
  t.same((await rig.standing()).totals, totals([2, 1]), 'as all else it slides out')
  await rig.store.write((tx) =>
    pauseByOperator(tx, { ...rig.order(), reason: 'bounce', marketing: false }),
  )
  await rig.store.write((tx) => unpause(tx, rig.order()))
  await rig.lands(1, 'bounced', { recipient: 'gone@one.test' })
  t.same((await rig.standing()).totals, totals([1, 1]), 'a clearing forgets them too')
  const kept = await rig.store.read.selectFrom('protection_addresses').selectAll().execute()
  t.equal(kept.length, 1)
  t.notMatch(JSON.stringify(kept), 'one.test', 'nobody can read who it was')
  rig.clock.jump(7 * dayMs)
  const { signal } = new AbortController()
  t.match(await forgetOldCounts(rig, settings.window, signal), { accounts: 1 })
  t.same(await rig.store.read.selectFrom('protection_addresses').selectAll().execute(), [])
})

t.test('a complaint that nothing proves is shown, and is in no rate', async (t) => {
  const rig = await openAccount(t)
  await rig.lands(250, 'delivered')
  const detail = { feedbackType: 'abuse' }
  await rig.lands(50, 'complained', { detail })
  await rig.lands(3, 'complained', { detail, recipient: 'angry@one.test' })
  t.same((await rig.standing()).totals, totals([250, 0, 0, 51]))
  t.same(await rig.actions(), [])
  await rig.lands(1, 'complained', { recipient: 'angry@one.test' })
  t.same((await rig.standing()).totals, totals([250, 0, 1, 51]), 'a proof may come later')
})

t.test('a single complaint of a campaign pauses marketing from 0.1 % on', async (t) => {
  const rig = await openAccount(t)
  await rig.lands(1_000, 'delivered', { class: 2 })
  await rig.lands(1, 'complained', { class: 2 })
  t.same(await rig.pauses(), { paused: null, marketingPaused: 'complaint' })
  t.same(await rig.actions(), ['marketing_paused complaint'])
})

t.test('the simulator and the appliance’s own mail count for nobody', async (t) => {
  const rig = await openAccount(t)
  const recipient = 'bounced+1@Simulator.posthorn.test'
  await rig.lands(300, 'bounced', { recipient })
  await rig.store.write(openApplianceAccount)
  await rig.lands(300, 'bounced', { accountId: applianceAccountId })
  t.same(await rig.store.read.selectFrom('protection').selectAll().execute(), [])
  t.same(await readAudit(rig.store.read, { accountId: undefined, limit: 9 }), [])
  const counting = await openAccount(t, { countSimulator: true })
  await counting.landAll(
    Array.from({ length: 200 }, (_, i) =>
      counting.event('bounced', { recipient: `bounced+${i}@Simulator.posthorn.test` }),
    ),
  )
  t.same(await counting.actions(), ['paused bounce'])
})

t.test('accounts do not count for each other', async (t) => {
  const rig = await openAccount(t)
  const { id } = await createAccount({ store: rig.store, clock: rig.clock }, 'Shop')
  const ofBoth = Array.from({ length: 200 }, () => [
    rig.event('bounced', { accountId: id }),
    rig.event('delivered'),
  ])
  await rig.landAll(ofBoth.flat())
  t.same(await rig.actions(), [])
  t.equal((await pausesOf(rig.store.read, id)).paused, 'bounce')
  const now = rig.clock.now()
  t.same(await highestRates(rig.store.read, { now, settings }), { bounce: 1, complaint: 0 })
  await rig.lands(1, 'complained')
  t.match(await highestRates(rig.store.read, { now, settings }), { complaint: 1 / 200 })
})

t.test('providers have counts of their own, and only so many', async (t) => {
  const rig = await openAccount(t)
  await rig.lands(3, 'delivered', { recipient: 'a@gmail.com' })
  await rig.lands(1, 'complained', { recipient: 'a@googlemail.com' })
  await rig.lands(1, 'bounced', { recipient: 'a@hotmail.co.uk' })
  await rig.lands(1, 'bounced', { recipient: 'b@hotmail.co.uk' })
  t.same((await rig.standing()).providers, [
    { provider: 'Google', recipients: 3, bounces: 0, complaints: 1 },
    { provider: 'Microsoft', recipients: 2, bounces: 2, complaints: 0 },
  ])
  const ended = { email_id: 'hosted', recipient: 'a@firm.test', status: 'delivered' } as const
  const none = { reply: null, tls: null, transcript: null, attempts: 1, ended_at: 0 }
  const remote = 'firm-test.mail.protection.outlook.com [192.0.2.1]'
  await rig.store.write((tx) =>
    tx
      .insertInto('deliveries')
      .values({ id: 77_000, remote, ...ended, ...none })
      .execute(),
  )
  const hosted = { deliveryId: 77_000, emailId: 'hosted', recipient: 'a@firm.test' }
  await rig.lands(1, 'delivered', hosted)
  await rig.lands(1, 'bounced', { ...hosted, before: 'delivered' })
  t.match((await rig.standing()).providers[1], { provider: 'Microsoft', recipients: 3, bounces: 3 })
  await rig.landAll(
    Array.from({ length: 400 }, (_, i) => rig.event('delivered', { recipient: `a@d${i}.test` })),
  )
  await rig.lands(1, 'delivered', { recipient: 'a@yahoo.com' })
  await rig.lands(5, 'delivered', { recipient: 'a@d1.test' })
  const [others, own, ...rest] = (await rig.standing()).providers
  t.same(others, { provider: 'other domains', recipients: 202, bounces: 0, complaints: 0 })
  t.same(own, { provider: 'd1.test', recipients: 6, bounces: 0, complaints: 0 })
  t.match(rest[0], { provider: 'Google' })
  const rows = await rig.store.read.selectFrom('protection_providers').select('provider').execute()
  t.equal(rows.length, 202)
  t.ok(
    rows.some(({ provider }) => provider === 'Yahoo'),
    'a large one is never among the others',
  )
  t.notOk(JSON.stringify(rows).includes('@'), 'no recipient')
})

t.test('an operator pauses and clears; then the counts start anew', async (t) => {
  const rig = await openAccount(t)
  await rig.lands(200, 'bounced')
  await rig.store.write((tx) => unpause(tx, rig.order('the list is cleaned')))
  t.same(await rig.pauses(), { paused: null, marketingPaused: null })
  t.match((await rig.audit())[1], {
    action: 'cleared',
    reason: 'bounce',
    who: 'ada',
    note: 'the list is cleaned',
    totals: totals([200, 200]),
  })
  t.same(await rig.standing(), {
    paused: null,
    marketingPaused: null,
    totals: totals([]),
    providers: [],
    warnedAt: { bounce: null, complaint: null },
  })
  await rig.lands(199, 'bounced')
  t.equal((await rig.pauses()).paused, null)
  await rig.lands(1, 'bounced')
  t.equal((await rig.pauses()).paused, 'bounce', 'and count on')
  await rig.store.write((tx) => unpause(tx, rig.order()))

  const twice = { ...rig.order(), reason: 'complaint', marketing: true } as const
  await t.rejects(
    rig.store.write((tx) => unpause(tx, rig.order())),
    { message: 'It is not paused' },
  )
  await rig.store.write((tx) => pauseByOperator(tx, twice))
  await t.rejects(
    rig.store.write((tx) => pauseByOperator(tx, twice)),
    /paused already/,
  )
  t.same(await rig.pauses(), { paused: null, marketingPaused: 'complaint' })
  await rig.store.write((tx) => pauseByOperator(tx, { ...twice, marketing: false }))
  t.same(await rig.pauses(), { paused: 'complaint', marketingPaused: 'complaint' })
  const long = { ...rig.order('x'.repeat(501)) }
  await t.rejects(
    rig.store.write((tx) => unpause(tx, long)),
    /500 characters/,
  )
  t.equal((await rig.pauses()).paused, 'complaint', 'what is refused changes nothing')
})

t.test('each change is told once, in the transaction that remembers it', async (t) => {
  const rig = await openAccount(t)
  await rig.lands(950, 'delivered')
  await rig.lands(100, 'bounced')
  await rig.lands(10, 'bounced')
  const { store, clock, accountId } = rig
  const deps = { store, clock, log: silentLog, settings }
  const { signal } = new AbortController()
  const full = new ApiError('service_unavailable', 'the disk is full')
  const failing = { ...store, write: () => Promise.reject(full) }
  await t.rejects(announceOnce({ ...deps, store: failing }, signal), { message: full.message })
  await announceOnce(deps, signal)
  await announceOnce(deps, signal)
  const [paused, ...others] = await openNotices(store.read)
  t.same(others, [], 'the pause is more than the warning before it')
  t.match(paused, { kind: 'account-paused', severity: 'burning', count: 1, key: accountId })
  t.match(paused?.text, /^"Library" is paused: too many bounces\n/)
  t.match(paused?.text, /^Bounces: 106 of 1056 \(10\.04%\)$/m)
  t.match(paused?.text, /^By: protection$/m)
  t.match(paused?.fix, `posthorn account unpause ${accountId}`)
  t.match(await pastNotices(store.read, 9), [{ kind: 'account-warned', severity: 'daily' }])
  await store.write((tx) => unpause(tx, rig.order('cleaned')))
  await announceOnce(deps, signal)
  t.same(await openNotices(store.read), [])
})

t.test('what cannot be told keeps nothing else, and is in the log', async (t) => {
  const rig = await openAccount(t)
  await rig.lands(950, 'delivered')
  await rig.lands(100, 'bounced')
  await rig.lands(10, 'bounced')
  const { store, clock } = rig
  await store.write((tx) =>
    tx
      .updateTable('protection_audit')
      .set({ totals: 'broken' })
      .where('action', '=', 'warned')
      .execute(),
  )
  const told: object[] = []
  const log = { ...silentLog, error: (fields: object) => void told.push(fields) }
  for (let run = 0; run < 2; run++) {
    await announceOnce({ store, clock, log, settings }, new AbortController().signal)
  }
  t.match(await openNotices(store.read), [{ kind: 'account-paused' }])
  t.match(told, [{ action: 'warned', account: 'Library' }])
  t.equal(told.length, 1)
})

t.test(
  'threads in parallel miss no event, and a kill leaves counts that fit the log',
  async (t) => {
    const dataDir = makeTempDir(t)
    const rig = await openAccount(t, { dataDir })
    const logged = async () => {
      const rows = await rig.store.read.selectFrom('events').select('type').execute()
      return { all: rows.length, bounced: rows.filter(({ type }) => type === 'bounced').length }
    }
    const lander = new URL('../support/event-lander.js', import.meta.url)
    const child = fork(lander, [dataDir, rig.accountId])
    const exited = new Promise((resolve) => child.once('exit', resolve))
    t.teardown(() => child.kill('SIGKILL'))
    while ((await logged()).all < 600) await new Promise((resolve) => setTimeout(resolve, 20))
    child.kill('SIGKILL')
    await exited
    const { all, bounced } = await logged()
    const now = Date.parse('2026-11-21T12:00:00Z')
    const { totals: counted } = await readStanding(rig.store.read, rig.accountId, { now, settings })
    t.same(counted, totals([all, bounced]))
    const kept = await rig.store.read.selectFrom('protection').selectAll().executeTakeFirst()
    t.match(kept, { recipients: all, bounces: bounced })
    const actions = await rig.actions()
    t.equal(new Set(actions).size, actions.length, 'each said once')
    t.ok(actions.includes('paused bounce'))
  },
)
