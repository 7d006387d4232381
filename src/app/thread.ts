import { parentPort, workerData } from 'node:worker_threads'
import { type Clock, systemClock } from '../clock/index.js'
import { type ApplianceKey, databaseAt, openApplianceKey } from '../config/index.js'
import type { LiveGate, RetriedLanes, StreamDue, StreamKey } from '../deliveries/index.js'
import { type Log, openLog } from '../log/index.js'
import type { Meter } from '../metrics/index.js'
import type { ThreadStanding } from '../outbound/index.js'
import { openStore, type Store, type StoreOptions } from '../store/index.js'
import { endFromThread } from './fault.js'
import { applianceKeyFile } from './files.js'
import { giveWay } from './give-way.js'
import type { MailRules } from './mail-rules.js'
import {
  type ReloadedFiles,
  type ThreadData,
  type ThreadOrder,
  type ThreadPorts,
  type ThreadReport,
  threadName,
} from './thread-data.js'
import { giveBackMemory } from './thread-heap.js'
import { countCommits, openThreadMeter } from './thread-meter.js'

export interface ThreadContext {
  data: ThreadData
  store: Store
  clock: Clock
  log: Log
  key: ApplianceKey
  meter: Meter
  /** Tells the outbound threads, through the main thread, what has fallen due. */
  ring(due: readonly StreamDue[]): void
}

/** What a worker thread does, as its entry file gives it. */
export interface ThreadWork {
  port?: number
  ports?: ThreadPorts
  ring?(due: readonly StreamDue[]): void
  /**
   * Files that operators edit have changed: gives what the main thread has read of them; TLS files are to be read
   * again.
   */
  reload?(files: ReloadedFiles): void
  gateOf?(stream: StreamKey): LiveGate | undefined
  standing?(): ThreadStanding
  retry?(lanes: RetriedLanes): Promise<void>
  record?(hits: string): void
  /** Resolves when nothing is under way for duties that are another node's by now. */
  letGo?(): Promise<void>
  stop(): Promise<void>
}

export interface ThreadManner extends Pick<StoreOptions, 'background'> {
  /** Whether somebody waits for its answers at the other end of a connection; other threads give way to it. */
  answers?: boolean
}

/** The life of a worker thread: open the ground, start the work, obey the main thread, close. */
export async function runThread(
  name: string,
  start: (context: ThreadContext) => Promise<ThreadWork>,
  { background = false, answers = false }: ThreadManner = {},
): Promise<void> {
  const port = parentPort
  if (port === null) throw new Error(`${name} is a worker thread's entry, not a program`)
  if (!answers) giveWay()
  const data = workerData as ThreadData
  const clock = systemClock
  const log = openLog(logOptions(data.config.log)).child({ thread: name })
  // Before the database, which counts its commits by it; `giveBackMemory` runs when the thread has been quiet.
  const counting = openThreadMeter(
    data.config.metrics.enabled,
    clock,
    threadName(name, data.index),
    (snapshot) => port.postMessage({ kind: 'metrics', snapshot } satisfies ThreadReport),
    () => giveBackMemory(store),
  )
  const { meter } = counting
  const { turns, slot } = data
  const database = databaseAt(data.dataDir, data.config.store)
  const onFault = endFromThread(name)
  const counts = countCommits(meter)
  const store = await openStore({ ...database, clock, turns, slot, onFault, ...counts, background })
  const key = openApplianceKey(applianceKeyFile(data.dataDir))
  const ring = (due: readonly StreamDue[]) =>
    port.postMessage({ kind: 'ring', due } satisfies ThreadReport)
  // Code, database and key are there, which a rehearsal is to show. It has not listened or taken anything.
  if (data.isRehearsal) {
    await store.close()
    counting.close()
    return port.postMessage({ kind: 'ready' } satisfies ThreadReport)
  }
  const work = await start({ data, store, clock, log, key, meter, ring })
  port.on('message', (order: ThreadOrder) => {
    switch (order.kind) {
      case 'ring':
        return work.ring?.(order.due)
      case 'reload':
        return work.reload?.(order)
      case 'gate': {
        const gate = work.gateOf?.(order.stream)
        return port.postMessage({
          kind: 'gate',
          question: order.question,
          gate,
        } satisfies ThreadReport)
      }
      case 'standing': {
        const { question } = order
        const standing = work.standing?.()
        return port.postMessage({ kind: 'standing', question, standing } satisfies ThreadReport)
      }
      case 'retry':
        return void work
          .retry?.(order.lanes)
          .catch((error) => log.error({ error }, 'A retry was not taken up; the next scan sees it'))
      case 'let-go': {
        const { question } = order
        const answer = () => port.postMessage({ kind: 'let-go', question } satisfies ThreadReport)
        return void (work.letGo?.() ?? Promise.resolve()).then(answer)
      }
      case 'hits':
        work.record?.(order.hits)
        return port.postMessage({ kind: 'hits', question: order.question } satisfies ThreadReport)
      case 'stop':
        return void stop()
    }
  })
  const stop = async () => {
    await work.stop()
    await store.close()
    counting.close()
    port.close()
  }
  const report: ThreadReport = {
    kind: 'ready',
    ...(work.port === undefined ? {} : { port: work.port }),
    ...(work.ports === undefined ? {} : { ports: work.ports }),
  }
  port.postMessage(report)
}

/** The rules that the main thread hands over to a thread of this kind (`thread-roster.ts`). */
export function mailRulesOf({ mailRules }: ThreadData): MailRules {
  if (mailRules === undefined) throw new Error('The thread was started without the rules for mail')
  return mailRules
}

/** The settings of the log as `openLog` takes them: with `auto` it looks itself whether a terminal reads it. */
export function logOptions(config: ThreadData['config']['log']) {
  return config.format === 'auto'
    ? { level: config.level }
    : { level: config.level, human: config.format === 'human' }
}
