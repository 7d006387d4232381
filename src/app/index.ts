import { makeLiveLimit, makeVersions, nextDueAt, noteAllBlocked } from '../automations/index.js'
import { loadPlans, refuseUnknownPlans } from '../billing/index.js'
import { campaignsWait } from '../broadcasts/index.js'
import { type Clock, pause, systemClock } from '../clock/index.js'
import { type Config, checkSmartHosts, isReachable, runtimeInUse } from '../config/index.js'
import { openImporter, removeDeletedLists } from '../contacts/index.js'
import {
  expireOverdue,
  joinBacklog,
  makeBacklogMemory,
  type StreamDue,
} from '../deliveries/index.js'
import { makeIdempotency } from '../emails/index.js'
import { exitStatus } from '../errors/index.js'
import type { Log } from '../log/index.js'
import { forgetPastEntries } from '../people/index.js'
import { loadBounceRules, loadFeedbackLoops } from '../reports/index.js'
import { emptyWal, makeTurns, migrateStore, openStore } from '../store/index.js'
import { liftExpired } from '../suppression/index.js'
import { openRenderer } from '../templates/index.js'
import { loadTrackingAgents, openRecorder } from '../tracking/index.js'
import { acmeChores } from './acme.js'
import { automationChores } from './automations.js'
import { type Calendar, calendarJobs, jobsOfCalendar, openCalendar } from './calendar.js'
import { certificatesOf } from './certificates.js'
import { makeObserver } from './conditions.js'
import { openControl } from './control.js'
import { importSlot, openCrew } from './crew.js'
import { makeDoorbell } from './doorbell.js'
import { makeEffects } from './effects.js'
import { openEnd } from './fault.js'
import {
  bounceRuleFiles,
  feedbackLoopFiles,
  plansFile,
  readAgain,
  trackingAgentFiles,
} from './files.js'
import { forwardingChores } from './forwarding.js'
import { type Health, openHealth } from './health.js'
import { type Hold, openHold } from './hold.js'
import { type Chore, startHousekeeping } from './housekeeping.js'
import { makeHttpsPeers, privateOverTls, publicOverTls } from './https.js'
import { openJobThreads } from './job-threads.js'
import { jobsOnDemand, startsOnDemand } from './jobs.js'
import { openPrivateServer, openPublicServer } from './listeners.js'
import { lockDataDir } from './lock.js'
import { openMetrics } from './metrics.js'
import { openSystemdNotifier } from './notify.js'
import { operatorChores, refuseUnknownKinds } from './operator.js'
import { operatorGauges } from './operator-gauges.js'
import { operatorWays } from './operator-ways.js'
import { openOverview } from './overview.js'
import { openOwnKey, rememberKey } from './own-database.js'
import { protectionChores } from './protection.js'
import { renewedCertificates } from './renewed-certificates.js'
import { holdOldMail } from './restore.js'
import { startWhenRoom } from './room.js'
import { countCommits, tellEveryMs } from './thread-meter.js'
import { watchLoop } from './watch-loop.js'
import { webhookChores } from './webhooks.js'

/**
 * The composition root: config → store → threads → listeners, and all of it stopped in reverse.
 * Nothing else knows every part; nothing here decides anything about mail.
 */
export { applianceKeyFile, configFile } from './files.js'
export { logOptions } from './thread.js'

export interface ApplianceOptions {
  config: Config
  dataDir: string
  /** The file that the settings were read from; backups take it along. */
  configFile?: string | undefined
  log: Log
  clock?: Clock
  /** Answers before all threads are there, which `complete` then starts: for the tests of users. */
  isLate?: boolean
}

export interface Appliance {
  privateUrl: string
  publicUrl: string
  sandboxSmtpPort?: number
  inboundSmtpPort?: number
  /** Of the public listener, without TLS. */
  publicPort: number
  /** Where HTTP is spoken over TLS, by the listener's name: `public`, `private`. */
  httpsPorts: Readonly<Record<string, number>>
  /** By the listener's name: `starttls`, `tls`, `plain`; none of one that is off. */
  submissionPorts: Readonly<Record<string, number>>
  /** Reads the files again that operators edit while it runs (SIGHUP). */
  reload(): void
  /** Resolves when all threads work, and rejects when one cannot start; to be called after `isLate`. */
  complete(): Promise<void>
  /** Stops accepting, finishes what is under way within the configured times, closes. */
  close(): Promise<void>
  /** Resolves when everything is closed. */
  closed: Promise<void>
}

