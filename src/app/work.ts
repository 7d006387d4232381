import {
  makeFollowContacts,
  makeLiveLimit,
  makeTakeOuts,
  makeVersions,
  tooManyRuns,
} from '../automations/index.js'
import { hasRoomForCampaigns } from '../broadcasts/index.js'
import { type AskFirst, makeBulkTasks, makeImportTasks, openImporter } from '../contacts/index.js'
import { joinBacklog, makeBacklogMemory, type StreamDue } from '../deliveries/index.js'
import { makeIdempotency } from '../emails/index.js'
import { makeErasures } from '../erasure/index.js'
import { ApiError } from '../errors/index.js'
import { holds } from '../nodes/index.js'
import { sinceCommit } from '../store/index.js'
import { openRenderer } from '../templates/index.js'
import { hasEndpoints } from '../webhooks/index.js'
import { jobsOfCalendar } from './calendar.js'
import { lookForCheckpointWork } from './checkpoint-work.js'
import { type CrewOptions, openCrew } from './crew.js'
import type { Ground } from './ground.js'
import { openHealth } from './health.js'
import { openJobThreads } from './job-threads.js'
import { jobsOnDemand, startsOnDemand } from './jobs.js'
import { openOverview } from './overview.js'
import { openRing } from './ring.js'
import { giveBackMemory } from './thread-heap.js'
import { watchLoop } from './thread-meter.js'
import { writeSlots } from './thread-roster.js'
import type { WayBack } from './way-back.js'

export type Work = Awaited<ReturnType<typeof startWork>>

/** Starts the worker threads, and what watches and wakes them. Rejects when one of them cannot start. */
export async function startWork(
  ground: Ground,
  {
    publicUrl,
    httpsPeers,
    agents,
    mailRules,
  }: Pick<CrewOptions, 'publicUrl' | 'httpsPeers' | 'agents' | 'mailRules'>,
  back: WayBack,
) {
  const { config, configFile, dataDir, plans, log, clock, store, metrics, hold, isLate } = ground
  const { meter } = metrics
  // In shared memory, as every request that brings mail asks whether the queue is full; counted before anybody asks.
  const backlogMemory = makeBacklogMemory()
  const backlog = joinBacklog(backlogMemory)
  await backlog.recount(store)
  const shared = { plans, turns: ground.turns, backlog: backlogMemory }
  // The threads' first look finds what comes while they start.
  let ringOfThreads: (due: readonly StreamDue[]) => void = () => {}
  const crew = await openCrew({
    config,
    dataDir,
    publicUrl,
    ...shared,
    log,
    clock,
    metrics,
    httpsPeers,
    isLate,
    agents,
    mailRules,
    onRing: (due) => ringOfThreads(due),
    isHeld: hold.isOn,
    // Asked every second until there is an endpoint; without a commit since the last time the answer is the same.
    hasEndpoints: sinceCommit(store, () => hasEndpoints(store.read)),
    isCourierHere: () => holds(store.node, 'courier'),
    hasCheckpointWork: lookForCheckpointWork({ store, clock, backlog }),
  })
  back.add(() => crew.close())
  const loop = watchLoop(meter, 'main', () => giveBackMemory(store))
  back.add(() => loop.close())
  const { maxQueued } = config.outbound
  const health = openHealth({
    store,
    clock,
    dataDir,
    crew,
    backlog,
    maxQueued,
    meter,
    isOnServer: config.store.url !== '',
  })
  const overview = openOverview({
    clock,
    metrics,
    crew,
    health,
    hasRoomForCampaigns: () => hasRoomForCampaigns(backlog, maxQueued),
  })
  const ring = makeDoorbell((due) => crew.ring(due))
  ringOfThreads = ring
  const jobThreads = openJobThreads({
    config,
    configFile,
    dataDir,
    ...shared,
    log,
    clock,
    metrics,
    ring,
    threads: [...jobsOnDemand, ...jobsOfCalendar],
  })
  back.add(() => jobThreads.close())
  const nodes = await openRing(ground, back)
  const jobs = startsOnDemand(jobThreads, { store, clock, log, tell: nodes.tell })
  return { backlog, crew, loop, health, overview, ring, jobThreads, jobs, nodes }
}

export type Tools = ReturnType<typeof openTools>

/** What requests are served with, beside the store. */
export function openTools(
  ground: Ground,
  { jobs, desk }: Pick<Work, 'jobs'> & { desk: () => { askFirst: AskFirst } | undefined },
  back: WayBack,
) {
  const { config, dataDir, plans, log, clock, store, turns } = ground
  const renderer = openRenderer({ log, clock })
  back.add(() => renderer.close())
  const importer = openImporter({ config, dataDir, turns, slot: writeSlots.import, log })
  back.add(() => importer.close())
  const { maxLiveRuns } = config.automations
  const isLimited = makeLiveLimit(maxLiveRuns)
  /** Whether as many runs of automations are live as are allowed. */
  const isFull = () => isLimited(store.read, clock.now())
  const checkRoom = async () => {
    if (await isFull()) throw tooManyRuns()
  }
  const { defaultCountry } = config.contacts
  const followed = jobs.automateIfDue
  const imports = makeImportTasks({
    ...ground,
    sharesFiles: ground.ownNode.joins && ground.ownNode.isOnServer,
    importer,
    defaultCountry,
    followed,
    checkRoom,
  })
  back.add(() => imports.close())
  const versions = makeVersions()
  const liveLimit = makeLiveLimit(maxLiveRuns)
  const follow = makeFollowContacts(versions, clock, liveLimit)
  // It is there once requests are taken; a task that a stop has left comes again until then.
  const askFirst: AskFirst = async (...asked) => {
    const opened = desk()
    if (opened === undefined) throw new ApiError('service_unavailable', 'The appliance starts')
    return await opened.askFirst(...asked)
  }
  const bulk = makeBulkTasks({ ...ground, defaultCountry, follow, followed, checkRoom, askFirst })
  back.add(() => bulk.close())
  const erasures = makeErasures(ground)
  back.add(() => erasures.close())
  const takeOuts = makeTakeOuts(ground)
  back.add(() => takeOuts.close())
  return {
    plans,
    renderer,
    importer,
    imports,
    bulk,
    erasures,
    takeOuts,
    follow,
    idempotency: makeIdempotency({ store, clock }),
    versions,
    isFull,
    checkRoom,
    liveLimit,
  }
}

/** Rings that come in one turn of the event loop go out as one message, with each stream once, at its earliest time. */
function makeDoorbell(deliver: (due: readonly StreamDue[]) => void) {
  let waiting = new Map<string, StreamDue>()
  const flush = () => {
    const due = [...waiting.values()]
    waiting = new Map()
    deliver(due)
  }
  return (due: readonly StreamDue[]) => {
    if (waiting.size === 0 && due.length > 0) setImmediate(flush)
    for (const item of due) {
      const stream = `${item.class} ${item.accountId} ${item.lane}`
      const known = waiting.get(stream)
      if (known === undefined || item.dueAt < known.dueAt) waiting.set(stream, item)
    }
  }
}
