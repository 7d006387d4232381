import { brandOf, senderOf } from '../../accounts/index.js'
import { type Broadcast, htmlOf } from '../../broadcasts/index.js'
import { localTime } from '../../clock/index.js'
import { parseMailbox } from '../../mime/index.js'
import { type Read, readExtras } from '../../store/index.js'
import type { Template } from '../../templates/index.js'
import { firstHtml } from './begin.js'

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
    const before = await read
      .selectFrom('broadcasts')
      .select('from_header')
      .where('account_id', '=', account.id)
      .orderBy('id', 'desc')
      .limit(1)
      .executeTakeFirst()
    return {
      name: '',
      subject: template?.subject ?? '',
      previewText: '',
      from: before?.from_header ?? senders[0] ?? '',
      replyTo: '',
      html: template?.html ?? firstHtml,
      topicId: '',
      scheduledAt: '',
    }
  }
  const { replyTo = [] } = readExtras(draft.extras) ?? {}
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

// Of the last campaigns so many are looked at.
const mostBefore = 50
const mostSenders = 20

/** The senders that are offered: the last used first, then the brand's and one of each domain. */
export async function sendersOf(
  read: Read,
  { id, name }: { id: string; name: string },
  domains: readonly string[],
): Promise<string[]> {
  const before = await read
    .selectFrom('broadcasts')
    .select('from_header')
    .where('account_id', '=', id)
    .orderBy('id', 'desc')
    .limit(mostBefore)
    .execute()
  const brand = senderOf(await brandOf(read, id))
  const used = before.map(({ from_header }) => from_header)
  const isOurs = (from: string) => domains.includes(parseMailbox(from)?.domain ?? '')
  const usual = domains.map((domain) => `${name} <news@${domain}>`)
  return [...new Set([...used, brand ?? '', ...usual].filter(isOurs))].slice(0, mostSenders)
}
