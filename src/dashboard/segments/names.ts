import { idsIn, type Read } from '../../store/index.js'

/** The names of an account's lists, segments, topics and forms with these ids. */
export async function namesOf(
  read: Read,
  accountId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map()
  const lists = read
    .selectFrom('contact_lists')
    .select(['id', 'name'])
    .where('id', 'in', idsIn(ids, 'text'))
    .where('account_id', '=', accountId)
    .where('deleted_at', 'is', null)
    .execute()
  const segments = read
    .selectFrom('segments')
    .select(['id', 'name'])
    .where('id', 'in', idsIn(ids, 'text'))
    .where('account_id', '=', accountId)
    .where('state', '<>', 'deleted')
    .execute()
  const topics = read
    .selectFrom('topics')
    .select(['id', 'name'])
    .where('id', 'in', idsIn(ids, 'text'))
    .where('account_id', '=', accountId)
    .execute()
  const forms = read
    .selectFrom('forms')
    .select(['id', 'name'])
    .where('id', 'in', idsIn(ids, 'text'))
    .where('account_id', '=', accountId)
    .execute()
  const found = await Promise.all([lists, segments, topics, forms])
  return new Map(found.flat().map(({ id, name }) => [id, name]))
}
