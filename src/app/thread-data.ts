import type { Plans } from '../billing/index.js'
import type { Config } from '../config/index.js'
import type { LiveGate, RetriedLanes, StreamDue, StreamKey } from '../deliveries/index.js'
import type { Snapshot } from '../metrics/index.js'
import type { ThreadStanding } from '../outbound/index.js'
import type { TrackingAgents } from '../tracking/index.js'
import type { MailRules } from './mail-rules.js'

/** `publicPlain`: beside `public`, which has TLS, for proxies that speak for the clients. */
export type HttpsListener = 'public' | 'publicPlain' | 'private'

/** Where the clients of an HTTP listener are looked up, for listeners that have TLS or are behind proxies. */
export type HttpsPeers = Readonly<Partial<Record<HttpsListener, SharedArrayBuffer>>>

/** What every worker thread is started with; plain data, because it is cloned. */
export interface ThreadData {
  config: Config
  /** The file that the settings were read from; jobs have it. */
  configFile?: string | undefined
  dataDir: string
  /** The operator's files as the main thread has read them: a mistake made since then ends no thread. */
  plans: Plans
  agents: TrackingAgents
  mailRules?: MailRules | undefined
  publicUrl: string
  /** The thread's place in the writers' turns (`store/sqlite/turns.ts`). */
  slot: number
  turns: SharedArrayBuffer
  /** How many deliveries wait (`deliveries/backlog.ts`). */
  backlog: SharedArrayBuffer
  /** The thread's number among those that do the same work. */
  index: number
  /** The port of a thread that listens, where it is another than that of the settings. */
  listenPort?: number
  /** The ports of a thread that listens at several, by name; a missing one is that of the settings. */
  listenPorts?: ThreadPorts
  /** Given only to the thread in front of the HTTP listeners. */
  httpsPeers?: HttpsPeers
  /** Where the sandbox inbox listens, for the outbound threads. */
  sandboxPort?: number
  /** Where the inbound listener is, for the reports of the simulator. */
  inboundPort?: number
  /** The thread only loads its code and opens what it needs, to show that it can, and ends. */
  isRehearsal?: boolean
}

/** What the log and the metrics call a thread. */
export const threadName = (kind: string, index: number) =>
  kind === 'outbound' ? `${kind}-${index}` : kind

export type ThreadPorts = Readonly<Record<string, number>>

/** From a thread to the main thread. `ready` once it works; `port` where it listens. */
export type ThreadReport =
  | { kind: 'ready'; port?: number; ports?: ThreadPorts }
  /** It has taken mail in. */
  | { kind: 'ring'; due: readonly StreamDue[] }
  | { kind: 'stopped' }
  | { kind: 'metrics'; snapshot: Snapshot }
  /** The answer to the question of this number. */
  | { kind: 'gate'; question: number; gate: LiveGate | undefined }
  | { kind: 'standing'; question: number; standing: ThreadStanding | undefined }
  /** Nothing is under way any more for duties that are another node's by now. */
  | { kind: 'let-go'; question: number }
  /** It has taken over the hits of the order with this number. */
  | { kind: 'hits'; question: number }

/** What the main thread has read again for a thread. */
export type ReloadedFiles = Pick<ThreadData, 'agents' | 'mailRules'>

/** From the main thread to a thread. */
export type ThreadOrder =
  | { kind: 'ring'; due: readonly StreamDue[] }
  /** Files that operators edit are to be read again. */
  | ({ kind: 'reload' } & ReloadedFiles)
  | { kind: 'gate'; question: number; stream: StreamKey }
  /** Which sites and accounts it is busy with. */
  | { kind: 'standing'; question: number }
  /** The operator wants these lanes tried now. */
  | { kind: 'retry'; lanes: RetriedLanes }
  /** Duties have gone to another node. */
  | { kind: 'let-go'; question: number }
  /** Opens and clicks are to be recorded (`tracking/hand-over.ts`). */
  | { kind: 'hits'; question: number; hits: string }
  | { kind: 'stop' }
