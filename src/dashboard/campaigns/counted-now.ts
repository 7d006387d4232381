import {
  type Broadcast,
  countAudience,
  mailTypeOf,
  mostParts,
  refillOf,
  stillThere,
  type Whom,
  whomOf,
} from '../../broadcasts/index.js'
import type { Read } from '../../store/index.js'
import { countsOf, countWords } from './words.js'

/**
 * How many a draft's audience has, as its page says it. Of lists it has what was counted when the draft was saved; a segment
 * may have been filled since, so one with segments is counted anew.
 */
export async function countedNow(read: Read, draft: Broadcast): Promise<string> {
  const whom = whomOf(draft)
  if (whom.segments.length + whom.withoutSegments.length === 0) return countWords(countsOf(draft))
  const { account_id: accountId, topic_id: topicId } = draft
  const there = await stillThere(read, accountId, whom)
  const type = mailTypeOf(draft)
  const counts = await countAudience(read, { accountId, whom: there, topicId, type })
  const filling = await fillingWords(read, draft)
  return filling === undefined ? countWords(counts) : `${countWords(counts)} ${filling}`
}

/** The same of an audience as it is typed, and not saved yet. */
export async function countedTyped(
  read: Read,
  { accountId, whom, topicId }: { accountId: string; whom: Whom; topicId: string },
  draft: Broadcast | undefined,
): Promise<string> {
  const parts = [whom.lists, whom.segments, whom.withoutLists, whom.withoutSegments]
  // More are refused when it is saved.
  if (parts.slice(0, 2).flat().length === 0 || parts.flat().length > mostParts) return ''
  const saved = draft && whomOf(draft)
  const isSaved =
    JSON.stringify(saved) === JSON.stringify(whom) && (draft?.topic_id ?? '') === topicId
  if (draft !== undefined && isSaved) return await countedNow(read, draft)
  const there = await stillThere(read, accountId, whom)
  const type = draft === undefined ? 'marketing' : mailTypeOf(draft)
  return countWords(
    await countAudience(read, { accountId, whom: there, topicId: topicId || null, type }),
  )
}

/** That the number is not final, where a segment of the audience is being filled. */
export async function fillingWords(read: Read, draft: Broadcast): Promise<string | undefined> {
  const filling = await refillOf(read, draft)
  if (filling === undefined) return undefined
  return `The number is not final: ${filling}. A campaign that is sent now waits for it.`
}
