import t, { type Test } from 'tap'
import { loadPlans, setMarketingPlan } from '../../src/billing/index.js'
import { packageFile } from '../../src/config/index.js'
import { FakeClock } from '../support/clock.js'
import { fakeMx } from '../support/fake-mx.js'
import type { Act, MxSession } from '../support/fake-mx-script.js'
import { leased, type OutboundRig, outboundRig } from '../support/outbound.js'
import { thoroughly } from '../support/thorough.js'

/*
 * Days of a busy appliance in seconds: a fake clock, real sockets, and four receivers that behave as
 * their seed says. What they saw and what the database says afterwards is held against each other.
 */
const seeds = thoroughly([1], [1, 20_261_121])
const sites = {
  steady: { host: '127.0.1.1', connections: 5, perMinute: 120 },
  flaky: { host: '127.0.1.2', connections: 8, perMinute: 100_000 },
  down: { host: '127.0.1.3', connections: 4, perMinute: 100_000 },
  strict: { host: '127.0.1.4', connections: 3, perMinute: 600 },
}
type SiteName = keyof typeof sites
const names = Object.keys(sites) as SiteName[]
const domainsPerSite = 5
const campaign = 440
const singles = 200
const minuteMs = 60_000

for (const seed of seeds) {
  t.test(`mail over four receivers, seed ${seed}`, async (t) => {
    const random = seeded(seed)
    const clock = new FakeClock()
    const rig = await openRig(t, clock)
    const began = clock.now()
    const { receivers, most } = await openReceivers(t, rig, random, () => clock.now() - began)
    await rig.start()

    const accepted = await sendAll(rig, clock, random)
    // `sendAll` has made one.
    let restarts = 1
    for (let step = 0; (await waiting(rig)) > 0; step++) {
      if (step > 20_000) throw new Error(`${await waiting(rig)} deliveries never end`)
      // A kill, as far as a process can be killed in a test: attempts broken off, leases left.
      if (step % 60 === 59 && restarts < 12) {
        await rig.stop(0)
        await rig.start()
        restarts++
      }
      await pass(rig, clock, random)
    }

    const arrivals = new Map<string, number>()
    let doubtful = 0
    for (const { messages, unaccepted } of receivers) {
      for (const { to } of messages) arrivals.set(to[0] ?? '', (arrivals.get(to[0] ?? '') ?? 0) + 1)
      doubtful += unaccepted.length
    }
    const ended = await rig.store.read.selectFrom('deliveries').selectAll().execute()
    t.equal(ended.length, accepted.length, 'each delivery has ended, once')
    const lost = ended.filter((row) => row.status === 'delivered' && !arrivals.has(row.recipient))
    t.same(lost, [], 'what counts as delivered has arrived')
    const unknown = ended.filter((row) => row.status !== 'delivered' && arrivals.has(row.recipient))
    t.ok(unknown.length <= doubtful, 'what has arrived counts as delivered, but for broken dots')
    const twice = [...arrivals.values()].reduce((sum, count) => sum + count - 1, 0)
    t.ok(twice <= doubtful + restarts * 20, `${twice} came twice, ${doubtful} dots were broken`)
    t.ok(ended.filter((row) => row.status === 'delivered').length > accepted.length * 0.8)
    for (const name of names) {
      const { connections } = sites[name]
      const at = most.get(name) ?? 0
      t.ok(at <= connections, `${at} of ${connections} at once to ${name}`)
    }
    const atLimit = names.filter((name) => most.get(name) === sites[name].connections)
    t.not(atLimit.length, 0, 'and a limit was in the way')
    await showOrder(t, rig)
    await showRate(t, rig)
  })
}

async function openRig(t: Test, clock: FakeClock): Promise<OutboundRig> {
  const shaping = names.map((name) => {
    const { connections, perMinute } = sites[name]
    return `[providers.${name}]\nmx = ["${name}.mx.test"]\nconnections = ${connections}\nmessages_per_minute = ${perMinute}\n`
  })
  shaping.push(
    '[[providers.strict.automation]]\nname = "busy"\npattern = "too busy"\naction = "suspend"\nfor = "20m"\n',
  )
  const dns = names.flatMap((name) => [
    [`${name}.mx.test`, { a: [sites[name].host] }] as const,
    ...Array.from(
      { length: domainsPerSite },
      (_, i) =>
        [`${name}${i}.test`, { mx: [{ preference: 10, exchange: `${name}.mx.test` }] }] as const,
    ),
  ])
  const rig = await outboundRig(t, {
    clock,
    stopped: true,
    shaping: shaping.join('\n'),
    dns: Object.fromEntries(dns),
    config: { maxConnections: 16 },
  })
  const plans = loadPlans(packageFile('config/plans.toml'))
  await rig.store.write((tx) => setMarketingPlan(tx, rig.accountId, plans.marketing.at(-1) ?? null))
  return rig
}

