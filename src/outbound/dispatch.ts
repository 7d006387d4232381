import type { LaneDue } from '../deliveries/index.js'
import {
  claim,
  lanesAfter,
  nextDue,
  releaseLeases,
  type Settlement,
  settle,
} from '../deliveries/index.js'
import { messageOf } from '../errors/index.js'
import { type Attempts, makeAttempts } from './attempt.js'
import type { OutboundDeps } from './deps.js'
import { type Lane, makeLanes } from './lanes.js'

export interface Outbound {
  /** The doorbell: these lanes have something that falls due then. */
  ring(due: readonly LaneDue[]): void
  /** Looks through the whole queue, as at the start. */
  scan(): Promise<void>
  /** Stops claiming, lets attempts under way end within `graceMs`, breaks off the rest. */
  close(graceMs: number): Promise<void>
}

// Longer than all of an attempt's deadlines together (`src/smtp/limits.ts`).
const leaseMs = 3_600_000
const maxPerClaim = 50
const lanesPerScan = 1_000
// Rings get lost and other processes write: the queue is looked through this often regardless.
const scanEveryMs = 30_000
const retryWriteMs = 1_000
// Some ms of writing: others wait for the turn meanwhile.
const maxPerSettle = 32

/**
 * One thread's share of the queue: claims what is due, as much as it can have in flight, runs the
 * attempts and writes what came of them. See README.md for the invariants.
 */
export async function openOutbound(deps: OutboundDeps): Promise<Outbound> {
  const { store, clock, config, log, thread } = deps
  const lanes = makeLanes()
  const attempts = makeAttempts(deps)
  const recorder = makeRecorder(deps)
  let inFlight = 0
  let claiming = false
  let closing = false
  let cancelWake = () => {}
  let onIdle = () => {}

  const room = (lane: Lane) => config.connectionsPerDomain - lane.inFlight

  /** Begins what is claimed while there is room; then claims more. */
  const work = () => {
    if (closing || claiming || recorder.stuck()) return
    const wanted: { lane: Lane; limit: number }[] = []
    let left = config.maxConnections - inFlight
    for (let lane = lanes.next(clock.now()); lane !== undefined; lane = lanes.next(clock.now())) {
      if (left <= 0 || wanted.length >= maxPerClaim || wanted.some((w) => w.lane === lane)) break
      const limit = Math.min(room(lane), left, maxPerClaim)
      if (limit <= 0) {
        lanes.park(lane)
        continue
      }
      wanted.push({ lane, limit })
      left -= limit
    }
    if (wanted.length > 0) void claimFor(wanted)
    else sleep()
  }

  const claimFor = async (wanted: { lane: Lane; limit: number }[]) => {
    claiming = true
    for (const { lane } of wanted) lane.claiming = true
    try {
      const results = await store.write(async (tx) => {
        const now = clock.now()
        const claims = []
        for (const { lane, limit } of wanted) {
          const leaseUntil = now + leaseMs
          const taken = await claim(tx, { lane: lane.name, limit, now, thread, leaseUntil })
          const due = taken.length < limit ? { at: await nextDue(tx, lane.name) } : undefined
          claims.push({ lane, taken, due })
        }
        return claims
      })
      for (const { lane, taken, due } of results) {
        lane.claiming = false
        if (due !== undefined) lanes.exhausted(lane, due.at)
        for (const delivery of taken) run(lane, delivery)
        lanes.drop(lane)
      }
      claiming = false
    } catch (error) {
      // The database cannot be written just now; the lanes stay due.
      log.error({ error }, 'Deliveries could not be claimed')
      for (const { lane } of wanted) lane.claiming = false
      clock.after(retryWriteMs, () => {
        claiming = false
        work()
      })
      return
    }
    work()
  }

  const run = (lane: Lane, delivery: Parameters<Attempts['attempt']>[0]) => {
    lane.inFlight++
    inFlight++
    void attempts.attempt(delivery).then((settlement) => {
      lane.inFlight--
      lanes.unpark(lane)
      recorder.record(settlement, () => {
        inFlight--
        if (settlement.kind === 'deferred') lanes.note({ lane: lane.name, dueAt: settlement.dueAt })
        lanes.drop(lane)
        if (inFlight === 0) onIdle()
        work()
      })
      work()
    })
  }

  const sleep = () => {
    cancelWake()
    const at = lanes.wakeAt()
    if (at !== undefined) cancelWake = clock.after(Math.max(1, at - clock.now()), work)
  }

  const isMine = (lane: string) => shardOf(lane, deps.threads) === thread

  const scan = async () => {
    for (let after = ''; !closing; ) {
      const found = await lanesAfter(store.read, after, lanesPerScan)
      for (const due of found) if (isMine(due.lane)) lanes.note(due)
      work()
      const last = found.at(-1)
      if (last === undefined || found.length < lanesPerScan) return
      after = last.lane
      await new Promise((resolve) => setImmediate(resolve))
    }
  }

  let cancelScan = () => {}
  const keepScanning = () => {
    cancelScan = clock.after(scanEveryMs, () => {
      scan()
        .catch((error) => log.error({ error }, 'The queue could not be read'))
        .finally(() => {
          if (!closing) keepScanning()
        })
    })
  }

  await store.write((tx) => releaseLeases(tx, thread, clock.now()))
  await scan()
  keepScanning()

  return {
    ring(due) {
      for (const item of due) if (isMine(item.lane)) lanes.note(item)
      work()
    },
    scan,
    async close(graceMs) {
      closing = true
      cancelScan()
      cancelWake()
      attempts.connections.close()
      const idle = new Promise<void>((resolve) => {
        onIdle = resolve
        if (inFlight === 0) resolve()
      })
      const cancel = clock.after(graceMs, () => attempts.connections.destroy())
      await idle
      cancel()
      attempts.connections.destroy()
    },
  }
}

