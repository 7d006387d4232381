import { prepared } from '../store/index.js'
import { inSlices, type RetentionDeps } from './slices.js'
import { dropBodies } from './uses.js'

const atOnce = 100

/** Deletes the contents of campaigns that ended before `until` and of which no mail has it any more. */
export async function forgetCampaignBodies(
  deps: RetentionDeps,
  { until, signal }: { until: number; signal: AbortSignal },
): Promise<number> {
  let gone = 0
  for (let after = ''; !signal.aborted; ) {
    const rows = await unusedOfCampaigns(deps.store.read, { after, until, limit: atOnce })
    const last = rows.at(-1)
    if (last === undefined) break
    after = last.campaign
    const pieces = rows.map((row) => ({ item: row, bytes: row.bytes }))
    await inSlices(deps, pieces, (tx, row) => dropBodies(tx, [row]), signal)
    gone += rows.length
  }
  return gone
}

interface CampaignBody {
  campaign: string
  id: number
  attachments: string | null
  bytes: number
}

/** Campaigns are few: all of them are looked at, by the primary key. A body without a count never had a mail. */
const unusedOfCampaigns = prepared<{ after: string; until: number; limit: number }, CampaignBody>(
  (db, { after, until, limit }) =>
    db
      .selectFrom('broadcasts')
      .innerJoin('bodies', 'bodies.id', 'broadcasts.body_id')
      .leftJoin('body_uses', 'body_uses.body_id', 'bodies.id')
      .select(['broadcasts.id as campaign', 'bodies.id', 'attachments'])
      .select(({ fn }) => fn<number>('octet_length', ['html']).as('bytes'))
      .where('broadcasts.id', '>', after)
      .where('ended_at', '<', until)
      .where(({ or, and, eb }) =>
        or([eb('uses', '<=', 0), and([eb('uses', 'is', null), eb('recipients', '=', 0)])]),
      )
      .orderBy('broadcasts.id')
      .limit(limit),
)
