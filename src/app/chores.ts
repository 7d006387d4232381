import { datesDueAt, runsAfterSetBack } from '../automations/index.js'
import { campaignsDueAt, finishCourses } from '../broadcasts/index.js'
import { type Certificates, certificatesAfterSetBack } from '../certificates/index.js'
import { removeDeletedLists } from '../contacts/index.js'
import { dueAfterSetBack, expireOverdue } from '../deliveries/index.js'
import { checkNewDomains, checkRotations, recordSettings } from '../domains/index.js'
import { forgetPastEntries } from '../people/index.js'
import { segmentsDueAt } from '../segments/index.js'
import { liftExpired } from '../suppression/index.js'
import { announceDisabled } from '../webhooks/index.js'

import { automationChores } from './automations.js'
import type { Calendar } from './calendar.js'
import { certificateChores } from './certificate-chores.js'
import { makeObserver } from './conditions.js'
import { forwardingChores } from './forwarding.js'
import type { Ground } from './ground.js'
import { setAlive } from './health.js'
import type { Chore } from './housekeeping.js'
import { operatorChores } from './operator.js'
import { operatorGauges } from './operator-gauges.js'
import { operatorWays } from './operator-ways.js'
import { protectionChores } from './protection.js'
import { reserveChore } from './reserve.js'
import { openResolver } from './resolver.js'
import { type DutyHooks, severalChores } from './several.js'
import { surgeChores } from './surges.js'

import { tellEveryMs } from './thread-meter.js'
import type { Tools, Work } from './work.js'

interface Deps {
  ground: Ground
  work: Work
  tools: Tools
  certificates: Certificates
  /** Starts a job of the calendar now. */
  runNow: Calendar['runNow']
  /** What begins and ends with the duties of this appliance. */
  duties: DutyHooks
}

/** Everything small that recurs on the main thread: it sweeps what has ended, starts what is due, shows figures. */
export function choresOf({ ground, work, tools, certificates, runNow, duties }: Deps): Chore[] {
  const { config, dataDir, plans, log, clock, store, metrics } = ground
  const { backlog, crew, loop, health, overview, ring, jobs } = work
  const { meter } = metrics
  return [
    ...severalChores(ground, { ...work, imports: tools.imports }, duties),
    ...sweeps(ground, work, tools),
    {
      name: 'campaigns that wait',
      of: 'expand',
      everyMs: 5_000,
      rests: true,
      async run() {
        const at = await campaignsDueAt({ store, clock })
        if (at !== undefined && at <= clock.now()) jobs.heard.expand()
        return at
      },
    },
    {
      name: 'pauses, resumes and cancels of campaigns that were broken off',
      of: 'chores',
      everyMs: 2_000,
      rests: true,
      run: async (stop) => again(await finishCourses({ store, clock, log }, stop)),
    },
    {
      name: 'segments that are to be looked at',
      of: 'segments',
      everyMs: 1_000,
      rests: true,
      async run() {
        const [segments, dates] = await Promise.all([
          segmentsDueAt({ store, clock }),
          datesDueAt({ store, clock }),
        ])
        const at = Math.min(segments ?? never, dates ?? never)
        if (at <= clock.now()) jobs.keepSegments()
        return at
      },
    },
    ...automationChores({
      ...tools,
      store,
      clock,
      log,
      meter,
      automate: jobs.automate,
      automateHere: jobs.heard.automate,
    }),
    ...forwardingChores({ store, clock, log, config, backlog, ring }),
    ...operatorChores({
      store,
      clock,
      log,
      config,
      backlog,
      ring,
      observe: makeObserver({ store, clock, config, dataDir, plans, crew, backlog }),
      ways: operatorWays({ config, clock, env: process.env }),
      nodeName: ground.ownNode.joins ? ground.ownNode.held.name : undefined,
    }),
    // A trial may lie in memory, and nothing of it is worth a reserve; a server's disk is not ours.
    ...(config.outbound.route === 'sandbox' || config.store.url !== ''
      ? []
      : [reserveChore({ dataDir, clock, log, backlog, runNow })]),
    ...protectionChores({ store, clock, log, config, meter }),
    ...surgeChores({
      store,
      clock,
      log,
      config,
      backlog,
      ring,
      land: ground.land,
      look() {
        crew.retry([])
        work.nodes.tell({ retry: [] })
      },
    }),
    { name: 'own event loop', of: 'node', everyMs: tellEveryMs, run: async () => loop.read() },
    // At once, since somebody may be waiting for the first webhook of an appliance.
    { name: 'first endpoint', of: 'node', everyMs: 1_000, run: crew.startWhatIsMissing },
    { name: 'checkpoint thread', of: 'node', everyMs: 1_000, run: crew.restOrWake },
    ...health.chores,
    overview.chore,
    ...operatorGauges({ store, clock, config, dataDir, backlog, meter }),
    {
      name: 'domains that were added, and new keys of others',
      of: 'chores',
      everyMs: 120_000,
      async run(signal) {
        const resolver = openResolver(config.dns, clock)
        const settings = recordSettings(config, ground.others)
        await checkNewDomains({ store, clock, log, resolver, settings, signal })
        await checkRotations({ store, clock, log, resolver, signal })
      },
    },
    ...certificateChores({
      store,
      clock,
      config,
      dataDir,
      log,
      meter,
      certificates,
      reload: () => crew.reload(),
      key: ground.key,
      renew: () => void runNow('certificates'),
    }),
    {
      name: 'notices of webhooks',
      of: 'chores',
      everyMs: 5_000,
      rests: true,
      run: (stop) => announceDisabled({ store, clock, log }, stop),
    },
  ]
}

