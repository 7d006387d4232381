import type { Store, Tx } from '../../store/index.js'
import { readCursors } from '../cursors.js'
import { readLogs } from '../read-logs.js'
import type { LoggedRow } from '../tally.js'
import { addCampaignCounts } from './hours.js'
import { addLinkClicks } from './links.js'
import { addCampaignPeople } from './people.js'
import { addReasons } from './reasons.js'
import type { CampaignTold } from './told.js'

/** What a slice of the logs says of campaigns. */
interface CampaignSlice {
  happenings: readonly LoggedRow[]
  told: readonly CampaignTold[]
}

/** Counts a slice, in the transaction that moves the cursors. A slice without campaigns writes nothing. */
export async function addCampaigns(tx: Tx, { happenings, told }: CampaignSlice): Promise<void> {
  await addCampaignCounts(tx, happenings)
  if (told.length === 0) return
  await addLinkClicks(tx, told)
  await addCampaignPeople(tx, told, await addReasons(tx, told))
}

const names = [
  ...(['campaign_event_id', 'campaign_event_until'] as const),
  ...(['campaign_consent_id', 'campaign_consent_until'] as const),
]

/**
 * Counts some rows from the time before campaigns were counted. Resolves with whether there may be more. Only one
 * thread may call it, as with `rollUp`.
 */
export async function countBefore({ read, write }: Store, limit: number): Promise<boolean> {
  const from = await read
    .selectFrom('figure_cursors')
    .select(names)
    .where('id', '=', 1)
    .executeTakeFirstOrThrow()
  const {
    campaign_event_id: event_id,
    campaign_event_until: events,
    campaign_consent_id: consent_id,
    campaign_consent_until: consents,
  } = from
  if (event_id >= events && consent_id >= consents) return false
  const cursors = { ...(await readCursors(read)), event_id, consent_id }
  const slice = await readLogs(read, cursors, { limit })
  const isBefore = ({ log, id }: { log: LoggedRow['log']; id: number }) =>
    (log === 'event' && id <= events) || (log === 'consent' && id <= consents)
  const { next } = slice
  const to = {
    campaign_event_id: next.event_id === event_id ? events : Math.min(next.event_id, events),
    campaign_consent_id:
      next.consent_id === consent_id ? consents : Math.min(next.consent_id, consents),
  }
  await write(async (tx) => {
    const { numUpdatedRows } = await tx
      .updateTable('figure_cursors')
      .set(to)
      .where('id', '=', 1)
      .where('campaign_event_id', '=', event_id)
      .where('campaign_consent_id', '=', consent_id)
      .executeTakeFirstOrThrow()
    if (numUpdatedRows !== 1n) return
    const happenings = slice.happenings.filter(isBefore)
    await addCampaigns(tx, { happenings, told: slice.told.filter(isBefore) })
  })
  return to.campaign_event_id < events || to.campaign_consent_id < consents
}
