import { type Broadcast, htmlOf } from '../../broadcasts/index.js'
import { localTime } from '../../clock/index.js'
import { type Read, readExtras, wholeExtras } from '../../store/index.js'
import type { Template } from '../../templates/index.js'
import { firstHtml } from './begin.js'
import { usualSender } from './senders.js'

/** The fields of a draft's form, as they are typed. */
export interface DraftValues {
  name: string
  subject: string
  previewText: string
  from: string
  replyTo: string
  html: string
  topicId: string
  scheduledAt: string
  /** Of the test mail. */
  to: string
}

/** What a draft has, or what a new one begins with: the sender of the campaign before. */
export async function keptValues(
  read: Read,
  draft: Broadcast | undefined,
  {
    zone,
    account,
    senders,
    template,
  }: {
    zone: string
    account: { id: string; name: string }
    senders: readonly string[]
    template: Template | undefined
  },
): Promise<Omit<DraftValues, 'to'>> {
  if (draft === undefined) {
    return {
      name: '',
      subject: template?.subject ?? '',
      previewText: '',
      from: await usualSender(read, account.id, senders),
      replyTo: '',
      html: template?.html ?? firstHtml,
      topicId: '',
      scheduledAt: '',
    }
  }
  const { replyTo } = wholeExtras(readExtras(draft.extras))
  return {
    name: draft.name ?? '',
    subject: draft.subject,
    previewText: draft.preview_text ?? '',
    from: draft.from_header,
    replyTo: draft.reply_to ?? replyTo.join(', '),
    html: await htmlOf(read, draft),
    topicId: draft.topic_id ?? '',
    scheduledAt: draft.scheduled_at === null ? '' : localTime(draft.scheduled_at, zone),
  }
}
