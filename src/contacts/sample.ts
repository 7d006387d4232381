import { nextTurn } from '../bounded/index.js'
import type { ContactRow, Read } from '../store/index.js'
import { contactTotal } from './total.js'

/** How many contacts an account has, and how many of them were looked at, where that were not all. */
export interface Sampled {
  total: number
  sample: number | null
}

// Up to this number all contacts are looked at.
const mostExact = 4_000
const perLook = 250
// How long somebody who waits for a page waits for this; on a slow disk the answer may take twice as long.
const budgetMs = 120
const mostLooked = 20_000
const letters = '0123456789abcdefghijklmnopqrstuvwxyz'

/**
 * Looks at all contacts of an account, some at a time. Where there are many it looks at a sample: some of those whose
 * addresses begin with or follow each pair of letters. Ids would not do: they rise with time, and the newest people
 * differ from the others. Others have their turn in between.
 */
export async function sampleContacts(
  read: Read,
  accountId: string,
  look: (contacts: readonly ContactRow[]) => void | Promise<void>,
): Promise<Sampled> {
  const total = await contactTotal(read, accountId)
  let looked = 0
  const turn = async (contacts: readonly ContactRow[]) => {
    looked += contacts.length
    await look(contacts)
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
      await turn(rows)
    }
    return { total, sample: null }
  }
  const begun = performance.now()
  const seen = new Set<string>()
  // Where few addresses begin with the letters, those after them may have been looked at already: then it goes on from
  // their end.
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
    if (fresh.length > 0) await turn(fresh)
  }
  return { total, sample: looked }
}

/** A number from the sample, scaled to all contacts. */
export const scaled = (counted: number, { total, sample }: Sampled): number =>
  sample === null ? counted : Math.round((counted * total) / Math.max(1, sample))

/** The very beginning, then pairs of letters in such an order that the first of them are from all over the alphabet. */
function* startsOf(): Generator<string> {
  yield ''
  const all = letters.length * letters.length
  // Prime to the number of pairs, and about its golden section.
  const stride = 803
  for (let n = 0; n < all; n++) {
    const at = (n * stride) % all
    yield `${letters[Math.floor(at / letters.length)]}${letters[at % letters.length]}`
  }
}
