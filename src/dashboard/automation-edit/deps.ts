import type { UnseenDeps } from '../../automations/index.js'
import type { AutomationPageDeps } from '../automations/deps.js'
import type { CampaignPageDeps } from '../campaigns/deps.js'
import type { RenderedPages } from '../templates/rendered.js'

/** What the automation editor needs. `rendered` keeps previews for as long as a frame needs to ask for them. */
export type AutomationEditDeps = AutomationPageDeps & { rendered: RenderedPages } & Pick<
    UnseenDeps,
    'tracking'
  > &
  Pick<CampaignPageDeps, 'publicUrl'>
