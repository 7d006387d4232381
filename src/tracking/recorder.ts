import type { Clock } from '../clock/index.js'
import type { LandEvents } from '../events/index.js'
import type { Log } from '../log/index.js'
import { isPassing, type Store } from '../store/index.js'
import { type Allowance, makeAllowance } from './allowance.js'
import { type HitKind, makeMachineAsking, type TrackingAgents } from './machines.js'
import { recordVisits } from './record-visits.js'
import type { Copy } from './token.js'
import { type Hit, type HitVisit, makeVisits, type Visits } from './visits.js'

export interface RecorderDeps {
  store: Store
  clock: Clock
  log: Log
  land: LandEvents
  agents: TrackingAgents
  /** A request sooner after the delivery counts as a machine's; 0: the time tells nothing. */
  machineWithinMs: number
}

/** A request as it came. */
export interface HitRequest {
  kind: HitKind
  userAgent: string
  address: string
  /** The request was a HEAD, which no mail program sends. */
  onlyHead: boolean
  /** The request says that it was made before anybody wants to see the page. */
  ahead?: boolean
  target?: string
  links?: number
}

export interface Recorder {
  /**
   * Notes a hit in memory; it is on disk within a second, unless the storage fails. Waits for nothing. `at`: when it
   * came, if that is not now.
   */
  note(copy: Copy, asked: HitRequest, at?: number): void
  useAgents(agents: TrackingAgents): void
  /** Writes what is noted; for the end, when nobody asks any more. */
  close(): Promise<void>
}

// How long the requests of one visit are gathered before it is written.
const gatherMs = 500
// Visits are written in small groups as they fall due: many at once would hold up others' requests. Few are written
// more seldom, because each time costs a transaction.
const tickMs = 50
const visitsATick = 200
const retryMs = 500
// A hundred items of weight 1 are written together. A visit weighs more, so that 64 of them are, as many as a
// statement takes.
const weight = 100 / 64
const maxUnwritten = 50_000
const maxUserAgent = 200

/** Gathers hits and writes them in groups; a crash may lose the last second. */
export function openRecorder(deps: RecorderDeps): Recorder {
  const { store, clock, log, land, machineWithinMs } = deps
  const allowance: Allowance = makeAllowance()
  const visits = makeVisits()
  let machineAsking = makeMachineAsking(deps.agents)
  let lost = 0
  let closing = false
  let isPlanned = false
  let cancel = () => {}
  let writing = Promise.resolve()
  let unwritten: HitVisit[] = []

  const writeVisit = store.gather<HitVisit, undefined>(
    async (tx, some) => {
      await recordVisits(tx, { land, allowance, machineWithinMs }, some)
      return []
    },
    () => weight,
  )

  const write = async (before: number) => {
    const due = unwritten.concat(visits.take(before, clock.now()))
    unwritten = []
    const left: HitVisit[] = []
    let cause: unknown
    const keepOrDrop = (visit: HitVisit, error: unknown) => {
      const { emailId, deliveryId } = visit
      if (isPassing(error)) {
        left.push(visit)
        cause = error
      } else {
        const fields = { error, emailId, deliveryId }
        log.error(fields, 'An open or click cannot be written; it is dropped')
      }
    }
    await Promise.all(
      due.map((visit) => writeVisit(visit).catch((error) => keepOrDrop(visit, error))),
    )
    if (left.length > 0) {
      log.error({ error: cause, visits: left.length }, 'Opens and clicks could not be written')
      // These are tried again with the next ones, as far as there is room.
      unwritten = left.slice(0, maxUnwritten)
      lost += left.length - unwritten.length
    }
    if (lost > 0) log.warn({ lost }, 'Opens and clicks came faster than they can be written')
    lost = 0
  }

  /** Only while something is noted: an appliance that nobody asks sleeps. */
  const plan = (afterMs: number) => {
    if (isPlanned || closing) return
    isPlanned = true
    cancel = clock.after(afterMs, () => {
      writing = write(clock.now() - gatherMs).finally(() => {
        isPlanned = false
        if (unwritten.length > 0) plan(retryMs)
        else if (visits.oldestAt !== undefined) plan(tickOf(visits, clock.now()))
      })
    })
  }

  return {
    note({ accountId, emailId, deliveryId }, asked, at = clock.now()) {
      const { kind, target, links = 0 } = asked
      const said = asked.onlyHead ? 'HEAD' : asked.ahead ? 'prefetch' : undefined
      const machine = said ?? machineAsking(asked)
      const userAgent = asked.userAgent.slice(0, maxUserAgent)
      // No spread: this runs for every hit, and objects made by a spread are slower to make and to read.
      const hit: Hit =
        target === undefined
          ? { kind, at, userAgent, machine }
          : { kind, at, userAgent, machine, target }
      if (!visits.note({ accountId, emailId, deliveryId, links }, hit)) lost++
      plan(gatherMs)
    },
    useAgents(fresh) {
      machineAsking = makeMachineAsking(fresh)
    },
    async close() {
      closing = true
      cancel()
      await writing
      await write(Number.POSITIVE_INFINITY)
    },
  }
}

/** The time until visits are to be written again, when some of them are due. */
function tickOf({ oldestAt = 0, size }: Visits, now: number): number {
  const untilSomeMs = Math.ceil((gatherMs * visitsATick) / size)
  // The clock may be set back.
  return Math.min(gatherMs, Math.max(tickMs, untilSomeMs, oldestAt + gatherMs - now))
}
