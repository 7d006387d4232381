import type { Read } from '../../store/index.js'

// How many of the last campaigns are read: as many as a page or a file can have.
const mostCampaigns = 1_000
const mostClicks = 5_000

/** What a contact did with one campaign. */
export interface CampaignDeeds {
  broadcastId: string
  openedAt: number | null
  clickedAt: number | null
  leftAt: number | null
  complainedAt: number | null
  unreachedAt: number | null
  /** When a server has taken it, as far as that is noted. */
  takenAt: number | null
  /** The addresses of the links that they clicked. */
  links: string[]
}

/** What a contact did with campaigns, the newest first. */
export async function campaignDeedsOf(read: Read, contactId: string): Promise<CampaignDeeds[]> {
  const rows = await read
    .selectFrom('broadcast_people')
    .selectAll()
    .where('contact_id', '=', contactId)
    .orderBy('broadcast_id', 'desc')
    .limit(mostCampaigns)
    .execute()
  const clicks = await read
    .selectFrom('broadcast_link_people')
    .innerJoin('broadcast_links', (join) =>
      join
        .onRef('broadcast_links.broadcast_id', '=', 'broadcast_link_people.broadcast_id')
        .onRef('broadcast_links.number', '=', 'broadcast_link_people.link'),
    )
    .select(['broadcast_links.broadcast_id as broadcastId', 'broadcast_links.url'])
    .where('broadcast_link_people.contact_id', '=', contactId)
    .limit(mostClicks)
    .execute()
  return rows.map((row) => ({
    broadcastId: row.broadcast_id,
    openedAt: row.opened_at,
    clickedAt: row.clicked_at,
    leftAt: row.left_at,
    complainedAt: row.complained_at,
    unreachedAt: row.unreached_at,
    takenAt: row.taken_at,
    links: clicks.filter((one) => one.broadcastId === row.broadcast_id).map(({ url }) => url),
  }))
}
