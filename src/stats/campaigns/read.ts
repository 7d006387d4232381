import {
  type BroadcastBounceRow,
  type BroadcastHourRow,
  type BroadcastLinkRow,
  type BroadcastProviderRow,
  idsIn,
  type Read,
} from '../../store/index.js'
import { addTo, type Counts, noCounts } from '../add-figures.js'

/** The figures of a campaign; each list is bounded. */
export interface CampaignFigures {
  total: Counts
  /** Hours from the first one on, later days. Hours in which nothing happened are left out. */
  hours: BroadcastHourRow[]
  /** The largest first, as are the next two. */
  providers: BroadcastProviderRow[]
  links: Omit<BroadcastLinkRow, 'broadcast_id'>[]
  reasons: Omit<BroadcastBounceRow, 'broadcast_id'>[]
  /** False while events of before an update are still counted. */
  upToDate: boolean
}

/** The rolled-up figures of a campaign: a few index searches, however many it was sent to. */
export async function readCampaignFigures(
  read: Read,
  broadcastId: string,
): Promise<CampaignFigures> {
  const hours = await read
    .selectFrom('broadcast_hours')
    .selectAll()
    .where('broadcast_id', '=', broadcastId)
    .orderBy('at')
    .execute()
  const providers = await read
    .selectFrom('broadcast_providers')
    .selectAll()
    .where('broadcast_id', '=', broadcastId)
    .execute()
  const links = await read
    .selectFrom('broadcast_links')
    .select(['number', 'url', 'clicked', 'people', 'clicked_machine'])
    .where('broadcast_id', '=', broadcastId)
    .execute()
  const reasons = await read
    .selectFrom('broadcast_bounces')
    .select(['number', 'kind', 'class', 'words', 'count'])
    .where('broadcast_id', '=', broadcastId)
    .execute()
  const total = noCounts()
  for (const hour of hours) addTo(total, hour)
  const size = ({ delivered, relayed, bounced_hard, bounced_soft, failed }: Counts) =>
    delivered + relayed + bounced_hard + bounced_soft + failed
  return {
    total,
    hours,
    providers: providers.toSorted((a, b) => size(b) - size(a)),
    links: links.toSorted((a, b) => b.people - a.people || b.clicked - a.clicked),
    reasons: reasons.toSorted((a, b) => b.count - a.count),
    upToDate: await isCounted(read),
  }
}

// The counters that shares are made of; a sum of all counters takes twice the time.
const shared = [
  ...(['answered', 'delivered', 'relayed', 'bounced_hard', 'bounced_soft'] as const),
  ...(['complained', 'unsubscribed', 'opened_unique', 'clicked_unique'] as const),
]

/** The sums of these counters for some campaigns, by their ids. */
export async function sumCampaigns(
  read: Read,
  broadcastIds: readonly string[],
): Promise<Map<string, Counts>> {
  const rows = await read
    .selectFrom('broadcast_hours')
    .select('broadcast_id as id')
    .select(({ fn }) => shared.map((counter) => fn.sum<number>(counter).as(counter)))
    .where('broadcast_id', 'in', idsIn([...broadcastIds], 'text'))
    .groupBy('broadcast_id')
    .execute()
  return new Map(rows.map((row) => [row.id, { ...noCounts(), ...row }]))
}

async function isCounted(read: Read): Promise<boolean> {
  const row = await read
    .selectFrom('figure_cursors')
    .select(['campaign_event_id', 'campaign_event_until'])
    .where('id', '=', 1)
    .executeTakeFirstOrThrow()
  return row.campaign_event_id >= row.campaign_event_until
}

/**
 * The address of one of a campaign's links, by its number; undefined: there is no such link, or none is asked for.
 */
export async function urlOfLink(
  read: Read,
  broadcastId: string,
  number: number | undefined,
): Promise<string | undefined> {
  if (number === undefined) return undefined
  const row = await read
    .selectFrom('broadcast_links')
    .select('url')
    .where('broadcast_id', '=', broadcastId)
    .where('number', '=', number)
    .executeTakeFirst()
  return row === undefined || row.url === '*' ? undefined : row.url
}
