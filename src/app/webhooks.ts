import type { Plans } from '../billing/index.js'
import type { Clock } from '../clock/index.js'
import type { Log } from '../log/index.js'
import type { Store } from '../store/index.js'
import { announceDisabled, forgetDeliveries } from '../webhooks/index.js'
import type { Chore } from './housekeeping.js'

/** What webhooks need beside the courier. */
export function webhookChores({
  store,
  clock,
  log,
  plans,
}: {
  store: Store
  clock: Clock
  log: Log
  plans: Plans
}): Chore[] {
  return [
    {
      name: 'notices of webhooks',
      everyMs: 5_000,
      run: (signal) => announceDisabled({ store, clock, log }, signal),
    },
    {
      name: 'old webhooks',
      everyMs: 60_000,
      run: (signal) => forgetDeliveries({ store, plans, log, now: clock.now() }, signal),
    },
  ]
}
