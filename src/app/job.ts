import { parentPort, workerData } from 'node:worker_threads'
import { loadPlans, type Plans } from '../billing/index.js'
import { pause, systemClock } from '../clock/index.js'
import { type Backlog, joinBacklog, type StreamDue } from '../deliveries/index.js'
import { openLog } from '../log/index.js'
import type { Snapshot } from '../metrics/index.js'
import { openStore } from '../store/index.js'
import { openRenderer, type Renderer } from '../templates/index.js'
import { endFromThread } from './fault.js'
import { plansFile } from './files.js'
import { logOptions, type ThreadContext } from './thread.js'
import type { ThreadData } from './thread-data.js'
import { countCommits, openThreadMeter } from './thread-meter.js'

/** What a job makes mail with; aborting `signal` says that the appliance stops and the job is to end soon. */
export interface JobContext extends Pick<ThreadContext, 'store' | 'clock' | 'log' | 'meter'> {
  plans: Plans
  backlog: Backlog
  maxQueued: number
  retry: ThreadData['config']['outbound']['retry']
  renderer: Renderer
  signal: AbortSignal
  ring(due: readonly StreamDue[]): void
  /** Waits for so long, or until the main thread rings: there is something to do. */
  rest(atMostMs: number): Promise<void>
}

/** From a job's thread; Bree knows the last by itself. */
export type JobReport =
  | { kind: 'ring'; due: readonly StreamDue[] }
  | { kind: 'metrics'; snapshot: Snapshot }
  | 'cancelled'

/** The life of a Bree job's thread: open the ground, do the work once, close. */
export async function runJob(
  name: string,
  work: (context: JobContext) => Promise<void>,
): Promise<void> {
  const port = parentPort
  if (port === null) throw new Error(`${name} is a job's entry, not a program`)
  const data = workerData as ThreadData
  const log = openLog(logOptions(data.config.log)).child({ job: name })
  const { dataDir, turns, slot } = data
  const onFault = endFromThread(name)
  const tell = (report: JobReport) => port.postMessage(report)
  const { enabled } = data.config.metrics
  const counting = openThreadMeter(enabled, systemClock, name, (snapshot) =>
    tell({ kind: 'metrics', snapshot }),
  )
  const { meter } = counting
  const counts = countCommits(meter)
  const store = openStore({
    ...{ dataDir, clock: systemClock, turns, slot, onFault, ...counts },
    background: true,
  })
  const cancelled = new AbortController()
  let rung = new AbortController()
  port.on('message', (message) => {
    if (message === 'cancel') cancelled.abort()
    rung.abort()
  })
  const rest = async (atMostMs: number) => {
    await pause(systemClock, atMostMs, rung.signal)
    // A ring that came while the job was at work is of what it may have looked past.
    rung = new AbortController()
  }
  const renderer = openRenderer({ log, clock: systemClock, whenAsked: true })
  const { maxQueued, retry } = data.config.outbound
  try {
    await work({
      ...{
        store,
        log,
        meter,
        clock: systemClock,
        signal: cancelled.signal,
        renderer,
        maxQueued,
        retry,
      },
      plans: loadPlans(plansFile(dataDir)),
      backlog: joinBacklog(data.backlog),
      ring: (due) => tell({ kind: 'ring', due }),
      rest,
    })
  } finally {
    await renderer.close()
    await store.close()
    counting.close()
    if (cancelled.signal.aborted) tell('cancelled')
    port.close()
  }
}
