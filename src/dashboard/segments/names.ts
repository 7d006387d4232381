import { idsIn, type Read } from '../../store/index.js'

/** The names of an account's lists, segments, topics and forms with these ids; not of what is deleted. */
export async function namesOf(
  read: Read,
  accountId: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  if (ids.length === 0) return new Map()
  const named = (table: 'contact_lists' | 'segments' | 'topics' | 'forms') =>
    read
      .selectFrom(table)
      .select(['id', 'name'])
      .where('id', 'in', idsIn(ids, 'text'))
      .where('account_id', '=', accountId)
  const found = await Promise.all([
    named('contact_lists').where('deleted_at', 'is', null).execute(),
    named('segments').where('state', '<>', 'deleted').execute(),
    named('topics').execute(),
    named('forms').execute(),
  ])
  return new Map(found.flat().map(({ id, name }) => [id, name]))
}
