import { nextTurn } from '../../bounded/index.js'
import type { Read } from '../../store/index.js'
import { csvLine } from '../../suppression/index.js'
import { noMailReason, noMailWords, standingsOf } from '../no-mail.js'

const perPage = 500

/** The people whom an import put on a list and who now get no mail: the address, the reason, the file's line. */
export async function* noMailCsv(
  read: Read,
  { accountId, listId, importId }: { accountId: string; listId: string; importId: number },
): AsyncGenerator<string> {
  yield csvLine(['email', 'reason', 'line'])
  for (let after = ''; ; ) {
    const members = await read
      .selectFrom('list_members')
      .innerJoin('contacts', 'contacts.id', 'list_members.contact_id')
      .select(['contact_id', 'import_id', 'line', 'contacts.email'])
      .where('list_id', '=', listId)
      .where('contact_id', '>', after)
      .orderBy('contact_id')
      .limit(perPage)
      .execute()
    const last = members.at(-1)
    if (last === undefined) return
    after = last.contact_id
    const brought = members.filter(({ import_id: id }) => id === importId)
    const addresses = brought.map(({ email }) => email)
    const { standingOf } = await standingsOf(read, accountId, addresses)
    const lines = brought.flatMap(({ email, line }) => {
      const reason = noMailReason(standingOf(email))
      return reason === undefined ? [] : csvLine([email, noMailWords[reason], String(line ?? '')])
    })
    if (lines.length > 0) yield lines.join('')
    else await nextTurn()
  }
}
