import type { Tone } from '../shell/parts.js'

/** One thing that is looked at before a campaign leaves. */
export interface CampaignCheck {
  tone: Tone
  says: string
  /** Where it is mended. */
  mend?: { label: string; href: string }
}