async function openReceivers(t: Test, rig: OutboundRig, random: () => number, age: () => number) {
  const most = new Map<SiteName, number>()
  const chance = (share: number) => random() < share
  const flaky = (otherwise: string) => (): Act => {
    if (chance(0.05)) return '451 4.7.1 Greylisted'
    if (chance(0.02)) return '421 4.3.2 Going down'
    return chance(0.02) ? 'rst' : otherwise
  }
  const open = (name: SiteName, script: Behaviour) => {
    // A transaction counts from its MAIL until it is answered for good: never longer than it counts
    // on our side, so what is too much here is too much there.
    const busy = new Set<MxSession>()
    const counted =
      (act: (line: string) => Act, goesOn: string) => (line: string, session: MxSession) => {
        const answer = act(line)
        const said = typeof answer === 'object' && 'reply' in answer ? answer.reply : answer
        if (said === goesOn) busy.add(session)
        else busy.delete(session)
        for (const one of busy) if (one.closed) busy.delete(one)
        most.set(name, Math.max(most.get(name) ?? 0, busy.size))
        return answer
      }
    const { banner, mail = () => ok, rcpt = () => ok, data = () => go, dot = () => ok } = script
    return fakeMx(t, {
      host: sites[name].host,
      port: rig.mx.port,
      ...(banner && { banner }),
      mail: counted(mail, ok),
      rcpt: counted(rcpt, ok),
      data: counted(data, go),
      dot: counted(dot, 'never'),
    })
  }
  const gone = (line: string) => /gone/.test(line)
  const receivers = await Promise.all([
    open('steady', {}),
    open('flaky', {
      mail: flaky(ok),
      rcpt: (line) => (gone(line) ? '550 5.1.1 No such user' : flaky(ok)()),
      data: flaky(go),
      dot: flaky(ok),
    }),
    open('down', {
      banner: () => (age() > 5 * minuteMs && age() < 90 * minuteMs ? 'rst' : '220 down.mx.test'),
    }),
    open('strict', {
      mail: () => (chance(0.005) ? '451 4.3.2 too busy' : ok),
      // Several times what making a mail takes, also on a slow machine: as many are there at once as may be.
      data: () => ({ reply: go, delayMs: 100 }),
    }),
  ])
  return { receivers, most }
}

const ok = '250 ok'
const go = '354 go'
type Behaviour = Partial<Record<'mail' | 'rcpt' | 'data' | 'dot', (line: string) => Act>> & {
  banner?: () => Act
}

/** A campaign, then single mails over ten minutes, some of each to who is not there. */
async function sendAll(
  rig: OutboundRig,
  clock: FakeClock,
  random: () => number,
): Promise<string[]> {
  const accepted: string[] = []
  const address = (kind: string, i: number) => {
    const name = names[i % names.length]
    const local = random() < 0.03 ? `${kind}-gone${i}` : `${kind}${i}`
    return `${local}@${name}${Math.floor(random() * domainsPerSite)}.test`
  }
  const send = async (to: string, type?: 'marketing') => {
    accepted.push(to)
    await rig.send({ to, ...(type && { type }) })
  }
  for (let i = 0; i < campaign; i++) await send(address('campaign', i), 'marketing')
  // Nothing makes automation mail yet: some of the campaign stands in for it.
  await rig.store.write((tx) =>
    tx
      .updateTable('queue')
      .set({ class: 1 })
      .where('recipient', 'like', 'campaign1%')
      .where('lease', 'is', null)
      .execute(),
  )
  await rig.stop(0)
  await rig.start()
  for (let i = 0; i < singles; i++) {
    await send(address('single', i))
    if (i % 3 === 0) await pass(rig, clock, random)
  }
  return accepted
}

/** Lets what is under way end, then time go on: to the next thing due, or some seconds. */
async function pass(rig: OutboundRig, clock: FakeClock, random: () => number): Promise<void> {
  await rig.eventually(async () => (await leased(rig)) === 0)
  const { next } = await rig.store.read
    .selectFrom('queue')
    .select((eb) => eb.fn.min('due_at').as('next'))
    .executeTakeFirstOrThrow()
  const untilNext = Number(next ?? 0) - clock.now()
  await clock.advance(Math.max(untilNext, 1_000 + Math.floor(random() * 4_000)))
}

const waiting = async ({ store }: OutboundRig) =>
  Number(
    (
      await store.read
        .selectFrom('queue')
        .select((eb) => eb.fn.countAll().as('n'))
        .executeTakeFirstOrThrow()
    ).n,
  )

const firstAttempts = (rig: OutboundRig, like: string) =>
  rig.store.read
    .selectFrom('events')
    .innerJoin('emails', 'emails.id', 'events.email_id')
    .select(['events.class', 'events.at', 'emails.created_at as acceptedAt'])
    .where('events.type', '=', 'sent')
    .where('emails.to_list', 'like', like)
    .orderBy('events.id')
    .execute()

/** At a site that only its rate holds up, a single mail never waits for the campaign. */
async function showOrder(t: Test, rig: OutboundRig): Promise<void> {
  const attempts = await firstAttempts(rig, '%@steady%')
  const waits = (of: number) =>
    attempts.filter((row) => row.class === of).map(({ at, acceptedAt }) => at - acceptedAt)
  const slowest = Math.max(...waits(0))
  t.ok(slowest <= 10_000, `the slowest single mail waited ${slowest} ms`)
  const last = (of: number) =>
    Math.max(...attempts.filter((row) => row.class === of).map(({ at }) => at))
  t.ok(last(1) <= last(2), 'automation before campaign')
}

/** In no minute more than the rate and one burst. */
async function showRate(t: Test, rig: OutboundRig): Promise<void> {
  const { perMinute } = sites.steady
  const starts = (await firstAttempts(rig, '%@steady%')).map(({ at }) => at).sort((a, b) => a - b)
  const most = Math.max(
    ...starts.map((from, i) => starts.slice(i).filter((at) => at < from + minuteMs).length),
  )
  const burst = Math.ceil(perMinute / 60)
  t.ok(most <= perMinute + burst, `${most} in a minute`)
  t.ok(starts.length > 120)
}

function seeded(seed: number): () => number {
  let state = seed
  return () => {
    // Mulberry32.
    state = (state + 0x6d2b79f5) | 0
    let x = Math.imul(state ^ (state >>> 15), 1 | state)
    x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x
    return ((x ^ (x >>> 14)) >>> 0) / 4_294_967_296
  }
}
