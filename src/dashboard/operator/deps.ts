import type { Plans } from '../../billing/index.js'
import type { Clock } from '../../clock/index.js'
import type { Config } from '../../config/index.js'
import type { GateOf, RetriedLanes } from '../../deliveries/index.js'
import type { Resolver } from '../../dns/index.js'
import type { ListenerCertificate, Overview } from '../../doctor/index.js'
import type { LandEvents } from '../../events/index.js'
import type { Store } from '../../store/index.js'

/** What the operator's pages need of the appliance that serves them. */
export interface OperatorPageDeps {
  store: Store
  clock: Clock
  config: Config
  /** The file that the settings were read from, if there is one. */
  configFile: string | undefined
  dataDir: string
  plans: Plans
  running: RunningAppliance
  /** Writes events of mail, with all that follows from them. */
  land: LandEvents
  certificates: () => readonly ListenerCertificate[]
  /** The shaping that comes with Posthorn, then the operator's. */
  shapingFiles: () => string[]
  openResolver: () => Resolver
}

/** What only the appliance's memory knows, and what it can be asked to do. */
export interface RunningAppliance {
  overview(): Promise<Overview>
  gateOf: GateOf
  /** These domains' mail is to be tried even where a site is suspended. */
  retry(lanes: RetriedLanes): void
  /** Like `posthorn job run`, but without waiting for its end. */
  runJob(name: string): Promise<JobStart>
  /**
   * Like `posthorn node invite`. Throws an OperatorError where this appliance must stay alone, or where `at` is not
   * an address.
   */
  inviteNode(at: string): Promise<NodeInvited>
}

/** The code by which a machine joins, and what the code does not bring along. */
export interface NodeInvited {
  code: string
  left: readonly string[]
  notHandedOn: readonly string[]
}

/** Whether a job has begun, or why not. */
export type JobStart =
  | { kind: 'unknown' | 'under way' | 'ended' }
  | { kind: 'started'; behind?: string }
  | { kind: 'not begun'; cause: string }
