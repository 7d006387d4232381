import { counted } from '../amounts/index.js'
import type { Broadcast } from '../broadcasts/index.js'
import { dayNumber, utcTime } from '../clock/index.js'
import type { Config } from '../config/index.js'
import type { RehearsalPlan, RehearsedSite, SiteUsual } from '../outbound/index.js'
import { queueClass, type Read } from '../store/index.js'
import { type AudienceSite, otherDomains } from './sites.js'
import { waitingFor } from './waiting.js'

/** All that a run depends on, except its time and its pool. */
export interface RehearsalFacts {
  sites: readonly (Omit<RehearsedSite, 'sources' | 'held'> & {
    lanes: readonly string[]
    putsOffMs: number | undefined
  })[]
  learned: Awaited<ReturnType<typeof readAll>>['learned']
  brakes: Awaited<ReturnType<typeof readAll>>['brakes']
  orders: Awaited<ReturnType<typeof readAll>>['orders']
  warmUp: RehearsalPlan['warmUp']
  outbound: Config['outbound']
  accountId: string
}

// How long an attempt takes at a site about which too little is known.
const unknownMs = 800
// The built-in inbox is on this machine, and its time is not measured.
const insideMs = 50
const leastTried = 50
// The rate of two threads of a small machine (`notes/performance.md`): signed twice, 10 KB.
const perSecond = 500
const usualDays = 14

/** Reads what is known about the sites, and what waits before the campaign. */
export async function readFacts(
  read: Read,
  draft: Broadcast,
  of: {
    people: number
    sites: readonly AudienceSite[]
    node: number
    outbound: Config['outbound']
    now: number
  },
): Promise<RehearsalFacts> {
  const { people, sites: found, node, outbound, now } = of
  const { reasonOf, shardOf, shareOf, usualsSince } = await import('../outbound/index.js')
  const usuals = await usualsSince(read, dayNumber(now) - usualDays)
  const usualMs = attemptMsOf(sumOf([...usuals.values()]), unknownMs)
  const { threads } = outbound
  const accountId = draft.account_id
  const sites: RehearsalFacts['sites'][number][] = []
  for (const { name, policy, shares, putsOffMs } of found) {
    const isOthers = name.key === otherDomains
    const usual = usuals.get(name.key)
    const unknown = outbound.route === 'sandbox' ? insideMs : usualMs
    const byThread = new Map<number, [string, number][]>()
    for (const one of shares) {
      const thread = shardOf(one[0], threads)
      byThread.set(thread, [...(byThread.get(thread) ?? []), one])
    }
    for (const [thread, domains] of byThread) {
      const mails = Math.round(domains.reduce((sum, [, share]) => sum + share, 0) * people)
      if (mails === 0) continue
      const lanes = isOthers ? [] : domains.map(([domain]) => domain)
      sites.push({
        key: name.key,
        thread,
        mails,
        lanes,
        putsOffMs,
        ...(await waitingFor(read, { accountId, node, lanes })),
        policy: shareOf(policy, { thread, threads }),
        says: {
          rate: reasonOf(
            `${counted(policy.messagesPerMinute, 'message')} a minute from each address`,
            policy.from.messagesPerMinute,
          ),
          connections: reasonOf(
            `${counted(policy.connections, 'connection')} at once from each address`,
            policy.from.connections,
          ),
        },
        attemptMs: usual === undefined ? unknown : attemptMsOf(usual, unknown),
        deferred:
          usual === undefined || usual.tried < leastTried ? 0 : usual.deferred / usual.tried,
      })
    }
  }
  return { sites, outbound, accountId, ...(await readAll(read, outbound, now)) }
}

const attemptMsOf = ({ tried, busy_ms }: SiteUsual, otherwise: number) =>
  tried < leastTried || busy_ms === 0 ? otherwise : Math.max(1, busy_ms / tried)

function sumOf(usuals: readonly SiteUsual[]): SiteUsual {
  const sum = { tried: 0, delivered: 0, deferred: 0, blocked: 0, complained: 0, busy_ms: 0 }
  for (const one of usuals) {
    sum.tried += one.tried
    sum.busy_ms += one.busy_ms
  }
  return sum
}

/** What is in force at any site, and how warm our addresses are. */
async function readAll(read: Read, outbound: Config['outbound'], now: number) {
  const { isWarmedUp, listSources, openBrakes, openOrders, readLearned } = await import(
    '../outbound/index.js'
  )
  return {
    learned: await readLearned(read),
    brakes: await openBrakes(read),
    orders: await openOrders(read, now),
    warmUp: isWarmedUp(outbound)
      ? new Map((await listSources(read)).map(({ address, ...state }) => [address, state]))
      : undefined,
  }
}

/** The plan of one run: from that pool (undefined: the usual one), at that time. */
export async function planOf(
  facts: RehearsalFacts,
  run: Pick<RehearsalPlan, 'startsAt' | 'leavesAt' | 'opensAt'> & { pool?: string | undefined },
): Promise<RehearsalPlan> {
  const { makeEgressPools, orderInWords } = await import('../outbound/index.js')
  const { outbound, accountId, learned, brakes, orders, warmUp } = facts
  const { pool: named, startsAt, leavesAt, opensAt } = run
  const poolOf = makeEgressPools(outbound)
  const sites = facts.sites.map(({ lanes, putsOffMs, ...site }): RehearsedSite => {
    const meant = orders.filter(
      ({ site: of, account_id: account, class: klass }) =>
        (of === site.key || lanes.includes(of)) &&
        (account === null || account === accountId) &&
        (klass === null || klass === queueClass.campaign),
    )
    const moved = meant.find(({ kind }) => kind === 'pool')?.pool ?? undefined
    const pool = poolOf.named(named ?? moved ?? '') ?? poolOf(accountId, queueClass.campaign)
    const hold = meant.find(({ kind }) => kind === 'hold')
    const sources = pool.turns.map(({ name }) => ({
      name,
      learned: learned.find(
        (row) => row.site === site.key && row.source === name && row.thread === site.thread,
      )?.learned,
      brake:
        brakes.find((row) => row.site === site.key && row.source === pool.name) ??
        brakes.find((row) => row.site === site.key && row.source === ''),
    }))
    const putOff = putsOffMs === undefined ? undefined : simulated(startsAt + putsOffMs)
    const held = hold === undefined ? putOff : { until: hold.until, why: orderInWords(hold) }
    return { sources, held, ...site }
  })
  return {
    startsAt,
    leavesAt,
    opensAt,
    sites,
    warmUp,
    maxConnections: outbound.maxConnections,
    threads: outbound.threads,
    perSecond,
    retries: outbound.retry.campaign.schedule,
  }
}

const simulated = (until: number) => ({
  until,
  why: `the simulator's provider puts all mail off until ${utcTime(until)}; the brake on what comes afterwards is not foreseen`,
})