/**
 * Starts the appliance as soon as its disk has room; undefined when it was told to stop before that.
 * Otherwise as `startAppliance`.
 */
export async function serveAppliance(
  options: ApplianceOptions,
  stopped: Promise<void>,
): Promise<Appliance | undefined> {
  const { dataDir, log, clock = systemClock } = options
  const notifier = openSystemdNotifier(process.env, log)
  const stopping = new AbortController()
  void stopped.then(() => stopping.abort())
  const { signal } = stopping
  try {
    const start = () => startAppliance(options)
    return await startWhenRoom(start, { dataDir, log, clock, notifier, signal })
  } finally {
    notifier.close()
  }
}

/** Starts the appliance on a data directory that `posthorn init` has made. */
export async function startAppliance(options: ApplianceOptions): Promise<Appliance> {
  const { config, configFile, dataDir, log } = options
  const clock = options.clock ?? systemClock
  const opened: (() => Promise<void> | void)[] = []
  const closeAll = async () => {
    for (let close = opened.pop(); close !== undefined; close = opened.pop()) await close()
  }
  try {
    // Opened first and so closed last: systemd hears of the drain while it lasts.
    const notifier = openSystemdNotifier(process.env, log)
    opened.push(() => notifier.close())
    checkSmartHosts(config.outbound.failover.smartHosts, process.env)
    checkSmartHosts(config.operator.relays, process.env)
    refuseUnknownKinds(config)
    opened.push(lockDataDir(dataDir))
    const hold = openHold(dataDir, clock, log)
    const key = openOwnKey(dataDir)
    emptyWal(dataDir)
    await migrateStore(dataDir)
    const turns = makeTurns()
    const metrics = openMetrics({
      ...{ enabled: config.metrics.enabled, dataDir, clock, backupDir: config.backup.dir },
    })
    const counts = countCommits(metrics.meter)
    const end = openEnd(log, dataDir)
    opened.push(() => end.close())
    const store = openStore({ dataDir, clock, turns, slot: 0, ...counts, onFault: end.now })
    opened.push(() => store.close())
    await rememberKey(store, key, dataDir)

    const land = makeEffects(config, dataDir)
    const certificates = certificatesOf('public', { config, dataDir, log })
    const httpsPeers = makeHttpsPeers(config)
    const readAgents = () => loadTrackingAgents(trackingAgentFiles(dataDir))
    const recorder = openRecorder({
      ...{ store, clock, log, land, agents: readAgents() },
      machineWithinMs: config.tracking.machineWithin,
    })
    // After the listener, whose last hits it writes.
    opened.push(() => recorder.close())
    const publicServer = await openPublicServer(options, {
      ...{ store, clock, key, metrics, recorder, hold, challenge: certificates.challenge },
      overTls: publicOverTls(options, httpsPeers, certificates),
    })
    opened.push(() => publicServer.close(config.http.shutdownGrace))
    const publicUrl = config.http.public.url || urlOf(config.http.public.host, publicServer.port)

    // The threads read them too; here a bad file stops the start with its problems.
    const plans = loadPlans(plansFile(dataDir))
    await refuseUnknownPlans(store.read, plans)
    loadBounceRules(bounceRuleFiles(dataDir))
    loadFeedbackLoops(feedbackLoopFiles(dataDir))
    await holdOldMail({ store, clock, log })
    await store.write(noteAllBlocked)
    const backlogMemory = makeBacklogMemory()
    const backlog = joinBacklog(backlogMemory)
    await backlog.recount(store.read)
    const shared = { turns, backlog: backlogMemory }
    // What comes while the threads start is found by their first look.
    let ringOfThreads: (due: readonly StreamDue[]) => void = () => {}
    const crew = await openCrew({
      ...{ config, dataDir, publicUrl, ...shared, log, clock, metrics, httpsPeers },
      onRing: (due) => ringOfThreads(due),
      isLate: options.isLate,
      isHeld: hold.isOn,
    })
    opened.push(() => crew.close())
    const { maxQueued } = config.outbound
    const { meter } = metrics
    const loop = watchLoop(meter, 'main')
    opened.push(() => loop.close())
    const health = openHealth({ store, clock, dataDir, crew, backlog, maxQueued, meter })
    const overview = openOverview({ clock, metrics, crew, health })
    const ring = makeDoorbell((due) => crew.ring(due))
    ringOfThreads = ring

    const jobThreads = openJobThreads({
      ...{ config, configFile, dataDir, ...shared, log, clock, metrics, ring },
      threads: [...jobsOnDemand, ...jobsOfCalendar],
    })
    opened.push(() => jobThreads.close())
    const jobs = startsOnDemand(jobThreads, log, () => automateIfDue())
    // Requests ask for it, so that one look serves all that ask while it is under way, and one more after it.
    let looking = false
    let lookAgain = false
    const automateIfDue = () => {
      lookAgain = looking
      if (looking) return
      looking = true
      nextDueAt(store.read)
        .then((dueAt) => {
          if (dueAt !== undefined && dueAt <= clock.now()) jobs.automate()
        })
        .catch((error: unknown) => log.error({ error }, 'Automations wait'))
        .finally(() => {
          looking = false
          if (lookAgain) automateIfDue()
        })
    }
    const renderer = openRenderer({ log, clock, whenAsked: options.isLate === true })
    opened.push(() => renderer.close())
    const importer = openImporter({ config, dataDir, turns, slot: importSlot, log })
    opened.push(() => importer.close())
    const idempotency = makeIdempotency({ store, clock })
    const versions = makeVersions()
    const { maxLiveRuns } = config.automations
    const isLimited = makeLiveLimit(maxLiveRuns)
    const isFull = () => isLimited(store.read, clock.now())
    const chores: Chore[] = [
      { name: 'expired idempotency keys', everyMs: 600_000, run: idempotency.sweep },
      {
        name: 'sessions and links of people that are over',
        everyMs: 600_000,
        run: () => store.write((tx) => forgetPastEntries(tx, clock.now())),
      },
      {
        name: 'deleted lists',
        everyMs: 10_000,
        run: (stop) => removeDeletedLists({ store, clock, log }, stop),
      },
      {
        name: 'expired deliveries',
        everyMs: 30_000,
        run: (stop) =>
          expireOverdue({ store, clock, log, backlog, land, gateOf: crew.gateOf }, stop),
      },
      {
        name: 'campaigns that wait',
        everyMs: 5_000,
        async run() {
          if (await campaignsWait({ store, clock })) jobs.expand()
        },
      },
      {
        name: 'expired suppressions',
        everyMs: 60_000,
        run: (stop) => liftExpired({ store, clock, log }, stop),
      },
      ...automationChores({
        ...{ store, clock, plans, versions, isFull },
        meter: metrics.meter,
        automate: jobs.automate,
      }),
      ...forwardingChores({ store, clock, log, config, backlog, ring }),
      ...operatorChores({
        ...{ store, clock, log, config, backlog, ring },
        observe: makeObserver({ store, clock, config, dataDir, crew, backlog }),
        ways: operatorWays({ config, clock, env: process.env }),
      }),
      ...protectionChores({ store, clock, log, config, meter: metrics.meter }),
      { name: 'own event loop', everyMs: tellEveryMs, run: async () => loop.read() },
      ...health.chores,
      overview.chore,
      ...operatorGauges({ store, clock, config, dataDir, backlog, meter }),
      ...renewedCertificates(config, log, () => {
        certificates.reload()
        crew.reload()
      }),
      ...acmeChores({
        ...{ store, clock, config, dataDir, log, meter, certificates },
        reload: () => crew.reload(),
        renew: () => void calendar?.runNow('certificates'),
      }),
      ...webhookChores({ store, clock, log }),
    ]
    let housekeeping: ReturnType<typeof startHousekeeping> | undefined
    opened.push(() => housekeeping?.stop())
    let calendar: Calendar | undefined
    opened.push(async () => {
      const closed = calendar?.close()
      await jobThreads.close()
      await closed
    })
    const runNow: Calendar['runNow'] = (name) => calendar?.runNow(name)
    const control = await openControl(dataDir, log, crew, { runNow }, overview.tell)
    opened.push(() => control.close())
    // Last, and so closed first: nothing is asked for while its parts are closing.
    const privateServer = await openPrivateServer(options, {
      store,
      key,
      clock,
      metrics,
      ring,
      backlog,
      health,
      hold,
      plans,
      gateOf: crew.gateOf,
      publicUrl,
      land,
      running: { overview: overview.tell, gateOf: crew.gateOf, retry: crew.retry, runJob: runNow },
      renderer,
      importer,
      idempotency,
      expand: jobs.expand,
      automate: jobs.automate,
      automateIfDue,
      versions,
      isFull,
      liveLimit: makeLiveLimit(maxLiveRuns),
      overTls: privateOverTls(dataDir, httpsPeers),
    })
    opened.push(() => privateServer.close(config.http.shutdownGrace))
    const begin = async () => {
      housekeeping = startHousekeeping(clock, log, chores)
      calendar = await openCalendar({
        ...{ store, clock, log, meter: metrics.meter, threads: jobThreads },
        ...{ jobs: calendarJobs(config.jobs), zone: config.jobs.zone },
      })
      // What a stop or a kill has left half done.
      if (await campaignsWait({ store, clock })) jobs.expand()
      automateIfDue()
    }
    if (hold.isOn) {
      health.become('held')
      const begun = beginWhenLifted(hold, {
        ...{ health, log },
        async begin() {
          await crew.complete()
          await begin()
        },
      })
      opened.push(async () => {
        hold.close()
        await begun
      })
    } else await begin()

    notifier.ready()
    if (options.isLate !== true && !hold.isOn) health.become('running')
    notifier.startWatchdog(() => crew.healthy())

    const { private: httpsPort } = crew.httpsPorts
    const { host: privateHost } = config.http.private
    const privateUrl =
      httpsPort === undefined
        ? urlOf(privateHost, privateServer.port)
        : urlOf(privateHost, httpsPort, 'https')
    const smtp = Object.entries({ inbound: crew.inboundPort, ...crew.submissionPorts })
    overview.listensAt([
      { name: 'API', at: privateUrl },
      { name: 'public', at: publicUrl },
      ...smtp.flatMap(([name, port]) => (port === undefined ? [] : [{ name, at: `port ${port}` }])),
    ])
    log.info(
      {
        ...{
          privateUrl,
          publicUrl,
          route: config.outbound.route,
          sandboxSmtpPort: crew.sandboxPort,
        },
        runtime: runtimeInUse().name,
      },
      'Posthorn is up',
    )
    if (!isReachable(config)) {
      log.warn(
        { publicUrl },
        'http.public.url is not set: links in marketing mail lead nowhere, and opens and clicks are not tracked',
      )
    }
    return {
      privateUrl,
      publicUrl,
      ...(crew.sandboxPort === undefined ? {} : { sandboxSmtpPort: crew.sandboxPort }),
      ...(crew.inboundPort === undefined ? {} : { inboundSmtpPort: crew.inboundPort }),
      submissionPorts: crew.submissionPorts,
      publicPort: publicServer.port,
      httpsPorts: crew.httpsPorts,
      async complete() {
        await crew.complete()
        health.become('running')
      },
      reload() {
        log.info({}, 'Reading files again')
        certificates.reload()
        crew.reload()
        readAgain(log, readAgents, recorder.useAgents)
      },
      ...closing({
        ...{ log, notifier, closeAll },
        async announce() {
          health.become('stopping')
          const { shutdownNotice } = config.http
          if (shutdownNotice > 0) await pause(clock, shutdownNotice)
        },
      }),
    }
  } catch (error) {
    await closeAll()
    throw error
  }
}

