import { makeFollowAutomations, makeLiveLimit } from '../automations/index.js'
import type { Plans } from '../billing/index.js'
import { followBroadcasts } from '../broadcasts/index.js'
import type { Config } from '../config/index.js'
import { type LandEvents, makeLandEvents } from '../events/index.js'
import { makeFollowForms } from '../forms/index.js'
import { makeProtection } from '../protection/index.js'
import { suppressFailing } from '../suppression/index.js'
import { makeWebhookJobs } from '../webhooks/index.js'

/** What follows from what happens to a mail, the same in every thread and in the CLI. */
export function makeEffects(config: Config, plans: Plans): LandEvents {
  const webhookJobs = makeWebhookJobs(plans)
  const protection = makeFollowForms(makeProtection(config.protection))
  const followAutomations = makeFollowAutomations(makeLiveLimit(config.automations.maxLiveRuns))
  return makeLandEvents([
    suppressFailing,
    protection,
    followBroadcasts,
    followAutomations,
    webhookJobs,
  ])
}
