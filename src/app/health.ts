import { type Clock, pause } from '../clock/index.js'
import type { Backlog } from '../deliveries/index.js'
import type { Reason } from '../doctor/index.js'
import { messageOf } from '../errors/index.js'
import type { Page, Pages } from '../http/index.js'
import type { Meter } from '../metrics/index.js'
import { diskRoom, refusedTable, type Store, scarceBytes, type Tx } from '../store/index.js'
import type { Crew } from './crew.js'
import type { Chore } from './housekeeping.js'
import { tellEveryMs } from './thread-meter.js'

/** What `/healthz`, `/readyz`, the metrics and `posthorn status` say of the running appliance. */
export interface Health {
  /** Why the process had better be restarted; empty while all of it works. */
  unhealthy(): Promise<Reason[]>
  /** Why the appliance had better be given no mail now; empty while it takes mail. */
  unready(knownForMs?: number): Promise<Reason[]>
  /** The start is over and only waits for an upgrade's word; or it is over; or the end has begun. */
  become(phase: 'held' | 'running' | 'stopping'): void
  readonly chores: Chore[]
}

export interface HealthDeps {
  store: Store
  clock: Clock
  dataDir: string
  /** The database is on a server: a restart of this process would not bring it back. */
  isOnServer?: boolean
  crew: Pick<Crew, 'unwell' | 'tick'>
  backlog: Pick<Backlog, 'size' | 'outOfRoom' | 'isDraining'>
  maxQueued: number
  meter: Meter
  /** Tests: another disk. */
  freeBytes?: (dataDir: string) => Promise<number>
}

// A thread that died is back within half a minute, and none holds its event loop for so long on purpose.
const threadMs = 60_000
// A client that polls gets what was found a moment ago: strangers' requests cost no commit each.
const foundForMs = 5_000
// A server comes and goes. Load balancers are to know within two seconds, and the server's answer takes some of that
// time.
const soonMs = 1_000
// A server that was away is asked anew at each request.
const awayForMs = 250
// A sign of life comes every two seconds, and later where the database is busy.
const beatingMs = 4_000
// A check must answer while the database does not: load balancers wait some seconds at most.
const answerMs = 1_000
// Longer than any transaction of ours, shorter than what clients wait for.
const stuckMs = 2_000
// Nothing of ours, not even a slow disk, takes so long: the thread whose turn it is to write does not give its turn
// back.
const hungMs = 120_000
const gaugesEveryMs = 15_000

/**
 * Answers within seconds, whatever the database and the disk do: each look waits for a second at most. If a health
 * check hung, the appliance would be killed for being busy.
 */
export function openHealth(deps: HealthDeps): Health {
  const { clock, dataDir, crew, backlog, maxQueued, meter, freeBytes = bytesFree } = deps
  const { isOnServer = false } = deps
  const storage = openStorageProbe(deps)
  let phase: 'starting' | 'held' | 'running' | 'stopping' = 'starting'

  const unhealthy = async (): Promise<Reason[]> => {
    const threads = crew.unwell(threadMs).map(({ thread, state, forMs }): Reason => {
      const does = state === 'hung' ? 'does not answer' : 'is down'
      return { what: 'thread', says: `The thread ${thread} ${does}, for ${seconds(forMs)} s` }
    })
    if (isOnServer) return threads
    const { fault, waitedMs } = await storage.ask()
    if (fault !== undefined) return [...threads, { what: 'database', says: fault }]
    return waitedMs < hungMs ? threads : [...threads, { what: 'database', says: waits(waitedMs) }]
  }
  const unready = async (knownForMs = soonMs): Promise<Reason[]> => {
    if (phase === 'stopping') return [{ what: 'stopping', says: 'Posthorn stops' }]
    const reasons: Reason[] = []
    if (phase === 'starting') reasons.push({ what: 'starting', says: 'Posthorn starts' })
    if (phase === 'held') reasons.push({ what: 'held', says: 'An upgrade is under way' })
    if (backlog.isDraining) reasons.push({ what: 'draining', says: saysDraining })
    const { fault, waitedMs } = await storage.ask(knownForMs)
    if (fault !== undefined) reasons.push({ what: 'database', says: fault })
    else if (waitedMs >= stuckMs) reasons.push({ what: 'database', says: waits(waitedMs) })
    const free = await Promise.race([freeBytes(dataDir), pause(clock, answerMs)]).catch(() => {})
    if (backlog.outOfRoom) {
      const says = `No mail is taken until there is room on the disk of ${dataDir}`
      reasons.push({ what: 'room', says })
    } else if (free === undefined) {
      reasons.push({ what: 'disk', says: `The disk of ${dataDir} does not answer` })
    } else if (free < scarceBytes) {
      const left = `${Math.floor(free / 1024 ** 2)} MiB are left on the disk of ${dataDir}`
      reasons.push({
        what: 'disk',
        says: `${left}; ${Math.ceil(scarceBytes / 1024 ** 2)} are wanted`,
      })
    }
    if (backlog.size >= maxQueued) {
      reasons.push({
        what: 'queue',
        says: `The queue is full: ${maxQueued} deliveries wait (outbound.max_queued)`,
      })
    }
    return reasons
  }

  return {
    unhealthy,
    unready,
    become(next) {
      phase = next
    },
    chores: [
      { name: 'silent threads', of: 'node', everyMs: tellEveryMs, run: async () => crew.tick() },
      {
        name: 'gauges of health',
        of: 'node',
        everyMs: gaugesEveryMs,
        async run() {
          meter.gauge('posthorn_healthy', {}, (await unhealthy()).length === 0 ? 1 : 0)
          // Nobody waits for this answer, and an idle appliance is to commit nothing for it.
          const against = await unready(beatingMs)
          meter.gauge('posthorn_ready', {}, against.length === 0 ? 1 : 0)
        },
      },
    ],
  }
}

