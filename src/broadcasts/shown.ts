import { attachmentsOf } from '../contents/index.js'
import { shownAttachment } from '../emails/index.js'
import { publicReason } from '../errors/index.js'
import { readExtras } from '../store/index.js'
import type { Broadcast, BroadcastDetail } from './broadcast.js'
import type { BroadcastRecipient } from './recipients.js'
import { ratesOf, recipientCount, standingOf } from './standing.js'

/** A campaign of a list as clients see it. `stop`: why its account's mail does not leave, or null. */
export function shownBroadcast(broadcast: Broadcast, stop: string | null, now: number) {
  const { status, reason } = standingOf(broadcast, stop, now)
  return {
    id: broadcast.id,
    name: broadcast.name,
    subject: broadcast.subject,
    status,
    pausedReason: status === 'paused' && reason !== null ? publicReason(reason) : null,
    pausedBy: status === 'paused' ? (broadcast.paused_by ?? 'operator') : null,
    failedReason: status === 'failed' ? reason : null,
    listId: broadcast.list_id,
    topicId: broadcast.topic_id,
    recipientCount: recipientCount(broadcast),
    scheduledAt: isoTime(broadcast.scheduled_at),
    sentAt: isoTime(broadcast.sent_at),
    createdAt: isoTime(broadcast.created_at),
    stats: {
      recipients: broadcast.recipients,
      delivered: broadcast.delivered,
      bounced: broadcast.bounced,
      opened: broadcast.opened,
      clicked: broadcast.clicked,
      ...ratesOf(broadcast),
    },
  }
}

/** The same with what was given for its mails, and what has become of them. */
export function shownDetail(
  broadcast: BroadcastDetail,
  stop: string | null,
  now: number,
  recipients: readonly BroadcastRecipient[],
) {
  const { waiting, relayed, failed, suppressed, cancelled } = broadcast
  const { replyTo = [], headers = {}, tags = [] } = readExtras(broadcast.extras) ?? {}
  return {
    ...shownBroadcast(broadcast, stop, now),
    from: broadcast.from_header,
    replyTo: broadcast.reply_to === null ? replyTo : [broadcast.reply_to],
    headers,
    tags,
    attachments: (attachmentsOf(broadcast.attachments) ?? []).map(shownAttachment),
    progress: { waiting, relayed, failed, suppressed, cancelled },
    recipients: recipients.map(shownRecipient),
  }
}

export const shownRecipient = <R extends BroadcastRecipient>({
  openedAt,
  clickedAt,
  ...one
}: R) => ({
  ...one,
  openedAt: isoTime(openedAt),
  clickedAt: isoTime(clickedAt),
})

/** What a client is told of a campaign that it has just made or sent. */
export function shownMade({ id, status, audience, scheduled_at }: Broadcast) {
  if (status === 'sending') return { id, status, recipientCount: audience }
  const scheduledAt = status === 'scheduled' ? { scheduledAt: isoTime(scheduled_at) } : {}
  return { id, status, ...scheduledAt, estimatedRecipients: audience }
}

const isoTime = (ms: number | null) => (ms === null ? null : new Date(ms).toISOString())