/** What a start that an upgrade holds has left for later. One that fails then ends the process, and systemd starts another. */
async function beginWhenLifted(
  hold: Hold,
  { health, log, begin }: { health: Health; log: Log; begin: () => Promise<void> },
): Promise<void> {
  const isHealthy = async () => {
    const reasons = [...(await health.unhealthy()), ...(await health.unready())]
    return reasons.every(({ what }) => what === 'held')
  }
  try {
    if (!(await hold.over(isHealthy))) return
    await begin()
    health.become('running')
    log.info({}, 'The upgrade is over: mail is taken and sent')
  } catch (error) {
    log.error({ error }, 'The start could not be completed')
    process.exit(exitStatus.failed)
  }
}

/** `close` runs once, however often it is called. */
function closing({
  log,
  notifier,
  announce,
  closeAll,
}: {
  log: Log
  notifier: { stopping(): void }
  /** Says that the end comes, and waits until those have heard it who are to send no more. */
  announce: () => Promise<void>
  closeAll: () => Promise<void>
}): Pick<Appliance, 'close' | 'closed'> {
  let announceClosed = () => {}
  const closed = new Promise<void>((resolve) => {
    announceClosed = resolve
  })
  const stop = async () => {
    log.info({}, 'Stopping')
    notifier.stopping()
    await announce()
    await closeAll()
    log.info({}, 'Stopped')
    announceClosed()
  }
  let stopped: Promise<void> | undefined
  return {
    closed,
    close() {
      stopped ??= stop()
      return stopped
    },
  }
}

const urlOf = (host: string, port: number, scheme = 'http') =>
  `${scheme}://${host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host}:${port}`
