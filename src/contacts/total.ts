import { ApiError } from '../errors/index.js'
import { prepared, type Read, type Tx } from '../store/index.js'

/** How many contacts an account has; it is one row, however many they are. */
export async function contactTotal(read: Read, accountId: string): Promise<number> {
  const [row] = await totalOf(read, { accountId })
  return row?.contacts ?? 0
}

const totalOf = prepared<{ accountId: string }, { contacts: number }>((db, { accountId }) =>
  db.selectFrom('contact_totals').select('contacts').where('account_id', '=', accountId),
)

/** Belongs to every insertion and removal of contacts, in the same transaction. */
export async function addToTotal(tx: Tx, accountId: string, change: number): Promise<void> {
  if (change !== 0) await addContacts(tx, { accountId, change })
}

const addContacts = prepared<{ accountId: string; change: number }, unknown>(
  (db, { accountId, change }) =>
    db
      .insertInto('contact_totals')
      .values({ account_id: accountId, contacts: change })
      .onConflict((conflict) =>
        conflict.column('account_id').doUpdateSet((eb) => ({
          contacts: eb('contact_totals.contacts', '+', eb.ref('excluded.contacts')),
        })),
      ),
)

/** Throws when the account may not have one contact more. */
export async function refuseBeyond(
  tx: Tx,
  accountId: string,
  ceiling: number | null,
): Promise<void> {
  if (ceiling === null) return
  if ((await contactTotal(tx, accountId)) >= ceiling) throw ceilingReached(ceiling)
}

/** `fields` are an import's own figures. */
export const ceilingReached = (ceiling: number, fields: Record<string, unknown> = {}) =>
  new ApiError(
    'plan_limit_exceeded',
    `The plan allows ${ceiling} contacts; choose a larger marketing plan, or delete some`,
    { status: 403, fields },
  )
