import type { Clock } from '../clock/index.js'
import type { Log } from '../log/index.js'
import type { Store } from '../store/index.js'
import { announceDisabled } from '../webhooks/index.js'
import type { Chore } from './housekeeping.js'

/** What webhooks need beside the courier. */
export function webhookChores({
  store,
  clock,
  log,
}: {
  store: Store
  clock: Clock
  log: Log
}): Chore[] {
  return [
    {
      name: 'notices of webhooks',
      everyMs: 5_000,
      run: (signal) => announceDisabled({ store, clock, log }, signal),
    },
  ]
}
