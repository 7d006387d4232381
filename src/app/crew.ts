import type { Clock } from '../clock/index.js'
import type { Config } from '../config/index.js'
import type { StreamDue } from '../deliveries/index.js'
import type { Log } from '../log/index.js'
import { type Supervised, type SuperviseOptions, supervise } from './supervise.js'

/** The worker threads together. */
export interface Crew {
  ring(due: readonly StreamDue[]): void
  readonly sandboxPort: number | undefined
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
}

const entry = (name: string) => new URL(`../threads/${name}.js`, import.meta.url)
// Write slots: main has 0, the outbound threads those after these.
const sandboxSlot = 1
const checkpointSlot = 2
const firstOutboundSlot = 3
// What a thread may take beyond its own grace to write its last results and close.
const closingMs = 10_000
// Beyond it only a new process may help; systemd's watchdog then brings one.
const maxDownMs = 180_000

export async function openCrew(options: CrewOptions): Promise<Crew> {
  const { config, dataDir, publicUrl, turns, backlog, log, clock, metrics } = options
  const opened: { thread: Supervised; graceMs: number }[] = []
  const close = async () => {
    // In reverse: the sandbox inbox outlives those who deliver to it.
    for (const { thread, graceMs } of opened.reverse().splice(0)) await thread.stop(graceMs)
  }
  try {
    const common = { config, dataDir, publicUrl, turns, backlog }
    const checkpoint = await supervise({
      name: 'checkpoint',
      entry: entry('checkpoint'),
      data: { ...common, slot: checkpointSlot, index: 0 },
      log,
      clock,
      metrics,
    })
    opened.push({ thread: checkpoint, graceMs: closingMs })
    let sandboxPort: number | undefined
    if (config.outbound.route === 'sandbox') {
      const thread = await supervise({
        name: 'sandbox',
        entry: entry('sandbox'),
        data: { ...common, slot: sandboxSlot, index: 0, sandboxPort: config.sandbox.smtpPort },
        log,
        clock,
        metrics,
      })
      opened.push({ thread, graceMs: closingMs })
      sandboxPort = thread.port
    }
    const outbound = await Promise.all(
      Array.from({ length: config.outbound.threads }, async (_, index) => {
        const thread = await supervise({
          name: `outbound-${index}`,
          entry: entry('outbound'),
          data: {
            ...common,
            slot: firstOutboundSlot + index,
            index,
            ...(sandboxPort === undefined ? {} : { sandboxPort }),
          },
          log,
          clock,
          metrics,
        })
        opened.push({ thread, graceMs: config.outbound.shutdownGrace + closingMs })
        return thread
      }),
    )
    return {
      sandboxPort,
      healthy: () =>
        opened.every(({ thread }) => clock.now() - (thread.downSince ?? clock.now()) < maxDownMs),
      ring: (due) => {
        for (const thread of outbound) thread.send({ kind: 'ring', due })
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}
