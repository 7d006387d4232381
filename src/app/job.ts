import { parentPort, workerData } from 'node:worker_threads'
import type { Plans } from '../billing/index.js'
import type { JobResult } from '../calendar/index.js'
import { pause, systemClock } from '../clock/index.js'
import { databaseAt } from '../config/index.js'
import { type Backlog, joinBacklog, type StreamDue } from '../deliveries/index.js'
import { openLog } from '../log/index.js'
import type { Snapshot } from '../metrics/index.js'
import { openStore } from '../store/index.js'
import type { SurgeSettings } from '../surges/index.js'
import { openRenderer, type Renderer } from '../templates/index.js'
import { endFromThread } from './fault.js'
import { surgeSettings } from './surges.js'
import { logOptions, type ThreadContext } from './thread.js'
import type { ThreadData } from './thread-data.js'
import { countCommits, openThreadMeter } from './thread-meter.js'

/** What the work of a job's thread is given; aborting `signal` says that it is to end soon. */
export interface JobGround extends Pick<ThreadContext, 'store' | 'clock' | 'log' | 'meter'> {
  data: ThreadData
  plans: Plans
  backlog: Backlog
  signal: AbortSignal
  ring(due: readonly StreamDue[]): void
  /** Tells the main thread how the run went. */
  say(said: JobResult): void
  /** Waits for so long, or until the main thread rings because there is something to do. */
  rest(atMostMs: number): Promise<void>
}

/** What a job makes mail with. */
export interface JobContext extends Omit<JobGround, 'data' | 'say'> {
  maxQueued: number
  retry: ThreadData['config']['outbound']['retry']
  surges: SurgeSettings
  renderer: Renderer
}

/** From a job's thread; Bree knows the last by itself. */
export type JobReport =
  | { kind: 'ring'; due: readonly StreamDue[] }
  | { kind: 'metrics'; snapshot: Snapshot }
  | { kind: 'result'; said: JobResult }
  | 'cancelled'

/** A job that makes mail, for as long as there is some to make. */
export async function runJob(
  name: string,
  work: (context: JobContext) => Promise<void>,
): Promise<void> {
  await inJobThread(name, async ({ data, say, ...ground }) => {
    const { log, clock } = ground
    const renderer = openRenderer({ log, clock })
    const { maxQueued, retry } = data.config.outbound
    try {
      const surges = surgeSettings(data.config)
      await work({ ...ground, renderer, maxQueued, retry, surges })
    } finally {
      await renderer.close()
    }
  })
}

/** The life of a Bree job's thread: open the ground, do the work once, close. */
export async function inJobThread(
  name: string,
  work: (ground: JobGround) => Promise<void>,
): Promise<void> {
  const port = parentPort
  if (port === null) throw new Error(`${name} is a job's entry, not a program`)
  const data = workerData as ThreadData
  const clock = systemClock
  const log = openLog(logOptions(data.config.log)).child({ job: name })
  const { turns, slot } = data
  // As in every thread: a fault of the storage ends the whole process (`fault.ts`).
  const onFault = endFromThread(name)
  const tell = (report: JobReport) => port.postMessage(report)
  const counting = openThreadMeter(data.config.metrics.enabled, clock, name, (snapshot) =>
    tell({ kind: 'metrics', snapshot }),
  )
  const { meter } = counting
  const counts = countCommits(meter)
  const store = await openStore({
    ...databaseAt(data.dataDir, data.config.store),
    clock,
    turns,
    slot,
    onFault,
    ...counts,
    background: true,
  })
  const cancelled = new AbortController()
  let rung = new AbortController()
  port.on('message', (message) => {
    if (message === 'cancel') cancelled.abort()
    rung.abort()
  })
  const rest = async (atMostMs: number) => {
    await pause(clock, atMostMs, rung.signal)
    // A ring that came while the job was at work may be about something that it has already looked past.
    rung = new AbortController()
  }
  try {
    await work({
      data,
      store,
      clock,
      log,
      meter,
      rest,
      signal: cancelled.signal,
      plans: data.plans,
      backlog: joinBacklog(data.backlog),
      ring: (due) => tell({ kind: 'ring', due }),
      say: (said) => tell({ kind: 'result', said }),
    })
  } finally {
    await store.close()
    counting.close()
    if (cancelled.signal.aborted) tell('cancelled')
    port.close()
  }
}
