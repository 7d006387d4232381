import type { Clock } from '../clock/index.js'
import type { Store } from '../store/index.js'

export interface DashboardDeps {
  store: Store
  clock: Clock
  /** Whether mail goes to the built-in inbox, which then has pages. */
  sandbox: boolean
  /** Where backups are; empty: none are made. */
  backupDir: string
}
