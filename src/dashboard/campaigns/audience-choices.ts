import { listPage, requireList } from '../../contacts/index.js'
import { ApiError } from '../../errors/index.js'
import { listSegments } from '../../segments/index.js'
import { likeAnyCase, type Read } from '../../store/index.js'
import { namedOptions, type OfferedThing } from '../shell/named-options.js'

/** What a form of a campaign offers. */
export interface AudienceChoice {
  value: string
  label: string
}

// A page has room for so many, and for those that the audience has already.
export const mostChoices = 40

/** The newest lists of an account, or the newest whose names have a text, and those that are chosen, there or deleted. */
export async function listChoices(
  read: Read,
  accountId: string,
  chosen: readonly string[],
  find = '',
) {
  const found: readonly OfferedThing[] =
    find === ''
      ? (await listPage(read, accountId, { limit: mostChoices })).page
      : await listsNamed(read, accountId, find)
  const known = new Set(found.map(({ id }) => id))
  const others = [...new Set(chosen)].filter((id) => !known.has(id))
  const lists = await Promise.all(
    others.map((id) => requireList(read, accountId, id).catch(undefinedIfGone)),
  )
  return [
    ...namedOptions([...found, ...lists.filter((list) => list !== undefined)]),
    ...goneOptions(others.filter((_, at) => lists[at] === undefined)),
  ]
}

/** An account has few lists: all of them are looked at. */
const listsNamed = (read: Read, accountId: string, find: string) =>
  read
    .selectFrom('contact_lists')
    .select(['id', 'name', 'contact_count as contactCount'])
    .where('account_id', '=', accountId)
    .where('deleted_at', 'is', null)
    .where(likeAnyCase('name', find))
    .orderBy('id', 'desc')
    .limit(mostChoices)
    .execute()

/** The segments of an account, or those whose names have a text, and those that are chosen, there or deleted. */
export async function segmentChoices(
  read: Read,
  accountId: string,
  chosen: readonly string[],
  find = '',
) {
  const all = await listSegments(read, accountId)
  const fitting = all.filter(({ name }) => name.toLowerCase().includes(find.toLowerCase()))
  const shown = new Set(fitting.slice(0, mostChoices).map(({ id }) => id))
  const choices = namedOptions(all.filter(({ id }) => shown.has(id) || chosen.includes(id)))
  const known = new Set(choices.map(({ value }) => value))
  return [...choices, ...goneOptions(chosen.filter((id) => !known.has(id)))]
}

// They stay ticked, so that somebody takes the tick away: without a word the audience would be another one.
const goneOptions = (ids: readonly string[]) =>
  ids.map((id) => ({ value: id, label: 'One that is deleted' }))

function undefinedIfGone(error: unknown): undefined {
  if (error instanceof ApiError && error.code === 'not_found') return undefined
  throw error
}
