import { makeFollowAutomations, makeLiveLimit } from '../automations/index.js'
import type { Plans } from '../billing/index.js'
import { followBroadcasts } from '../broadcasts/index.js'
import type { Config } from '../config/index.js'
import { type Effect, type LandEvents, makeLandEvents } from '../events/index.js'
import { makeFollowForms } from '../forms/index.js'
import { makeProtection } from '../protection/index.js'
import { isTestId } from '../store/index.js'
import { suppressFailing } from '../suppression/index.js'
import { makeWebhookJobs } from '../webhooks/index.js'

/** What follows from what happens to a mail, the same in every thread and in the CLI. */
export function makeEffects(config: Config, plans: Plans): LandEvents {
  const webhookJobs = makeWebhookJobs(plans)
  const protection = makeFollowForms(makeProtection(config.protection))
  const followAutomations = makeFollowAutomations(makeLiveLimit(config.automations.maxLiveRuns))
  const real = [suppressFailing, protection, followBroadcasts, followAutomations]
  return makeLandEvents([...real.map(ofRealMail), webhookJobs])
}

/**
 * Only a test key's own program hears what happens to its mail: nothing is suppressed, counted in a rate, or set off by
 * it.
 */
const ofRealMail =
  (effect: Effect): Effect =>
  async (tx, events) => {
    const isAllReal = !events.some(({ emailId }) => isTestId(emailId))
    const real = isAllReal ? events : events.filter(({ emailId }) => !isTestId(emailId))
    if (real.length > 0) await effect(tx, real)
  }
