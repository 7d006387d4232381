import { type Read, unindexed } from '../../store/index.js'
import type { RunStatus } from './status.js'

/** What a filter asks of a run. */
export interface ContactRun {
  id: string
  status: RunStatus
  step_id: number
  reason: string | null
  blocked: string | null
  held_at: number | null
}

// Nobody enters an automation more often than 20 times an hour; the latest runs are told.
const mostOfOne = 1_000

/** The runs of one contact, the newest first: searches of the indexes by contact. */
export async function runsOfContact(
  read: Read,
  automationId: string,
  contactId: string,
): Promise<ContactRun[]> {
  const live = await read
    .selectFrom('automation_live')
    .select(['id', 'status', 'step_id', 'blocked', 'held_at'])
    .where('contact_id', '=', contactId)
    .where('automation_id', '=', automationId)
    .execute()
  const ended = await read
    .selectFrom('automation_runs')
    .select(['id', 'status', 'step_id', 'reason'])
    .where('contact_id', '=', contactId)
    .where(unindexed('automation_id'), '=', automationId)
    .orderBy('id', 'desc')
    .limit(mostOfOne)
    .execute()
  const rows: ContactRun[] = [
    ...live.map((row) => ({ reason: null, ...row })),
    ...ended.map((row) => ({ blocked: null, held_at: null, ...row })),
  ]
  return rows.sort((a, b) => (a.id < b.id ? 1 : -1))
}
