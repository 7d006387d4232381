import type { EventDetail } from '../events/index.js'
import { idsIn, type Read, storedJson } from '../store/index.js'
import type { LoggedEvent } from './count-event.js'

const ends = ['delivered', 'relayed', 'bounced']
const visits = ['opened', 'clicked']

/**
 * Events of before this version do not say whether they were the first of their kind: of these it is
 * looked up, as far as the log still goes back.
 */
export async function tellFirsts(
  read: Read,
  events: readonly LoggedEvent[],
): Promise<LoggedEvent[]> {
  const kinds = new Map<string, number>()
  const emailIds = events.filter((event) => kindOf(event) !== undefined).map((one) => one.emailId)
  if (emailIds.length === 0) return [...events]
  const rows = await read
    .selectFrom('events')
    .select(['id', 'email_id as emailId', 'delivery_id as deliveryId', 'type', 'detail'])
    .where('email_id', 'in', idsIn([...new Set(emailIds)]))
    .where('type', 'in', [...ends, ...visits] as LoggedEvent['type'][])
    .execute()
  for (const row of rows) {
    const kind = kindOf({ ...row, detail: (storedJson(row.detail) ?? null) as EventDetail | null })
    if (kind !== undefined) kinds.set(kind, Math.min(row.id, kinds.get(kind) ?? row.id))
  }
  return events.map((event) => {
    const kind = kindOf(event)
    if (kind === undefined) return event
    const isFirst = kinds.get(kind) === event.id
    if (visits.includes(event.type)) {
      return isFirst ? { ...event, detail: { ...event.detail, first: true as const } } : event
    }
    // How it had ended is not told, and for the figures does not matter.
    return isFirst ? event : { ...event, detail: { ...event.detail, before: 'delivered' as const } }
  })
}

/** Of what it may be the first: an end of its delivery, or what a person did with its mail. */
function kindOf({
  type,
  emailId,
  deliveryId,
  detail,
}: Pick<LoggedEvent, 'type' | 'emailId' | 'deliveryId' | 'detail'>): string | undefined {
  if (ends.includes(type)) return `end ${deliveryId}`
  return visits.includes(type) && detail?.machine !== true ? `${type} ${emailId}` : undefined
}
