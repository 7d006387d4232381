import { type AccountFace, languageFor } from '../accounts/index.js'
import { findContact } from '../contacts/index.js'
import type { Read } from '../store/index.js'
import { stringsIn } from './languages.js'
import type { Recipient } from './link.js'
import type { Strings } from './strings.js'

/** The strings that a recipient reads: in their contact's `language`, else their browser's, else the account's. */
export async function stringsFor(
  read: Read,
  face: AccountFace,
  { accountId, address }: Recipient,
  browser?: string | undefined,
): Promise<Strings> {
  const contact = await findContact(read, accountId, address)
  const { language: account, languages: offered } = face
  return stringsIn(languageFor({ contact: contact?.metadata.language, browser, account, offered }))
}
