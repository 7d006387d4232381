import { nextTurn } from '../bounded/index.js'
import type { Clock } from '../clock/index.js'
import { contactTotal } from '../contacts/index.js'
import { type Rule, ruleHolds } from '../rules/index.js'
import type { ContactRow, Read } from '../store/index.js'
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

// Where so many or fewer are known, all are looked at.
const mostExact = 4_000
const perLook = 250
// What somebody who edits a rule waits for; the answer takes as long again at worst, on a slow disk.
const budgetMs = 120
const mostLooked = 20_000
const letters = '0123456789abcdefghijklmnopqrstuvwxyz'

export const countNameOf: Readonly<
  Record<SuppressionReason, 'unsubscribed' | 'bounced' | 'complained' | 'suppressed'>
> = {
  unsubscribe: 'unsubscribed',
  bounce: 'bounced',
  complaint: 'complained',
  manual: 'suppressed',
}

/**
 * Counts for whom a rule would hold, from a sample where the account has many: some of those whose addresses begin with
 * or follow each pair of letters, since ids rise with time and the newest are another kind of people. Others have their turn
 * in between.
 */
export async function countPeople(
  { read, clock }: { read: Read; clock: Clock },
  accountId: string,
  rule: Rule,
): Promise<PeopleCount> {
  const now = clock.now()
  const total = await contactTotal(read, accountId)
  const tally: PeopleCount = {
    count: 0,
    mailable: 0,
    unsubscribed: 0,
    bounced: 0,
    complained: 0,
    suppressed: 0,
    sample: null,
  }
  let looked = 0
  const look = async (contacts: readonly ContactRow[]) => {
    looked += contacts.length
    for (const facts of await loadFacts(read, accountId, contacts, { rules: [rule], now })) {
      if (!ruleHolds(rule, facts)) continue
      tally.count++
      tally[facts.why === null ? 'mailable' : countNameOf[facts.why]]++
    }
    await nextTurn()
  }
  const rowsFrom = (after: string) =>
    read
      .selectFrom('contacts')
      .selectAll()
      .where('account_id', '=', accountId)
      .where('address', '>', after)
      .orderBy('address')
      .limit(perLook)
      .execute()
  if (total <= mostExact) {
    for (let after = ''; ; ) {
      const rows = await rowsFrom(after)
      const last = rows.at(-1)
      if (last === undefined) break
      after = last.address
      await look(rows)
    }
    return tally
  }
  const begun = performance.now()
  const seen = new Set<string>()
  // Where few begin so, what follows was looked at already: then it goes on from where that ended.
  const ends = new Map<string, string>()
  for (const start of startsOf()) {
    if (looked >= mostLooked || performance.now() - begun > budgetMs) break
    let rows = await rowsFrom(start)
    const first = rows[0]?.id
    if (first === undefined) continue
    const end = ends.get(first)
    if (end !== undefined) rows = await rowsFrom(end)
    ends.set(first, rows.at(-1)?.address ?? end ?? start)
    const fresh = rows.filter(({ id }) => !seen.has(id))
    for (const { id } of fresh) seen.add(id)
    if (fresh.length > 0) await look(fresh)
  }
  const scale = (counted: number) => Math.round((counted * total) / Math.max(1, looked))
  return {
    count: scale(tally.count),
    mailable: scale(tally.mailable),
    unsubscribed: scale(tally.unsubscribed),
    bounced: scale(tally.bounced),
    complained: scale(tally.complained),
    suppressed: scale(tally.suppressed),
    sample: looked,
  }
}

/** The very beginning and pairs of letters, so strewn that any number of the first ones are from all over the alphabet. */
function* startsOf(): Generator<string> {
  yield ''
  const all = letters.length * letters.length
  // Prime to their number, and about its golden section.
  const stride = 803
  for (let n = 0; n < all; n++) {
    const at = (n * stride) % all
    yield `${letters[Math.floor(at / letters.length)]}${letters[at % letters.length]}`
  }
}
