import type { Clock } from '../clock/index.js'
import type { ApplianceKey, Config } from '../config/index.js'
import type { Backlog } from '../deliveries/index.js'
import type { Resolver } from '../dns/index.js'
import type { LandEvents } from '../events/index.js'
import type { Log } from '../log/index.js'
import type { Meter } from '../metrics/index.js'
import type { LatelyNotes } from '../nodes/index.js'
import type { BounceRules } from '../reports/index.js'
import type { Store } from '../store/index.js'
import type { Renderer } from '../templates/index.js'
import type { ShapingData } from './shaping/index.js'
import type { FetchPolicy } from './tls-policy/index.js'

/** What an outbound thread needs of the appliance. */
export interface OutboundDeps {
  store: Store
  clock: Clock
  resolver: Resolver
  log: Log
  key: ApplianceKey
  meter: Meter
  backlog: Backlog
  /** Writes what happens to mails, and all that follows from it. */
  land: LandEvents
  /** The journal of sent mail, for a database that could go back in time; none where the database is a file. */
  journal?: LatelyNotes | undefined
  config: Config['outbound']
  shaping: ShapingData
  /** Called for each refusal, because an operator may change the rules at any time. */
  bounceRules: () => BounceRules
  /** Where recipients reach the public listener, for the links in their mail. */
  publicUrl: string
  /** What is tracked where neither account nor domain says otherwise. */
  tracking: Config['tracking'] | undefined
  /** For campaigns whose content needs more than merge tags; opened by the first call. */
  renderer: () => Renderer
  /** Where the sandbox route leads; needed when `config.route` is `sandbox`. */
  sandbox?: { host: string; port: number }
  /** Where the recipients of the simulator are. */
  simulator: { address(): Promise<{ host: string; port: number }> }
  /** Where the mail of test keys goes. */
  testInbox: { address(): Promise<{ host: string; port: number }> }
  /** Tests: authorities (PEM) instead of the usual ones, and where MTA-STS policies come from. */
  tls?: { ca?: string; fetchPolicy?: FetchPolicy }
  /** Sessions are counted for the reports that receivers ask for (RFC 8460). */
  countTls?: boolean
  /** The name by which mail counts that leaves from no address of its own; by default it is `default`. */
  unnamedSource?: string
  /** This thread's number among `threads`: it works the recipient domains that hash to it. */
  thread: number
  threads: number
  /** In [0, 1); for jitter and for the shuffle of equal MXs. */
  random: () => number
}
