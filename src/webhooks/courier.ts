import { setMaxListeners } from 'node:events'
import { type Clock, isRecent, pause } from '../clock/index.js'
import type { ApplianceKey } from '../config/index.js'
import { type Log, makeSeldom } from '../log/index.js'
import type { Meter } from '../metrics/index.js'
import { holdsAll, holdsPart, partsHeld } from '../nodes/index.js'
import { eachApart, idsOf, type Read, type Store, type Tx, wholeTo } from '../store/index.js'
import { type Delivering, openEndpointLine } from './deliver.js'
import { type EndpointLane, makeLane } from './lane.js'
import { makeResults } from './results.js'
import { type Job, setAside } from './settle.js'
import type { GuardDeps } from './target.js'

/** What the courier needs of the appliance. */
export interface CourierDeps extends GuardDeps {
  store: Store
  clock: Clock
  key: ApplianceKey
  log: Log
  meter: Meter
  /** PEM of the authorities trusted instead of the usual ones. */
  ca?: string
}

/** The courier at work. */
export interface Courier {
  /** Resolves when nothing is under way for endpoints that now belong to another node. */
  letGo(): Promise<void>
  /** Starts nothing more, gives attempts under way `graceMs`, then breaks them off: the next start goes on. */
  close(graceMs: number): Promise<void>
}

// How soon an event leaves: there is no doorbell, because every thread and the CLI may queue one.
const lookEveryMs = 100
// How soon a change of an endpoint takes effect.
const refreshEveryMs = 1_000
// How many new jobs are read at once.
const rowsAtOnce = 1_000
// How much room in a lane's memory is worth a query.
const refillFrom = 200
// How long an endpoint without work keeps its connections.
const keptMs = 10_000

/** One endpoint's jobs and its connections. */
interface Route {
  endpointId: string
  lane: EndpointLane
  line: Delivering
  usedAt: number
}

/**
 * Sends what waits in `webhook_jobs`, each endpoint by itself, and writes down the results. There is one courier in
 * an appliance; of several nodes each sends for some of the endpoints. Only its memory knows what it has begun, so
 * after a kill that is sent again.
 */
export async function openCourier(deps: CourierDeps): Promise<Courier> {
  const { store, clock, log } = deps
  const stopping = new AbortController()
  const ending = new AbortController()
  // Each webhook under way has a listener here; Node's warning is about leaks.
  setMaxListeners(0, ending.signal)
  const routes = makeRoutes(deps, { stopping: stopping.signal, ending: ending.signal })
  let refreshedAt = 0
  const seldom = makeSeldom(clock)
  let lastSeen = await wholeTo(store.read, 'webhook_jobs')

  const takeNew = async () => {
    const last = await wholeTo(store.read, 'webhook_jobs')
    while (lastSeen < last) {
      const { jobs, through } = await ownJobsAfter(store, { from: lastSeen, upTo: last })
      for (const job of jobs) await routes.offer(job)
      lastSeen = through
    }
  }
  let parts = ''
  /** Endpoints that came to this node with a part: their routes read what waits for them. */
  const followParts = async () => {
    const now = partsHeld(store.node, 'courier')
    if (now === parts) return
    // Deleted ones too: the jobs that wait for them must be removed.
    for (const { id } of await store.read.selectFrom('webhook_endpoints').select('id').execute())
      if (holdsPart(store.node, 'courier', id)) await routes.open(id)
    parts = now
  }

  const look = async () => {
    await followParts()
    await takeNew()
    if (!isRecent(refreshedAt, clock.now(), refreshEveryMs)) {
      refreshedAt = clock.now()
      await routes.refresh()
    }
    await routes.refill()
  }

  const run = async () => {
    while (!stopping.signal.aborted) {
      let restMs = lookEveryMs
      try {
        await look()
      } catch (error) {
        restMs = refreshEveryMs
        seldom(() => log.error({ error }, 'Webhooks could not be read; trying again every second'))
      }
      await pause(clock, restMs, stopping.signal)
    }
  }

  await followParts()
  const running = run()
  return {
    letGo: routes.letGo,
    async close(graceMs) {
      stopping.abort()
      await running
      const cancel = clock.after(graceMs, () => ending.abort())
      await routes.underWay()
      cancel()
      routes.close()
    },
  }
}

