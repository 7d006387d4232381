import { noteAllBlocked } from '../automations/index.js'
import { pause, systemClock } from '../clock/index.js'
import { makeNodeMemory, type NodeMemory } from '../dashboard/index.js'
import type { GateOf } from '../deliveries/index.js'
import { exitStatus } from '../errors/index.js'
import type { Log } from '../log/index.js'
import { makeAnswers } from './answers.js'
import { openControl } from './control.js'
import { openFront } from './front.js'
import { type ApplianceOptions, type Ground, openGround } from './ground.js'
import type { Health } from './health.js'
import { hearOthers } from './hear-others.js'
import type { Hold } from './hold.js'
import { privateOverTls } from './https.js'
import { inviteNode } from './invite-node.js'
import { openMailRules } from './mail-rules.js'
import { openSystemdNotifier, type SystemdNotifier } from './notify.js'
import { openPrivateServer } from './private-listener.js'
import { gateIn } from './questions.js'
import { makeRecurring } from './recurring.js'
import { holdOldMail } from './restore.js'
import { startWhenRoom } from './room.js'
import { settleSentBefore } from './settle-sent.js'
import { closing, makeWayBack, type WayBack } from './way-back.js'
import { tellWhere } from './where.js'
import { openTools, startWork, type Work } from './work.js'

/**
 * The composition root: config → store → threads → listeners, and all of it stopped in reverse (README.md).
 * Nothing else knows every part; nothing here decides anything about mail.
 */
export { applianceKeyFile, configFile } from './files.js'
export type { ApplianceOptions } from './ground.js'
export { logOptions } from './thread.js'

export interface Appliance {
  privateUrl: string
  publicUrl: string
  sandboxSmtpPort?: number
  inboundSmtpPort?: number
  /** The port of the public listener, without TLS. */
  publicPort: number
  /** Where HTTP is spoken over TLS, by the listener's name: `public`, `private`. */
  httpsPorts: Readonly<Record<string, number>>
  /** By the listener's name: `starttls`, `tls`, `plain`; a listener that is off is left out. */
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
 * Starts the appliance as soon as its disk has room; undefined when it was told to stop before that. Otherwise it does
 * what `startAppliance` does.
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
    return await startWhenRoom(start, {
      dataDir,
      isOnServer: options.config.store.url !== '',
      log,
      clock,
      notifier,
      signal,
    })
  } finally {
    notifier.close()
  }
}

/**
 * Starts the appliance on a data directory that `posthorn init` has made. Each step adds its way back. A stop goes back
 * from the last step to the first, and a start that fails goes back from as far as it came.
 */
export async function startAppliance(options: ApplianceOptions): Promise<Appliance> {
  const back = makeWayBack()
  const { config, log, isLate = false } = options
  try {
    // Opened first and so closed last: systemd hears of the drain while it lasts.
    const notifier = openSystemdNotifier(process.env, log)
    back.add(() => notifier.close())
    const ground = await openGround(options, back)
    const { hold, clock } = ground
    const front = await openFront(ground, back)
    const files = openMailRules(ground)
    await settlePast(ground)
    const work = await startWork(ground, { ...front, mailRules: files.mailRules }, back)
    const { crew, health } = work
    front.recordBy(crew.recordHits)
    const tools = openTools(ground, { ...work, desk: front.desk }, back)
    const recurring = makeRecurring({ ground, front, work, tools }, back)
    const { runNow } = recurring
    const { email, marketing } = ground.plans
    const planIds = [...email, ...marketing].map(({ id }) => id)
    const overview = work.overview.tell
    const { nodes } = work
    const memory: NodeMemory = makeNodeMemory(
      ground.store.node.number,
      async (node, kept) => (await answers.any({ node, kept })).kept,
    )
    const asked = { crew, runNow, overview, planIds, memory }
    const answers = makeAnswers({ ...ground, ...asked, ring: nodes })
    hearOthers(ground, work, answers)
    const gateOf: GateOf = async (stream, node) =>
      gateIn(await answers.any({ gateOf: stream, node }))
    const control = await openControl(options.dataDir, log, answers)
    back.add(() => control.close())
    // Opened last and so closed first: nothing is asked for while its parts are closing.
    const privateServer = await openPrivateServer(ground, {
      ...ground,
      ...work,
      ...tools,
      ...work.jobs,
      publicUrl: front.publicUrl,
      forms: front.forms,
      openDesk: front.openDesk,
      openArchive: front.openArchive,
      ringOthers: (due) => work.nodes.tell({ due }),
      gateOf,
      memory,
      overTls: privateOverTls(ground, front.httpsPeers),
      running: {
        overview,
        gateOf,
        retry: (retry) => void answers.any({ retry }),
        runJob: async (runJob) =>
          (await answers.any({ runJob, wait: false })).job ?? { kind: 'unknown' },
        inviteNode: async (at) => await inviteNode(ground, at),
      },
    })
    back.add(() => privateServer.close(config.http.shutdownGrace))
    if (hold.isOn) beginWhenLifted(hold, { log, work, notifier, begin: recurring.begin }, back)
    else await recurring.begin()
    notifier.ready()
    if (!isLate && !hold.isOn) health.become('running')
    notifier.startWatchdog(() => crew.healthy())
    const ports = tellWhere(ground, front, work, privateServer)
    return {
      ...ports,
      async complete() {
        await crew.complete()
        health.become('running')
      },
      reload() {
        log.info({}, 'Reading files again')
        front.reload()
        files.reload()
        crew.reload()
      },
      ...closing({
        log,
        notifier,
        closeAll: back.go,
        async announce() {
          health.become('stopping')
          const { shutdownNotice } = config.http
          if (shutdownNotice > 0) await pause(clock, shutdownNotice)
        },
      }),
    }
  } catch (error) {
    await back.go()
    throw error
  }
}

/**
 * Before any thread may send: settles mail that is known to have left, holds mail of the past, and marks runs whose
 * account may not go on.
 */
async function settlePast(ground: Ground): Promise<void> {
  const { store, clock, log, ownNode } = ground
  if (ownNode.isOnServer) await settleSentBefore(ground)
  // Others have seen to that, and what waits is under way with them.
  if (!ownNode.held.isFirst) return
  await holdOldMail({ store, clock, log })
  await store.write(noteAllBlocked)
}

interface HeldStart {
  log: Log
  work: Work
  notifier: SystemdNotifier
  begin(): Promise<void>
}

/**
 * Does what a start that an upgrade holds has left for later. If that fails the process ends, and systemd starts
 * another.
 */
function beginWhenLifted(
  hold: Hold,
  { log, work, notifier, begin }: HeldStart,
  back: WayBack,
): void {
  const { crew, health } = work
  health.become('held')
  const begun = (async () => {
    try {
      if (!(await hold.over(() => reasonsOf(health), notifier.status))) return
      notifier.status('Running')
      await crew.complete()
      await begin()
      health.become('running')
      log.info({}, 'The upgrade is over: mail is taken and sent')
    } catch (error) {
      log.error({ error }, 'The start could not be completed')
      process.exit(exitStatus.failed)
    }
  })()
  back.add(async () => {
    hold.close()
    await begun
  })
}

const reasonsOf = async (health: Health) => [
  ...(await health.unhealthy()),
  ...(await health.unready()),
]
