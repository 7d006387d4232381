import type { ArchiveTools } from '../archive/routes.js'
import type { LiveLimit, TakeOuts, Versions } from '../automations/index.js'
import type { Plans } from '../billing/index.js'
import type { SharedCounts } from '../bounded/index.js'
import type { Clock } from '../clock/index.js'
import type { ApplianceKey, Config } from '../config/index.js'
import type { BulkTasks, ContactEffect, Importer, ImportTasks } from '../contacts/index.js'
import type { EmailPageDeps, NodeMemory, RunningAppliance } from '../dashboard/index.js'
import type { Backlog } from '../deliveries/index.js'
import type { Idempotency } from '../emails/index.js'
import type { emailRoutes } from '../emails/routes.js'
import type { Erasures } from '../erasure/index.js'
import type { LandEvents } from '../events/index.js'
import type { FormTallies, SignupTokens } from '../forms/index.js'
import type { FormDesk } from '../forms/routes.js'
import type { HttpServerOptions } from '../http/index.js'
import type { Log } from '../log/index.js'
import type { NodeRecords } from '../nodes/index.js'
import type { Store } from '../store/index.js'
import type { Renderer } from '../templates/index.js'
import type { Health } from './health.js'
import type { Hold } from './hold.js'
import type { Metrics } from './metrics.js'

/** Where the listeners have their settings, files and log. */
export interface ListenerOptions {
  config: Config
  configFile?: string | undefined
  dataDir: string
  log: Log
}

/** What the listeners are made of: the parts that the appliance has opened. */
export interface Core {
  store: Store
  /** What the other nodes want in the DNS. */
  others: readonly NodeRecords[]
  key: ApplianceKey
  clock: Clock
  metrics: Metrics
  ring: Parameters<typeof emailRoutes>[1]['ring']
  ringOthers: Parameters<typeof emailRoutes>[1]['ringOthers']
  backlog: Backlog
  health: Health
  hold: Hold
  counts: SharedCounts | undefined
  plans: Plans
  gateOf: EmailPageDeps['gateOf']
  /** Where recipients reach the public listener. */
  publicUrl: string
  land: LandEvents
  running: RunningAppliance
  memory: NodeMemory
  renderer: Renderer
  importer: Importer
  imports: ImportTasks
  bulk: BulkTasks
  erasures: Erasures
  takeOuts: TakeOuts
  follow: ContactEffect
  idempotency: Idempotency
  expand: () => void
  automate: () => void
  automateIfDue: () => void
  versions: Versions
  isFull: () => Promise<boolean>
  checkRoom: () => Promise<void>
  liveLimit: LiveLimit
  forms: { tokens: SignupTokens; tallies: FormTallies }
  openDesk: (desk: FormDesk) => void
  openArchive: (tools: ArchiveTools) => void
  overTls: HttpServerOptions<never>['overTls']
}