const never = Number.POSITIVE_INFINITY

/** Work under way may be broken off without a commit: a chore that rests runs at its next turn. */
const again = (isUnderWay: boolean) => (isUnderWay ? 0 : undefined)

/** Sweeps what is over and would pile up. */
function sweeps(
  { log, clock, config, store, land, lastAliveAt }: Ground,
  { backlog, crew }: Work,
  { idempotency, imports, bulk, erasures, takeOuts }: Tools,
): Chore[] {
  return [
    { name: 'expired idempotency keys', of: 'chores', everyMs: 600_000, run: idempotency.sweep },
    {
      name: 'sessions and links of people that are over',
      of: 'chores',
      everyMs: 600_000,
      run: () => store.write((tx) => forgetPastEntries(tx, clock.now())),
    },
    {
      name: 'deleted lists',
      of: 'chores',
      everyMs: 10_000,
      rests: true,
      run: (stop) => removeDeletedLists({ store, clock, log }, stop),
    },
    {
      name: 'imports that were broken off, and files that nobody imports',
      of: 'node',
      everyMs: 10_000,
      rests: true,
      run: async (stop) => again(await imports.resume(stop)),
    },
    {
      name: 'work with contacts that was broken off',
      of: 'chores',
      everyMs: 10_000,
      rests: true,
      run: async () => again(await bulk.resume()),
    },
    {
      name: 'erasures that were broken off',
      of: 'chores',
      everyMs: 10_000,
      rests: true,
      run: async () => again(await erasures.resume()),
    },
    {
      name: 'work with people of automations that was broken off',
      of: 'chores',
      everyMs: 10_000,
      rests: true,
      run: async () => again(await takeOuts.resume()),
    },
    {
      name: 'expired deliveries',
      of: 'node',
      everyMs: 30_000,
      run: (stop) => expireOverdue({ store, clock, log, backlog, land, gateOf: crew.gateOf }, stop),
    },
    afterSetBack({ store, clock, config, log, lastAliveAt }, crew),
    {
      name: 'expired suppressions',
      of: 'chores',
      everyMs: 60_000,
      run: (stop) => liftExpired({ store, clock, log }, stop),
    },
  ]
}

// Time servers set a clock back by less than this all the time; no mail waits much longer because of it.
const setBackMs = 60_000

/**
 * What a clock that was ahead has put off does not wait until that time, whether the clock is set back while the
 * appliance runs or while it is down.
 */
function afterSetBack(
  {
    store,
    clock,
    config,
    log,
    lastAliveAt,
  }: Pick<Ground, 'store' | 'clock' | 'config' | 'log' | 'lastAliveAt'>,
  crew: Pick<Work['crew'], 'retry'>,
): Chore {
  let latest = Math.max(clock.now(), lastAliveAt)
  let noted = lastAliveAt
  const waits = Object.values(config.outbound.retry).flatMap(({ schedule }) => schedule)
  // Twice, because jitter is added.
  const longestMs = 2 * Math.max(...waits)
  // A kill soon after the clock went ahead left no note of that: only the mail tells.
  let isStart = true
  return {
    name: 'what was put off by a clock that was ahead',
    of: 'node',
    // If a clock goes ahead and back between two looks, nobody notices, and what it has put off waits.
    everyMs: 1_000,
    async run(stop) {
      const backMs = latest - clock.now()
      if (backMs < setBackMs && !isStart) {
        latest = Math.max(latest, clock.now())
        if (latest - noted < setBackMs) return
        // Noted soon after a jump forward, for a start that finds the clock set back: the checks of health write more
        // seldom.
        noted = latest
        // Over a server the signs of life note it.
        if (config.store.url === '') await store.write((tx) => setAlive(tx, latest))
        return
      }
      const deliveries = await dueAfterSetBack({ store, clock, longestMs }, stop)
      // No domain is named: the threads look through the queue.
      if (deliveries > 0) crew.retry([])
      const isBack = backMs >= setBackMs || deliveries > 0
      const runs = isBack ? await runsAfterSetBack({ store, clock }, stop) : 0
      if (isBack) await certificatesAfterSetBack({ store, clock })
      if (stop.aborted) return
      // Only now: a walk that failed, or that a stop cut off, is done again, even after the next start.
      const now = clock.now()
      await store.write((tx) => tx.updateTable('appliance').set({ alive_at: now }).execute())
      latest = now
      noted = now
      isStart = false
      if (!isBack) return
      log.warn(
        { backMs, deliveries, runs },
        'The clock was set back; what it had put off is due now',
      )
    },
  }
}
