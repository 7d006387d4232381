import type { Clock } from '../clock/index.js'
import type { LandEvents } from '../events/index.js'
import type { Log } from '../log/index.js'
import { type Store, writeApart } from '../store/index.js'
import { type Allowance, makeAllowance } from './allowance.js'
import { type HitKind, makeMachineAsking, type TrackingAgents } from './machines.js'
import { recordVisits } from './record-visits.js'
import type { Copy } from './token.js'
import { type HitVisit, makeVisits } from './visits.js'

export interface RecorderDeps {
  store: Store
  clock: Clock
  log: Log
  land: LandEvents
  agents: TrackingAgents
  /** Sooner after the delivery a machine asks; 0: the time tells nothing. */
  machineWithinMs: number
}

/** A request as it came. */
export interface HitRequest {
  kind: HitKind
  userAgent: string
  address: string
  /** Looked without taking (HEAD), which no mail program does. */
  onlyHead: boolean
  /** Said to be fetched before anybody wants to see it. */
  ahead?: boolean
  target?: string
  links?: number
}

export interface Recorder {
  /** Notes a hit in memory; it is on disk within a second. Waits for nothing. */
  note(copy: Copy, asked: HitRequest): void
  useAgents(agents: TrackingAgents): void
  /** Writes what is noted; for the end, when nobody asks any more. */
  close(): Promise<void>
}

// A visit is gathered for at least one of these and written after at most two, a second at most.
const tickMs = 500
// A write is short, as others wait for the turn.
const visitsAWrite = 50
const maxUnwritten = 50_000
const maxUserAgent = 200

/** Gathers hits and writes them in groups; what a crash may lose is the last second. */
export function openRecorder(deps: RecorderDeps): Recorder {
  const { store, clock, log, land, machineWithinMs } = deps
  const allowance: Allowance = makeAllowance()
  const visits = makeVisits()
  let machineAsking = makeMachineAsking(deps.agents)
  let lost = 0
  let closing = false
  let cancel = () => {}
  let writing = Promise.resolve()
  let unwritten: HitVisit[] = []

  const write = async (before: number) => {
    const due = unwritten.concat(visits.take(before))
    unwritten = []
    const slices = Array.from({ length: Math.ceil(due.length / visitsAWrite) }, (_, index) =>
      due.slice(index * visitsAWrite, (index + 1) * visitsAWrite),
    )
    const writeSlice = async (slice: HitVisit[]) => {
      const { faults, left, cause } = await writeApart(store.write, slice, (tx, some) =>
        recordVisits(tx, { land, allowance, machineWithinMs }, some),
      )
      for (const { item, error } of faults) {
        const { emailId, deliveryId } = item
        log.error(
          { error, emailId, deliveryId },
          'An open or click cannot be written; it is dropped',
        )
      }
      if (left.length === 0) return
      log.error({ error: cause, visits: left.length }, 'Opens and clicks could not be written')
      // Tried again with the next ones, as far as there is room for both.
      if (unwritten.length < maxUnwritten) unwritten.push(...left)
      else lost += left.length
    }
    await Promise.all(slices.map(writeSlice))
    if (lost > 0) log.warn({ lost }, 'Opens and clicks came faster than they can be written')
    lost = 0
  }

  const plan = () => {
    cancel = clock.after(tickMs, () => {
      writing = write(clock.now() - tickMs).finally(() => {
        if (!closing) plan()
      })
    })
  }
  plan()

  return {
    note(copy, { kind, userAgent, address, onlyHead, ahead, target, links = 0 }) {
      const said = onlyHead ? 'HEAD' : ahead ? 'prefetch' : undefined
      const machine = said ?? machineAsking({ kind, userAgent, address })
      const hit = {
        kind,
        at: clock.now(),
        userAgent: userAgent.slice(0, maxUserAgent),
        machine,
        ...(target === undefined ? {} : { target }),
      }
      if (!visits.note({ ...copy, links }, hit)) lost++
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
