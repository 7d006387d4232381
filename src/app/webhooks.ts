import type { Plans } from '../billing/index.js'
import { announceDisabled, forgetDeliveries } from '../webhooks/index.js'
import type { Chore } from './housekeeping.js'
import { type OperatorPostDeps, withOperatorPost } from './operator-post.js'

/** What webhooks need beside the courier. */
export function webhookChores(deps: OperatorPostDeps & { plans: Plans }): Chore[] {
  const { store, clock, log, plans } = deps
  return [
    {
      name: 'notices of webhooks',
      everyMs: 5_000,
      run: (signal) =>
        withOperatorPost(deps, (post) => announceDisabled({ store, log, post }, signal)),
    },
    {
      name: 'old webhooks',
      everyMs: 60_000,
      run: (signal) => forgetDeliveries({ store, plans, log, now: clock.now() }, signal),
    },
  ]
}
