import { tmpdir } from 'node:os'
import { loadPlans } from '../../src/billing/index.js'
import { systemClock } from '../../src/clock/index.js'
import { loadConfig, packageFile } from '../../src/config/index.js'
import type { OperatorPageDeps } from '../../src/dashboard/index.js'
import type { Store } from '../../src/store/index.js'

/** For pages that stand without an appliance: nothing is under way, and nothing can be started. */
export function quietOperator(store: Store): OperatorPageDeps {
  return {
    store,
    clock: systemClock,
    config: loadConfig({ env: {} }),
    configFile: undefined,
    dataDir: tmpdir(),
    plans: loadPlans(packageFile('config/plans.toml')),
    running: {
      async overview() {
        throw new Error('No appliance runs')
      },
      gateOf: async () => undefined,
      retry() {},
      runJob: async () => ({ kind: 'unknown' }),
      inviteNode: async () => ({ code: '', left: [], notHandedOn: [] }),
    },
    land: async () => {},
    certificates: () => [],
    shapingFiles: () => [packageFile('config/shaping.toml')],
    openResolver() {
      throw new Error('No DNS is asked')
    },
  }
}
