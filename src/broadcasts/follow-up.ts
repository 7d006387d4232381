import { type AccountBilling, checkSending } from '../billing/index.js'
import { type EmailDeps, maxSubjectBytes } from '../emails/index.js'
import { ApiError } from '../errors/index.js'
import type { Rule } from '../rules/index.js'
import { createSegment, listSegments } from '../segments/index.js'
import type { Read } from '../store/index.js'
import { shownVariant } from './archived.js'
import { type Broadcast, type BroadcastDeps, findBroadcast } from './broadcast.js'
import { copiedSubjectMark } from './content.js'
import { duplicateBroadcast } from './duplicate.js'
import { type AskedByRule, ruleOfPeople } from './people-rule.js'
import { asVariant } from './variant.js'

/**
 * A draft of what the rest of a campaign got, to the people behind a number of its report. They become a segment, unless there already is
 * one of them. The draft's subject must be changed before it can be sent. `name` is the segment's, and the draft's.
 * Throws a 400 where no rule describes these people, else as `duplicateBroadcast` and `createSegment` do.
 */
export async function draftToPeople(
  deps: BroadcastDeps & Pick<EmailDeps, 'attachments'>,
  billing: AccountBilling,
  id: string,
  { asked, name }: { asked: AskedByRule; name: string },
): Promise<{ draft: Broadcast; segmentId: string }> {
  checkSending(billing, 'marketing')
  const found = await findBroadcast(deps.store.read, billing.accountId, id)
  const rule = requireRuleOfPeople(found, asked)
  const segmentId = await segmentOf(deps, billing.accountId, { name, rule })
  const shown = asVariant(found, await shownVariant(deps.store.read, found))
  const marked = `${copiedSubjectMark} ${shown.subject}`
  // A cut subject might end within a merge tag.
  const subject = Buffer.byteLength(marked) > maxSubjectBytes ? copiedSubjectMark : marked
  const audience = { segments: [segmentId] }
  const draft = await duplicateBroadcast(deps, billing, id, {
    audience,
    name,
    subject,
    content: shown,
  })
  return { draft, segmentId }
}

/** Throws a 400 where no rule describes these people. */
export function requireRuleOfPeople(broadcast: Broadcast, asked: AskedByRule): Rule {
  const rule = ruleOfPeople(broadcast, asked)
  if (rule !== undefined) return rule
  throw new ApiError('validation_error', 'No segment can be made of these people')
}

/** The segment of a rule: an existing one, or a new one. */
export async function segmentOf(
  deps: Pick<BroadcastDeps, 'store' | 'clock'>,
  accountId: string,
  { name, rule }: { name: string; rule: Rule },
): Promise<string> {
  const same = await sameSegment(deps.store.read, accountId, rule)
  return same ?? (await createSegment(deps, accountId, { name, rule })).id
}

/** The id of a segment with this rule; undefined: there is none. */
export async function sameSegment(
  read: Read,
  accountId: string,
  rule: Rule,
): Promise<string | undefined> {
  const known = await listSegments(read, accountId)
  return known.find((one) => JSON.stringify(one.rule) === JSON.stringify(rule))?.id
}
