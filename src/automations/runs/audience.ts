import { type audienceIn, readAudience } from '../../segments/index.js'
import type { Read } from '../../store/index.js'
import type { RunContact } from '../definition/index.js'

/** Somebody, with what the rules that they meet name; `asks` comes from a version. */
export interface AskedPerson {
  contact: RunContact
  asks: ReturnType<typeof audienceIn>
}

/**
 * Looks up, for each contact, the segments and campaigns that rules ask for, and adds the answers to the contact;
 * nothing where no rule asks.
 */
export async function meetAudience(read: Read, people: readonly AskedPerson[]): Promise<void> {
  const asking = people.filter(({ asks }) => asks.segments.length > 0 || asks.campaigns.length > 0)
  if (asking.length === 0) return
  const named = {
    segments: [...new Set(asking.flatMap(({ asks }) => asks.segments))],
    campaigns: [...new Set(asking.flatMap(({ asks }) => asks.campaigns))],
  }
  const ids = [...new Set(asking.map(({ contact }) => contact.id))]
  const known = await readAudience(read, ids, named)
  for (const { contact } of asking) contact.audience = known.get(contact.id) ?? {}
}
