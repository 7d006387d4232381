import { isoTime } from '../clock/index.js'
import { type ContactEngagementRow, prepared, type Read } from '../store/index.js'

/**
 * The results of an account's mail to a contact: mails that servers accepted, and what people, not machines, did with
 * them.
 */
export interface ContactEngagement {
  sent: number
  opened: number
  clicked: number
  lastSentAt: number | null
  lastOpenedAt: number | null
  lastClickedAt: number | null
}

/** For a contact's id. It is about a second behind the log of mail (`stats/`). */
export async function engagementOf(read: Read, contactId: string): Promise<ContactEngagement> {
  const [row] = await rowOf(read, { contactId })
  return {
    sent: row?.sent ?? 0,
    opened: row?.opened ?? 0,
    clicked: row?.clicked ?? 0,
    lastSentAt: row?.last_sent_at ?? null,
    lastOpenedAt: row?.last_opened_at ?? null,
    lastClickedAt: row?.last_clicked_at ?? null,
  }
}

const rowOf = prepared<{ contactId: string }, ContactEngagementRow>((db, { contactId }) =>
  db.selectFrom('contact_engagement').selectAll().where('contact_id', '=', contactId),
)

/** As the API and commands show it. */
export const shownEngagement = ({
  lastSentAt,
  lastOpenedAt,
  lastClickedAt,
  ...counts
}: ContactEngagement) => ({
  ...counts,
  lastSentAt: isoTime(lastSentAt),
  lastOpenedAt: isoTime(lastOpenedAt),
  lastClickedAt: isoTime(lastClickedAt),
})
