import type { Clock } from '../clock/index.js'
import type { ApplianceKey, Config } from '../config/index.js'
import type { Resolver } from '../dns/index.js'
import type { Read } from '../store/index.js'

export interface DoctorDeps {
  config: Config
  dataDir: string
  read: Read
  clock: Clock
  resolver: Resolver
  key: ApplianceKey
  /** In [0, 1); for the shuffle of equal MXs. */
  random: () => number
  /** Tests: authorities (PEM) instead of the usual ones. */
  ca?: string
}
