import t, { type Test } from 'tap'
import {
  type Broadcast,
  finishCourses,
  pauseBroadcast,
  resumeBroadcast,
  stopBroadcast,
} from '../../src/broadcasts/index.js'
import { type Claimed, claim, type Settlement, settle } from '../../src/deliveries/index.js'
import { silentLog } from '../../src/log/index.js'
import { stopAtDeparture } from '../../src/outbound/attempt/departure.js'
import { queueClass, type Store } from '../../src/store/index.js'
import { passing } from '../support/automation-rig.js'
import { openCampaigns } from '../support/campaigns.js'
import { FakeClock } from '../support/clock.js'
import { mortalStore } from '../support/mortal-store.js'

const why = { reason: 'paused by ops' }
// Two slices of 500 at most, and the commits before and behind them.
const mails = 505
const mostCommits = 4

/** A campaign to everybody, made into mail. */
async function openSent(t: Test, count: number) {
  const clock = new FakeClock()
  const rig = await openCampaigns(t, { clock })
  await rig.addMany(count)
  const { read } = rig.store
  const made = async () => {
    const broadcast = await rig.create()
    await rig.expand()
    return broadcast
  }
  /** Whether the last pause or resume was written down as answered. */
  const answer = { isKept: false }
  const alongside = async () => {
    answer.isKept = true
  }
  type Verb = (store: Store, campaign: Broadcast) => Promise<object>
  const verbs: Record<'pause' | 'resume' | 'cancel', Verb> = {
    pause: (store, campaign) => pauseBroadcast({ store, clock }, campaign, { ...why, alongside }),
    resume: (store, campaign) => resumeBroadcast({ store, clock }, campaign, { alongside }),
    cancel: (store, campaign) => stopBroadcast({ store, clock }, campaign),
  }
  /** As an outbound thread begins some attempts. */
  const begin = async (limit: number): Promise<Claimed[]> => {
    const wants = [0, 1, 2, 3, 4].map((lane) => ({
      lane: `d${lane}.test`,
      class: queueClass.campaign,
      accountId: rig.accountId,
      limit,
    }))
    const now = clock.now()
    const claims = await rig.store.write((tx) => claim(tx, wants, { now, node: 1, lease: 0 }))
    return claims.flatMap(({ taken }) => taken)
  }
  /** As an outbound thread ends an attempt that did not leave. */
  const holdBack = (taken: readonly Claimed[]) =>
    rig.store.write((tx) => {
      const none = { remote: null, tls: null, transcript: '', reply: 'The campaign is paused' }
      const held = taken.map(
        (claimed): Settlement => ({ ...claimed, ...none, kind: 'held', startedAt: clock.now() }),
      )
      return settle(tx, held, { lease: 0, now: clock.now(), land: rig.land })
    })
  return {
    rig,
    clock,
    made,
    verbs,
    begin,
    holdBack,
    answer,
    queued: async (held: boolean) =>
      (
        await read
          .selectFrom('queue')
          .select('id')
          .where('held_at', held ? 'is not' : 'is', null)
          .execute()
      ).length,
    finish: async () => {
      await clock.advance(11_000)
      const signal = new AbortController().signal
      await passing(clock, finishCourses({ store: rig.store, clock, log: silentLog }, signal))
    },
  }
}

t.test('a kill at any step of a pause or a resume: the chore does the rest', async (t) => {
  const opened = await openSent(t, mails)
  const { rig, clock, made, verbs, begin, holdBack, queued, finish, answer } = opened
  const campaign = await made()
  const partly = new Set<boolean>()
  for (let commits = 0; commits <= mostCommits; commits++) {
    for (const verb of ['pause', 'resume'] as const) {
      const { store, died } = mortalStore(rig.store, commits)
      answer.isKept = false
      const ending = passing(clock, Promise.race([verbs[verb](store, campaign), died]))
      t.equal((await ending) === 'died', commits < mostCommits, `${verb} after ${commits}`)
      t.equal(answer.isKept, commits === mostCommits, 'answered when all of it is done')
      const { status } = await rig.find(campaign.id)
      const held = await queued(true)
      partly.add(held > 0 && held < mails)
      if (status === 'paused') {
        const taken = await begin(3)
        const outcomes = await stopAtDeparture(rig.store.read, taken)
        t.same(new Set(outcomes.map((one) => one?.kind)), new Set(taken.map(() => 'held')))
        await holdBack(taken)
      }
      await finish()
      t.equal(await queued(true), status === 'paused' ? mails : 0, `${verb} after ${commits}`)
      if (commits === 0) await passing(clock, verbs[verb](rig.store, campaign))
    }
  }
  t.ok(partly.has(true), 'some kills left it half done')
  const rows = await rig.store.read.selectFrom('queue').selectAll().execute()
  t.equal(rows.length, mails)
  t.ok(rows.every((row) => row.attempts === 0 && row.last_reply === null))
  const events = await rig.store.read.selectFrom('events').select('id').execute()
  t.same(events, [], 'none counts as tried')
})

t.test("a kill at any step of the operator's cancel: the chore does the rest", async (t) => {
  const count = 20
  const { rig, clock, made, verbs, queued, finish } = await openSent(t, count)
  // Its status, its only slice, and that no more is to be done.
  for (let commits = 1; commits < 3; commits++) {
    const campaign = await made()
    if (commits % 2 === 0) await passing(clock, verbs.pause(rig.store, campaign))
    const { store, died } = mortalStore(rig.store, commits)
    t.equal(await passing(clock, Promise.race([verbs.cancel(store, campaign), died])), 'died')
    await finish()
    t.equal((await queued(true)) + (await queued(false)), 0, `after ${commits}`)
    t.match(await rig.find(campaign.id), { status: 'cancelled', cancelled: count, waiting: 0 })
  }
})

t.test('of a pause and a resume beside each other the later one holds for all', async (t) => {
  const { rig, clock, made, verbs, queued } = await openSent(t, mails)
  const campaign = await made()
  for (const [first, second] of [
    ['pause', 'resume'],
    ['resume', 'pause'],
  ] as const) {
    const before = second === 'pause' ? verbs.pause : verbs.resume
    for (const commits of [1, 2, 3]) {
      await passing(clock, before(rig.store, campaign))
      let other: Promise<unknown> | undefined
      const { store } = mortalStore(rig.store, 99, (count) => {
        if (count === commits) other = verbs[second](rig.store, campaign)
      })
      await passing(clock, verbs[first](store, campaign))
      await passing(clock, other ?? Promise.reject(new Error('it was not begun')))
      t.equal(await queued(true), second === 'pause' ? mails : 0, `${first}, then ${second}`)
      t.match(await rig.find(campaign.id), {
        status: second === 'pause' ? 'paused' : 'sending',
        course_at: null,
      })
    }
  }
})

t.test('what is stopped at its departure is not left behind by a resume', async (t) => {
  const { rig, clock, made, verbs, begin, holdBack, queued } = await openSent(t, 10)
  const campaign = await made()
  const taken = await begin(3)
  await passing(clock, verbs.pause(rig.store, campaign))
  const outcomes = await stopAtDeparture(rig.store.read, taken)
  t.equal(outcomes.filter((one) => one?.kind === 'held').length, taken.length)
  t.equal(await queued(false), taken.length)
  await passing(clock, verbs.resume(rig.store, campaign))
  await holdBack(taken)
  t.equal(await queued(true), 0)
  t.equal((await begin(3)).length, 10, 'all may leave at once')
})
