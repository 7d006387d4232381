import type { Read } from '../store/index.js'
import { type ConsentEvent, type ConsentKind, consentKinds } from './record.js'

/** Everything recorded about an address, oldest first. */
export async function consentHistory(
  read: Read,
  accountId: string,
  email: string,
): Promise<ConsentEvent[]> {
  const rows = await read
    .selectFrom('consent')
    .select(['at', 'kind', 'detail'])
    .where('account_id', '=', accountId)
    .where('address', '=', email.toLowerCase())
    .orderBy('id')
    .execute()
  return rows.map(({ at, kind, detail }) => ({
    at,
    kind: kindOf(kind),
    detail: JSON.parse(detail),
  }))
}

function kindOf(stored: string): ConsentKind {
  const kind = consentKinds.find((known) => known === stored)
  if (kind === undefined) throw new Error(`A consent row has the unknown kind ${stored}`)
  return kind
}