/** Which of the threads works a lane: the same one always, so that it alone knows the destination. */
export function shardOf(lane: string, threads: number): number {
  // FNV-1a
  let hash = 0x811c9dc5
  for (let i = 0; i < lane.length; i++) {
    hash = Math.imul(hash ^ lane.charCodeAt(i), 0x01000193)
  }
  return (hash >>> 0) % threads
}

const endings = { bounced: 'Bounced', failed: 'Given up', suppressed: 'Suppressed' }

/**
 * Writes settlements, many in one transaction. One that cannot be written is kept and tried again:
 * forgetting it would send the mail twice.
 */
function makeRecorder({ store, clock, log, thread, backlog, meter }: OutboundDeps) {
  const waiting: { settlement: Settlement; done: () => void }[] = []
  let writing = false
  let failing = false

  const flush = async () => {
    writing = true
    // One turn of the event loop: attempts that end together are written together.
    await new Promise((resolve) => setImmediate(resolve))
    while (waiting.length > 0) {
      const batch = waiting.splice(0, maxPerSettle)
      try {
        const settlements = batch.map((entry) => entry.settlement)
        await store.write((tx) => settle(tx, settlements, { thread, now: clock.now() }))
        failing = false
        backlog.change(-settlements.filter(({ kind }) => kind !== 'deferred').length)
        for (const { settlement, done } of batch) {
          tell(settlement)
          done()
        }
      } catch (error) {
        failing = true
        waiting.unshift(...batch)
        log.error(
          { cause: messageOf(error), results: waiting.length },
          'Results could not be written',
        )
        await new Promise<void>((resolve) => {
          clock.after(retryWriteMs, resolve)
        })
      }
    }
    writing = false
  }

  const tell = (settlement: Settlement) => {
    const { kind, id, emailId, recipient, attempts, reply, remote } = settlement
    meter.count('posthorn_attempts_total', { outcome: kind })
    const fields = { emailId, deliveryId: id, to: recipient, attempts, remote, reply }
    if (kind === 'delivered') log.info(fields, 'Delivered')
    else if (kind === 'deferred') {
      log.info({ ...fields, nextAttemptAt: new Date(settlement.dueAt).toISOString() }, 'Deferred')
    } else log.warn(fields, endings[kind])
  }

  return {
    record(settlement: Settlement, done: () => void) {
      waiting.push({ settlement, done })
      if (!writing) void flush()
    },
    /** True while results cannot be written: starting more would only put more at risk. */
    stuck: () => failing,
  }
}
