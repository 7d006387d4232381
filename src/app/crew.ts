import type { Clock } from '../clock/index.js'
import type { Config } from '../config/index.js'
import type { LiveGate, RetriedLanes, StreamDue, StreamKey } from '../deliveries/index.js'
import type { Log } from '../log/index.js'
import { type Supervised, type SuperviseOptions, supervise } from './supervise.js'

/** The worker threads together. */
export interface Crew {
  ring(due: readonly StreamDue[]): void
  /** The files that operators edit are to be read again. */
  reload(): void
  /** At which gate a stream's mail stands; undefined when nothing of it is due. */
  gateOf(stream: StreamKey): Promise<LiveGate | undefined>
  /** The operator made mail due, which is to be tried even where a site is suspended. */
  retry(lanes: RetriedLanes): void
  readonly sandboxPort: number | undefined
  /** Where bounces and complaints come to. */
  readonly inboundPort: number | undefined
  /** Where programs hand mail in, by the listener's name. */
  readonly submissionPorts: Readonly<Record<string, number>>
  /** False when a thread has not come back for minutes, although it was started again and again. */
  healthy(): boolean
  close(): Promise<void>
}

export interface CrewOptions {
  config: Config
  dataDir: string
  publicUrl: string
  turns: SharedArrayBuffer
  backlog: SharedArrayBuffer
  log: Log
  clock: Clock
  metrics: SuperviseOptions['metrics']
  /** Threads that take mail in say what has fallen due. */
  onRing: (due: readonly StreamDue[]) => void
}

const entry = (name: string) => new URL(`../threads/${name}.js`, import.meta.url)
// Write slots: main has 0, the outbound threads those after these.
const sandboxSlot = 1
/** Of the thread that is there while automations have something due. */
export const automateSlot = 2
const firstOutboundSlot = 3 // and 7 more
const inboundSlot = 11
const courierSlot = 12
/** Of the threads that are there while campaigns are expanded, and while contacts are imported. */
export const expandSlot = 13
export const importSlot = 14
const submissionSlot = 15
// It makes no ids: its slot has no numbers for them.
const checkpointSlot = 16
// What a thread may take beyond its own grace to write its last results and close.
const closingMs = 10_000
// Beyond it only a new process may help; systemd's watchdog then brings one.
const maxDownMs = 180_000

export async function openCrew(options: CrewOptions): Promise<Crew> {
  const { config, dataDir, publicUrl, turns, backlog, log, clock, metrics } = options
  // In the order in which they are to be there; several of them start at the same time.
  const opened: { starting: Promise<Supervised>; graceMs: number }[] = []
  const close = async () => {
    // In reverse: the sandbox inbox outlives those who deliver to it.
    for (const { starting, graceMs } of opened.reverse().splice(0)) {
      // One that could not start has nothing to stop.
      const thread = await starting.catch(() => undefined)
      await thread?.stop(graceMs)
    }
  }
  const start = (
    kind: 'checkpoint' | 'sandbox' | 'inbound' | 'outbound' | 'courier' | 'submission',
    own: { slot: number; index: number; sandboxPort?: number; inboundPort?: number },
    graceMs = closingMs,
  ): Promise<Supervised> => {
    const starting = supervise({
      name: kind === 'outbound' ? `${kind}-${own.index}` : kind,
      entry: entry(kind),
      data: { config, dataDir, publicUrl, turns, backlog, ...own },
      log,
      clock,
      metrics,
      onRing: options.onRing,
    })
    // A failure is heard of when all of them are waited for.
    starting.catch(() => {})
    opened.push({ starting, graceMs })
    return starting
  }
  try {
    start('checkpoint', { slot: checkpointSlot, index: 0 }).catch(() => {})
    // Before any mail leaves: what it brings about may come back at once.
    const starting = config.inbound.enabled
      ? start('inbound', { slot: inboundSlot, index: 0 })
      : undefined
    const sandbox =
      config.outbound.route === 'sandbox'
        ? await start('sandbox', { slot: sandboxSlot, index: 0 })
        : undefined
    const inbound = await starting
    const sandboxPort = sandbox?.port
    const senders = Array.from({ length: config.outbound.threads }, (_, index) =>
      start(
        'outbound',
        {
          slot: firstOutboundSlot + index,
          index,
          ...(sandboxPort === undefined ? {} : { sandboxPort }),
          ...(inbound?.port === undefined ? {} : { inboundPort: inbound.port }),
        },
        config.outbound.shutdownGrace + closingMs,
      ),
    )
    // Before the outbound threads it is stopped: what it leaves goes out after the next start.
    start('courier', { slot: courierSlot, index: 0 }).catch(() => {})
    // Stopped before them all, as what it takes has to leave by them.
    const submission = config.submission.enabled
      ? await start('submission', { slot: submissionSlot, index: 0 })
      : undefined
    const outbound = await Promise.all(senders)
    const threads = await Promise.all(opened.map(({ starting }) => starting))
    return {
      sandboxPort,
      inboundPort: inbound?.port,
      submissionPorts: submission?.ports ?? {},
      healthy: () =>
        threads.every(({ downSince }) => clock.now() - (downSince ?? clock.now()) < maxDownMs),
      ring: (due) => {
        for (const thread of outbound) thread.send({ kind: 'ring', due })
      },
      reload: () => {
        for (const thread of threads) thread.send({ kind: 'reload' })
      },
      async gateOf(stream) {
        const gates = await Promise.all(outbound.map((thread) => thread.gateOf(stream)))
        return gates.find((gate) => gate !== undefined)
      },
      retry: (lanes) => {
        for (const thread of outbound) thread.send({ kind: 'retry', lanes })
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}
