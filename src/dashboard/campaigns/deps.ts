import type { BroadcastDeps } from '../../broadcasts/index.js'
import type { GateOf } from '../../deliveries/index.js'
import type { EmailDeps } from '../../emails/index.js'
import type { RehearsalDeps } from '../../rehearsals/index.js'
import type { Switches } from '../../tracking/index.js'
import type { FollowLinks } from '../sandbox/follow-links.js'
import type { RenderedPages } from '../templates/rendered.js'

/** What the pages about campaigns need. `rendered`: keeps previews for as long as a frame needs to ask for them. */
export interface CampaignPageDeps extends EmailDeps, Pick<BroadcastDeps, 'plans' | 'renderer'> {
  rendered: RenderedPages
  /** Where the account's pictures are served. */
  publicUrl: string
  /** Asks whether the links of a mail work. */
  followLinks: FollowLinks
  /** How mail is tracked where neither domain nor account says it; undefined: nobody out there could ask for a pixel. */
  tracking: Switches | undefined
  /** With what a campaign is rehearsed. */
  rehearsing: Omit<RehearsalDeps, 'store' | 'clock'>
  /** Why a stream's mail waits. */
  gateOf: GateOf
}

/** For the domain: the appliance looks every few seconds whether there is a campaign to expand. */
export const withExpand = (deps: CampaignPageDeps) => ({ ...deps, expand: () => {} })