interface Found {
  /** Why the last write failed; undefined when it succeeded. */
  fault: string | undefined
  /** How long the write under way has waited; 0 when none is. */
  waitedMs: number
}

/**
 * Whether the database takes writes. It changes a row the way a client's write does. The answer comes soon, whatever
 * the database does; a write that waits goes on, and the next look asks about it again.
 */
function openStorageProbe({
  store,
  clock,
  isOnServer = false,
}: Pick<HealthDeps, 'store' | 'clock' | 'isOnServer'>) {
  let fault: string | undefined
  let foundAt = Number.NEGATIVE_INFINITY
  let underWay: { since: number; done: Promise<void> } | undefined

  /** A server has acknowledged a sign of life just now, which is a write like others. */
  const isBeating = (knownForMs: number) => {
    if (!isOnServer || !Number.isFinite(foundAt) || fault !== undefined) return false
    const silentMs = store.node.silentMs()
    return silentMs > 0 && silentMs < knownForMs
  }
  const isKnown = (now: number, knownForMs: number) => {
    const fresh = !isOnServer ? foundForMs : fault === undefined ? knownForMs : awayForMs
    return (now - foundAt < fresh && now >= foundAt) || isBeating(knownForMs)
  }
  const write = async () => {
    try {
      const now = clock.now()
      await store.write((tx) => setAlive(tx, now))
      // Signs of life go on even where another table was taken away.
      const refused = isOnServer ? await refusedTable(store.read) : undefined
      fault = refused && `The database refuses this role the table ${refused}`
    } catch (error) {
      const cause = error instanceof Error && error.cause !== undefined ? error.cause : error
      fault = `The database cannot be written: ${messageOf(cause)}`
    }
    foundAt = clock.now()
    underWay = undefined
  }
  return {
    async ask(knownForMs = beatingMs): Promise<Found> {
      const now = clock.now()
      if (underWay === undefined && !isKnown(now, knownForMs))
        underWay = { since: now, done: write() }
      if (underWay !== undefined) {
        const answered = new AbortController()
        void underWay.done.then(() => answered.abort())
        await pause(clock, answerMs, answered.signal)
      }
      return { fault, waitedMs: underWay === undefined ? 0 : clock.now() - underWay.since }
    },
  }
}

/**
 * It is not set back with the clock: first what a clock that was ahead has put off is mended (`chores.ts`), however
 * often the appliance is started until then.
 */
export const setAlive = (tx: Tx, now: number) =>
  tx
    .updateTable('appliance')
    .set((eb) => ({
      alive_at: eb.case().when('alive_at', '>', now).then(eb.ref('alive_at')).else(now).end(),
    }))
    .execute()

const bytesFree = async (dataDir: string) => (await diskRoom(dataDir)).freeBytes

const waits = (ms: number) => `The database has not taken a write for ${seconds(ms)} s`

const saysDraining =
  "The operator has this node take no mail ('posthorn node undrain'): others take over what waits"

const seconds = (ms: number) => Math.round(ms / 1_000)

/**
 * For load balancers, containers and monitoring. Without a key, as these have none, and on the private listener alone:
 * a stranger would learn when the disk is full or a restart is due.
 */
export function healthRoutes(pages: Pages, health: Pick<Health, 'unhealthy' | 'unready'>): void {
  pages.get('/healthz', async () => answer(await health.unhealthy()))
  pages.get('/readyz', async () => answer(await health.unready()))
}

/** Checks look at 200 and 503 alone; the reasons are for people. */
function answer(reasons: readonly Reason[]): Page {
  if (reasons.length === 0) return { text: 'ok\n' }
  return {
    status: 503,
    text: `${JSON.stringify({ reasons })}\n`,
    contentType: 'application/json; charset=utf-8',
  }
}
