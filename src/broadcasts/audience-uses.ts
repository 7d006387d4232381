import { listUses } from '../automations/index.js'
import type { UsesOfSegment } from '../segments/index.js'
import { campaignsTo } from './whom.js'

/** The automations and campaigns that name a list or a segment. */
export const audienceUses: UsesOfSegment = async (read, accountId, id) => {
  const campaigns = await campaignsTo(read, accountId, id)
  return [
    ...(await listUses(read, accountId, id)),
    ...campaigns.map((one) => ({ ...one, kind: 'campaign' as const })),
  ]
}
