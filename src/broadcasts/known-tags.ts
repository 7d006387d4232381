import { listContactFields } from '../contact-fields/index.js'
import { fieldsInUse } from '../contacts/index.js'
import { warningsAbout } from '../emails/index.js'
import type { Read } from '../store/index.js'
import { type OddTag, oddTags } from '../templates/index.js'
import type { BroadcastContent } from './content.js'

/** The tags that mean something for an account's contacts, as far as some of the contacts tell. */
const knownNames = async (read: Read, accountId: string): Promise<string[]> => [
  ...(await listContactFields(read, accountId)).map(({ name }) => name),
  ...(await fieldsInUse(read, accountId)),
]

/** The tags of a campaign that are empty for everybody: no field of its contacts, or misspelled. */
export async function oddTagsOf(
  read: Read,
  accountId: string,
  content: BroadcastContent,
): Promise<OddTag[]> {
  // Most contents have only usual tags, and cost no look-up.
  if (oddTags(content, []).length === 0) return []
  return oddTags(content, await knownNames(read, accountId))
}

/** What is odd about a content that is accepted all the same. */
export const contentWarnings = async (
  read: Read,
  accountId: string,
  content: BroadcastContent,
): Promise<string[]> => [
  ...warningsAbout({ html: content.html, text: null }),
  ...(await oddTagsOf(read, accountId, content)).map(({ says }) => says),
]
