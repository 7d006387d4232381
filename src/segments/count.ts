import type { Clock } from '../clock/index.js'
import { erasedContacts, sampleContacts, scaled } from '../contacts/index.js'
import { type Rule, ruleHolds } from '../rules/index.js'
import { idsIn, type Read } from '../store/index.js'
import type { SuppressionReason } from '../suppression/index.js'
import { loadFacts } from './facts.js'

/** How many people match a rule, and how many of them can be mailed. */
export interface PeopleCount {
  count: number
  mailable: number
  unsubscribed: number
  bounced: number
  complained: number
  suppressed: number
  /** How many of those were erased on request and added again; undefined where that takes too long to find out. */
  erased: number | undefined
  /** How many contacts were looked at, if not all: then the numbers are estimates. */
  sample: number | null
}

export const countNameOf: Readonly<
  Record<SuppressionReason, 'unsubscribed' | 'bounced' | 'complained' | 'suppressed'>
> = {
  unsubscribe: 'unsubscribed',
  bounce: 'bounced',
  complaint: 'complained',
  manual: 'suppressed',
}

/** Counts the people who would match a rule, from a sample where the account has many. */
export async function countPeople(
  { read, clock }: { read: Read; clock: Clock },
  accountId: string,
  rule: Rule,
): Promise<PeopleCount> {
  const now = clock.now()
  const tally = { count: 0, mailable: 0, unsubscribed: 0, bounced: 0, complained: 0, suppressed: 0 }
  const erasedIds = await erasedContacts(read, accountId)
  const erased = new Set(erasedIds)
  let erasedFound = 0
  const of = await sampleContacts(read, accountId, async (contacts) => {
    for (const facts of await loadFacts(read, accountId, contacts, { rules: [rule], now })) {
      if (!ruleHolds(rule, facts)) continue
      tally.count++
      if (facts.why === 'manual' && erased.has(facts.contact.id)) erasedFound++
      tally[facts.why === null ? 'mailable' : countNameOf[facts.why]]++
    }
  })
  return {
    count: scaled(tally.count, of),
    mailable: scaled(tally.mailable, of),
    unsubscribed: scaled(tally.unsubscribed, of),
    bounced: scaled(tally.bounced, of),
    complained: scaled(tally.complained, of),
    suppressed: scaled(tally.suppressed, of),
    erased: erasedIds && scaled(erasedFound, of),
    sample: of.sample,
  }
}

/**
 * How many of a segment's people were erased on request and added again; undefined where that takes too long to find
 * out.
 */
export async function erasedIn(
  read: Read,
  accountId: string,
  { id, suppressed }: { id: string; suppressed: number },
): Promise<number | undefined> {
  if (suppressed === 0) return 0
  const erased = await erasedContacts(read, accountId)
  if (erased === undefined || erased.length === 0) return erased?.length
  const rows = await read
    .selectFrom('segment_members')
    .select('contact_id')
    .where('segment_id', '=', id)
    .where('contact_id', 'in', idsIn(erased, 'text'))
    .where('why', '=', 'manual')
    .execute()
  return rows.length
}
