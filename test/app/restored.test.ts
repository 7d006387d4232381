import t, { type Test } from 'tap'
import { holdOldMail } from '../../src/app/restore.js'
import { countHeld, type HeldRelease, releaseRuns } from '../../src/automations/index.js'
import { resumeBroadcast, stopBroadcast } from '../../src/broadcasts/index.js'
import type { Clock } from '../../src/clock/index.js'
import { silentLog } from '../../src/log/index.js'
import type { Store } from '../../src/store/index.js'
import { countSetAside, replay } from '../../src/webhooks/index.js'
import { dayMs, delay, openEngine, passing, send, trigger } from '../support/automation-rig.js'
import { openCampaigns } from '../support/campaigns.js'
import { FakeClock } from '../support/clock.js'
import { webhookRig } from '../support/webhooks.js'

const minuteMs = 60_000
const reason = /^restored from a backup of .+ UTC; it may have been sent since$/

/** As `sealCopy` leaves a database, and the first start on it. */
async function startOnCopy(deps: { store: Store; clock: Clock }): Promise<void> {
  await deps.store.write((tx) =>
    tx
      .insertInto('appliance')
      .values({ id: 1, key_check: 'k', backup_made_at: deps.clock.now() - 10 * minuteMs })
      .execute(),
  )
  await holdOldMail({ ...deps, log: silentLog })
}

t.test('campaigns of a backup wait for the operator: scheduled and half made', async (t) => {
  const clock = new FakeClock()
  const rig = await openCampaigns(t, { clock })
  await rig.addMany(550)
  const scheduledAt = new Date(clock.now() + dayMs).toISOString()
  const later = await rig.create({ scheduledAt })
  const draft = await rig.create({}, { draft: true })
  const half = await rig.create()
  const stop = new AbortController()
  await rig.expand({ backlog: { ...rig.backlog, change: () => stop.abort() } }, stop.signal)
  t.match(await rig.find(half.id), { status: 'sending', recipients: 500, expanded: 0 })

  await clock.advance(10 * minuteMs)
  await startOnCopy(rig)
  for (const { id } of [later, half]) t.match(await rig.find(id), { status: 'paused', reason })
  t.match(await rig.find(draft.id), { status: 'draft' })
  await clock.advance(2 * dayMs)
  await rig.expand()
  t.match(await rig.find(half.id), { recipients: 500 }, 'it makes no more mail')
  t.same(await rig.deliver(() => 'delivered'), [], 'and none of its mail leaves')

  await resumeBroadcast(rig, await rig.find(half.id))
  await rig.expand()
  t.equal((await rig.deliver(() => 'delivered')).length, 550, 'each once')
  t.match(await rig.find(half.id), { status: 'sent', delivered: 550 })
  t.match(await rig.find(later.id), { status: 'paused' })
  await stopBroadcast(rig, await rig.find(later.id))
  t.match(await rig.find(later.id), { status: 'cancelled' })
})

t.test('runs that were due since a backup wait; shift, now and skip release them', async (t) => {
  for (const how of ['shift', 'now', 'skip'] as readonly HeldRelease[]) await releasedBy(t, how)
})

async function releasedBy(t: Test, how: HeldRelease): Promise<void> {
  const rig = await openEngine(t)
  await rig.enabled([trigger(), delay('first', 'P1D'), send('one'), delay('second', 'P20D')])
  const due = await rig.start()
  await rig.work()
  await rig.clock.advance(dayMs / 2)
  const young = await rig.start({ email: 'bob@example.com' })
  await rig.work()
  // Too short a time for what holds overdue mail at any start.
  await rig.clock.advance(dayMs / 2 + 10 * minuteMs)
  await startOnCopy(rig)
  t.match(await countHeld(rig.store.read), [{ runs: 1, reason }])
  await rig.work()
  t.same(await rig.mails(), [], how)
  t.match(await rig.run(due), { waitingFor: { kind: 'held' } })
  t.match(await rig.run(young), { waitingFor: { kind: 'delay' } })
  await passing(rig.clock, releaseRuns(rig, { accountId: rig.accountId }, how))
  await rig.work()
  t.equal((await rig.mails()).length, how === 'now' ? 1 : 0, how)
  await rig.pass(2 * dayMs)
  t.equal((await rig.mails()).length, how === 'skip' ? 1 : 2, 'with that of the other run')
  t.match(await rig.run(due), { currentStep: 'second' })
}

t.test('webhooks that waited in a backup are sent by a replay alone', async (t) => {
  const clock = new FakeClock()
  const rig = await webhookRig(t, { clock })
  const { id: endpoint } = await rig.endpoint('https://hooks.test/')
  const old = await rig.mail()
  for (let i = 0; i < 250; i++) await rig.land(old, 'delivered')
  await startOnCopy({ store: rig.store, clock })
  t.same(await rig.store.read.selectFrom('webhook_jobs').select('id').execute(), [])
  const aside = await rig.deliveries(endpoint, true)
  t.equal(aside.length, 250)
  t.match(aside[0], { outcome: 'dropped', error: reason })
  t.match(await countSetAside(rig.store.read), [{ endpointId: endpoint, events: 250, reason }])

  const fresh = await rig.mail()
  await rig.land(fresh, 'sent')
  const again = { store: rig.store, now: () => clock.now() }
  t.equal(await replay(again, rig.accountId, endpoint, 'failed'), 250)
  t.same(await countSetAside(rig.store.read), [])
  const { store } = rig
  const queued = await store.read.selectFrom('webhook_jobs').select('email_id').execute()
  t.same(queued.map((one) => one.email_id).sort(), [...Array(250).fill(old), fresh].sort())
})
