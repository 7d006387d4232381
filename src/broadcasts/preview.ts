import type { Read } from '../store/index.js'
import { findTopic } from '../topics/index.js'
import { type Audience, countAudience, nextOfAudience } from './audience.js'

export interface Preview {
  recipientCount: number
  /** Masked addresses of some of them. */
  sample: string[]
  note: string
}

const sampleSize = 5
const perPage = 250
// On a list of which the beginning is suppressed the sample may be short; the count is not.
const mostPages = 20

/** Whom a campaign would reach now; throws a 404 for list and topic, a 409 for an archived topic. */
export async function previewAudience(read: Read, audience: Audience): Promise<Preview> {
  const { accountId, topicId } = audience
  if (topicId !== null) await findTopic(read, accountId, topicId)
  const recipientCount = await countAudience(read, audience)
  const sample: string[] = []
  let cursor: string | undefined = ''
  for (
    let page = 0;
    cursor !== undefined && page < mostPages && sample.length < sampleSize;
    page++
  ) {
    const { seen, reachable } = await nextOfAudience(read, audience, cursor, perPage)
    for (const { email } of reachable.slice(0, sampleSize - sample.length))
      sample.push(masked(email))
    cursor = seen.length < perPage ? undefined : seen.at(-1)?.contactId
  }
  return { recipientCount, sample, note }
}

const note =
  'Who has unsubscribed, bounced, complained or left the topic is not counted. The list is looked at again when the campaign is dispatched.'

/** `j***@example.com`. */
const masked = (email: string) =>
  `${String.fromCodePoint(email.codePointAt(0) ?? 0)}***${email.slice(email.lastIndexOf('@'))}`
