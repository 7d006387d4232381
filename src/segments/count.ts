import type { Clock } from '../clock/index.js'
import { sampleContacts, scaled } from '../contacts/index.js'
import { type Rule, ruleHolds } from '../rules/index.js'
import type { Read } from '../store/index.js'
import type { SuppressionReason } from '../suppression/index.js'
import { loadFacts } from './facts.js'

/** How many people a rule holds for, and how many of them are mailed. */
export interface PeopleCount {
  count: number
  mailable: number
  unsubscribed: number
  bounced: number
  complained: number
  suppressed: number
  /** How many contacts were looked at, where that were not all: then the numbers are about. */
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

/** Counts for whom a rule would hold, from a sample where the account has many. */
export async function countPeople(
  { read, clock }: { read: Read; clock: Clock },
  accountId: string,
  rule: Rule,
): Promise<PeopleCount> {
  const now = clock.now()
  const tally = { count: 0, mailable: 0, unsubscribed: 0, bounced: 0, complained: 0, suppressed: 0 }
  const of = await sampleContacts(read, accountId, async (contacts) => {
    for (const facts of await loadFacts(read, accountId, contacts, { rules: [rule], now })) {
      if (!ruleHolds(rule, facts)) continue
      tally.count++
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
    sample: of.sample,
  }
}