/** The endpoints that have work, each with its jobs and its connections. */
function makeRoutes(
  deps: CourierDeps,
  { stopping, ending }: { stopping: AbortSignal; ending: AbortSignal },
) {
  const { store, clock, log } = deps
  const routes = new Map<string, Route>()
  const writeResult = makeResults(store)
  /** The attempts under way, with the endpoint of each. */
  const underWay = new Map<Promise<unknown>, string>()
  /** Endpoints that met a fault of their own; each is logged once, not every second. */
  const faulty = new Set<string>()

  const open = async (endpointId: string): Promise<Route> => {
    const known = routes.get(endpointId)
    if (known !== undefined) return known
    const line = openEndpointLine({ ...deps, signal: ending, writeResult }, endpointId)
    await line.refresh()
    const lane = makeLane({
      async deliver(job) {
        const delivery = line.deliver(job)
        underWay.set(delivery, endpointId)
        const left = await delivery
        underWay.delete(delivery)
        return left
      },
      ended: () => start(route),
    })
    const route: Route = { endpointId, lane, line, usedAt: clock.now() }
    routes.set(endpointId, route)
    return route
  }

  const isOurs = (endpointId: string) => holdsPart(store.node, 'courier', endpointId)
  const start = ({ endpointId, lane, line }: Route) => {
    if (!stopping.aborted && line.open && isOurs(endpointId)) lane.start(clock.now())
  }

  /** Takes up changes of an endpoint; closes one that has nothing to do. */
  const refreshOne = async ([id, { lane, line, usedAt }]: [string, Route]) => {
    await line.refresh()
    if (!isOurs(id)) {
      // Another node now sends its jobs; if the endpoint comes back, they are read again.
      lane.clear()
      if (lane.busy) return
      routes.delete(id)
      return line.close()
    }
    let hasWork = !lane.idle
    if (!line.open) {
      lane.clear()
      // Attempts under way are waited for, so that the log has their results.
      if (lane.busy) return
      hasWork = !(await setAllAside(id))
    }
    if (hasWork || isRecent(usedAt, clock.now(), keptMs)) return
    routes.delete(id)
    line.close()
  }

  /** Resolves with whether nothing is left; false where the endpoint was enabled meanwhile. */
  const setAllAside = async (endpointId: string) => {
    const setSomeAside = (tx: Tx) =>
      setAside(tx, endpointId, {
        now: clock.now(),
        why: 'The endpoint was disabled',
        cause: 'disabled',
      })
    while (!stopping.aborted) {
      const moved = await store.write(async (tx) =>
        (await isOpen(tx, endpointId)) ? undefined : await setSomeAside(tx),
      )
      if (moved === undefined || moved === 0) return moved === 0
    }
    return false
  }

  return {
    open,
    async offer(job: Job) {
      const route = await open(job.endpoint_id)
      route.lane.offer(job)
      route.usedAt = clock.now()
    },
    refresh: () =>
      eachApart([...routes], refreshOne, ([id], error) => {
        if (!faulty.has(id))
          log.error({ error, endpoint: id }, 'What waits for a webhook endpoint cannot be sent')
        faulty.add(id)
      }),
    /** Reads on where an endpoint has more than its memory holds, and starts what may start. */
    async refill() {
      for (const [id, route] of routes) {
        const { lane, line } = route
        const isWhole = lane.lastId > 0 || !lane.busy
        if (lane.behind && isWhole && line.open && lane.room >= refillFrom) {
          const { lastId, room } = lane
          const jobs = await jobsAfter(store.read, {
            from: lastId,
            upTo: await wholeTo(store.read, 'webhook_jobs'),
            endpointId: id,
            limit: room,
          })
          lane.refill(jobs, jobs.length === room)
        }
        start(route)
      }
    },
    underWay: () => Promise.all(underWay.keys()),
    async letGo() {
      await Promise.all([...underWay].flatMap(([delivery, id]) => (isOurs(id) ? [] : delivery)))
    },
    close() {
      for (const { line } of routes.values()) line.close()
    },
  }
}

/** Whether something may go to an endpoint now. */
const isOpen = async (read: Read, id: string) =>
  (await read
    .selectFrom('webhook_endpoints')
    .select('id')
    .where('id', '=', id)
    .where('enabled', '=', 1)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()) !== undefined

/** The next new jobs that this node has to send; `through`: all jobs up to here were looked at. */
async function ownJobsAfter(
  { read, node }: Pick<Store, 'read' | 'node'>,
  span: { from: number; upTo: number },
): Promise<{ jobs: Job[]; through: number }> {
  const limit = rowsAtOnce
  if (holdsAll(node, 'courier')) {
    const jobs = await jobsAfter(read, { ...span, limit })
    return { jobs, through: jobs.at(-1)?.id ?? span.upTo }
  }
  // Each node looks at all jobs, and reads the bodies of its own.
  const found = await read
    .selectFrom('webhook_jobs')
    .select(['id', 'endpoint_id'])
    .where('id', '>', span.from)
    .where('id', '<=', span.upTo)
    .orderBy('id')
    .limit(limit)
    .execute()
  const own = found.filter(({ endpoint_id }) => holdsPart(node, 'courier', endpoint_id))
  const through = found.at(-1)?.id ?? span.upTo
  if (own.length === 0) return { jobs: [], through }
  const ids = JSON.stringify(own.map(({ id }) => id))
  const jobs = await read
    .selectFrom('webhook_jobs')
    .selectAll()
    .where('id', 'in', idsOf(ids, 'integer'))
    .orderBy('id')
    .execute()
  return { jobs, through }
}

/** The jobs after one id and up to another, the oldest first; of all endpoints, or of one. */
const jobsAfter = (
  read: Read,
  jobs: { from: number; upTo: number; endpointId?: string; limit: number },
): Promise<Job[]> =>
  read
    .selectFrom('webhook_jobs')
    .selectAll()
    .where('id', '>', jobs.from)
    .where('id', '<=', jobs.upTo)
    .$if(jobs.endpointId !== undefined, (query) =>
      query.where('endpoint_id', '=', jobs.endpointId ?? ''),
    )
    .orderBy('id')
    .limit(jobs.limit)
    .execute()
