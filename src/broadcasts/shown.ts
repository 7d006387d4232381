import { isoTime } from '../clock/index.js'
import { attachmentsOf } from '../contents/index.js'
import { shownAttachment } from '../emails/index.js'
import { internalFault } from '../errors/index.js'
import { readExtras, wholeExtras } from '../store/index.js'
import type { Broadcast, BroadcastDetail, BroadcastStatus } from './broadcast.js'
import { blocksOf } from './content.js'
import { beginOf } from './own-time.js'
import { paceOf } from './pace.js'
import type { BroadcastRecipient } from './recipients.js'
import type { shownVariants } from './shown-variants.js'
import { onlyListOf, whomOf } from './whom.js'

/**
 * A campaign of a list as clients see it. `stop`: why its account's mail does not leave, or null. `left`: how many
 * people left by it. `people`: whom it reaches, if it has not begun.
 */
export function shownBroadcast(
  broadcast: Broadcast,
  stop: string | null,
  { now, left, people }: { now: number; left: number; people?: number | undefined },
) {
  const { status, reason } = broadcastStanding(broadcast, stop, now)
  const whom = whomOf(broadcast)
  return {
    id: broadcast.id,
    name: broadcast.name,
    subject: broadcast.subject,
    status,
    pausedReason: status === 'paused' ? publicReason(broadcast, reason) : null,
    pausedBy: status === 'paused' ? pausedBy(broadcast) : null,
    waitsFor: status === 'scheduled' || status === 'sending' ? reason : null,
    failedReason: status === 'failed' ? reason : null,
    listId: onlyListOf(whom) ?? null,
    audience: whom,
    topicId: broadcast.topic_id,
    recipientCount: people ?? recipientCount(broadcast),
    scheduledAt: isoTime(broadcast.scheduled_at),
    sentAt: isoTime(broadcast.sent_at),
    createdAt: isoTime(broadcast.created_at),
    stats: {
      recipients: broadcast.recipients,
      delivered: broadcast.delivered,
      bounced: broadcast.bounced,
      opened: broadcast.opened,
      clicked: broadcast.clicked,
      left,
      ...ratesOf(broadcast),
    },
  }
}

/** The campaign with what was given for its mails, and their results. */
export function shownDetail(
  broadcast: BroadcastDetail,
  stop: string | null,
  {
    now,
    left,
    people,
    recipients,
    versions,
    alike,
    hasRoom,
  }: {
    now: number
    left: number
    people: number | undefined
    recipients: readonly BroadcastRecipient[]
    versions: ReturnType<typeof shownVariants>
    /** What is said about versions with the same content. */
    alike: readonly string[]
    hasRoom: boolean
  },
) {
  const { waiting, relayed, failed, suppressed, cancelled } = broadcast
  const { replyTo, headers, tags, warnings } = wholeExtras(readExtras(broadcast.extras))
  return {
    ...shownBroadcast(broadcast, stop, { now, left, people }),
    from: broadcast.from_header,
    previewText: broadcast.preview_text,
    blocks: blocksOf(broadcast),
    ...paceOf(broadcast),
    localTimeOf: broadcast.local_zone,
    notice: broadcast.notice_reason,
    archive: broadcast.archive === 1,
    ...versions,
    replyTo: broadcast.reply_to === null ? replyTo : [broadcast.reply_to],
    headers,
    tags,
    warnings: [...warnings, ...alike],
    attachments: (attachmentsOf(broadcast.attachments) ?? []).map(shownAttachment),
    progress: {
      waiting,
      relayed,
      failed,
      suppressed,
      cancelled,
      waitsForRoom: waitsForRoom(broadcast, stop, hasRoom),
    },
    recipients: recipients.map(shownRecipient),
  }
}

/** Times are ISO 8601 in every answer (interface.md). */
export const shownRecipient = <R extends BroadcastRecipient>({
  openedAt,
  clickedAt,
  ...one
}: R) => ({
  ...one,
  openedAt: isoTime(openedAt),
  clickedAt: isoTime(clickedAt),
})

/** The answer about a campaign that a client has just made or sent. */
export function shownMade({ id, status, audience, scheduled_at }: Broadcast) {
  if (status === 'sending') return { id, status, recipientCount: audience }
  const scheduledAt = status === 'scheduled' ? { scheduledAt: isoTime(scheduled_at) } : {}
  return { id, status, ...scheduledAt, estimatedRecipients: audience }
}

/** The reason of a campaign's state in words for its account: a fault of ours concerns only the operator. */
export const publicReason = (
  { status, paused_by }: Pick<Broadcast, 'status' | 'paused_by'>,
  reason: string | null,
): string | null => (status === 'paused' && paused_by === 'fault' ? internalFault : reason)

const pausedBy = ({ paused_by }: Broadcast) => (paused_by === 'account' ? 'account' : 'operator')

/** The state of a campaign, as whoever looks at it sees it. */
export interface BroadcastStanding {
  status: BroadcastStatus
  /** Why it is paused or has failed. */
  reason: string | null
}

/**
 * While its account is stopped (`stop`: why), a campaign that is sending, or should be by now, is
 * shown as paused, though its row does not say so: it goes on by itself once the stop is cleared.
 */
export function broadcastStanding(
  { status, reason, ...broadcast }: Broadcast,
  stop: string | null,
  now: number,
): BroadcastStanding {
  const due = status === 'sending' || (status === 'scheduled' && (beginOf(broadcast) ?? now) <= now)
  return due && stop !== null ? { status: 'paused', reason: stop } : { status, reason }
}

/**
 * Whether more of its mails must be made and cannot, as the queue or the disk is full. A campaign of a stopped account
 * (`stop`: why) waits for that first.
 */
export const waitsForRoom = (
  { status, expanded }: Broadcast,
  stop: string | null,
  hasRoom: boolean,
): boolean => status === 'sending' && expanded === 0 && stop === null && !hasRoom

/** How many people it is for: counted before the dispatch, and by the mails themselves once all are made. */
export const recipientCount = ({ status, expanded, recipients, audience }: Broadcast) =>
  expanded === 1 || status === 'cancelled' ? recipients : audience

interface Rates {
  openRate: number
  clickRate: number
}

/**
 * In percent of what has arrived, to two decimals. Mail that a smart host accepted counts as arrived: few of them ever
 * tell more. So does mail that bounced after it was accepted, as its opens count too, and mail that was opened though
 * no server has said that it accepted it: no rate is over 100 %.
 */
export function ratesOf(broadcast: Broadcast): Rates {
  const { delivered, relayed, bounced_late: late, opened, clicked } = broadcast
  const arrived = Math.max(delivered + relayed + late, opened, clicked)
  const rate = (count: number) => (arrived === 0 ? 0 : Math.round((count / arrived) * 10_000) / 100)
  return { openRate: rate(opened), clickRate: rate(clicked) }
}
