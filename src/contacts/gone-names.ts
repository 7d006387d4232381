import { idsIn, type Read, type Tx } from '../store/index.js'

/** Keeps what a list or segment is called that is deleted: campaigns that went to it go on saying so. */
export async function keepName(
  tx: Tx,
  accountId: string,
  { id, name }: { id: string; name: string },
): Promise<void> {
  await tx
    .insertInto('gone_names')
    .values({ id, account_id: accountId, name })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute()
}

/** What the deleted ones among these lists and segments were called. */
export async function goneNames(
  read: Read,
  accountId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map()
  const rows = await read
    .selectFrom('gone_names')
    .select(['id', 'name'])
    .where('id', 'in', idsIn(ids, 'text'))
    .where('account_id', '=', accountId)
    .execute()
  return new Map(rows.map(({ id, name }) => [id, name]))
}
