import {
  type Claimed,
  claim,
  releaseLeases,
  type StreamDue,
  streamsAfter,
} from '../deliveries/index.js'
import { makeAttempts } from './attempt.js'
import type { OutboundDeps } from './deps.js'
import { makeLanes, type Stream, type Want } from './lanes.js'
import { makeRecorder } from './recorder.js'

export interface Outbound {
  /** The doorbell: these streams have something that falls due then. */
  ring(due: readonly StreamDue[]): void
  /** Looks through the whole queue, as at the start. */
  scan(): Promise<void>
  /** Stops claiming, lets attempts under way end within `graceMs`, breaks off the rest. */
  close(graceMs: number): Promise<void>
}

const maxPerClaim = 50
const streamsPerScan = 1_000
// Rings get lost and other processes write: the queue is looked through this often regardless.
const scanEveryMs = 30_000
const retryWriteMs = 1_000

/**
 * One thread's share of the queue: claims what is due, as much as it can have in flight, runs the
 * attempts and writes what came of them. See README.md for the invariants.
 */
export async function openOutbound(deps: OutboundDeps): Promise<Outbound> {
  const { store, clock, config, log, thread } = deps
  const lanes = makeLanes({
    perLane: config.connectionsPerDomain,
    total: config.maxConnections,
    perClaim: maxPerClaim,
  })
  const attempts = makeAttempts(deps)
  const recorder = makeRecorder(deps)
  let inFlight = 0
  let claiming = false
  let closing = false
  let cancelWake = () => {}
  let onIdle = () => {}

  /** Begins what is claimed while there is room; then claims more. */
  const work = () => {
    if (closing || claiming || recorder.stuck()) return
    const wants = lanes.wanted(clock.now())
    if (wants.length > 0) void claimFor(wants)
    else sleep()
  }

  const claimFor = async (wants: readonly Want[]) => {
    claiming = true
    for (const { stream } of wants) stream.claiming = true
    const asked = wants.map(({ stream, limit }) => ({
      lane: stream.lane.name,
      class: stream.class,
      accountId: stream.accountId,
      limit,
    }))
    try {
      const claims = await store.write((tx) => claim(tx, asked, { now: clock.now(), thread }))
      for (const [i, { stream }] of wants.entries()) {
        const { taken = [], exhausted } = claims[i] ?? {}
        stream.claiming = false
        if (exhausted !== undefined) lanes.exhausted(stream, exhausted.nextDueAt)
        lanes.started(stream.lane, taken.length)
        for (const delivery of taken) run(stream, delivery)
        lanes.drop(stream.lane)
      }
      claiming = false
    } catch (error) {
      // The database cannot be written just now; the streams stay due.
      log.error({ error }, 'Deliveries could not be claimed')
      for (const { stream } of wants) stream.claiming = false
      clock.after(retryWriteMs, () => {
        claiming = false
        work()
      })
      return
    }
    work()
  }

  const run = ({ lane, class: of, accountId }: Stream, delivery: Claimed) => {
    inFlight++
    void attempts.attempt(delivery).then((settlement) => {
      lanes.ended(lane)
      recorder.record(settlement, () => {
        inFlight--
        if (settlement.kind === 'deferred') {
          lanes.note({ lane: lane.name, class: of, accountId, dueAt: settlement.dueAt })
        }
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
    let last: StreamDue | undefined
    do {
      const found = await streamsAfter(store.read, last, streamsPerScan)
      for (const due of found) if (isMine(due.lane)) lanes.note(due)
      work()
      last = found.length < streamsPerScan ? undefined : found.at(-1)
      await new Promise((resolve) => setImmediate(resolve))
    } while (last !== undefined && !closing)
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
