import { idsIn, type Read, type Tx } from '../store/index.js'

/** Keeps the name of a deleted list or segment: campaigns that went to it still show the name. */
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

/** The names of the deleted ones among these lists and segments. */
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
