import { listPage, requireList } from '../../contacts/index.js'
import { ApiError } from '../../errors/index.js'
import { listSegments } from '../../segments/index.js'
import { likeAnyCase, type Read } from '../../store/index.js'

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
  const choices =
    find === ''
      ? (await listPage(read, accountId, { limit: mostChoices })).page.map(choiceOf)
      : (await listsNamed(read, accountId, find)).map(choiceOf)
  for (const id of new Set(chosen)) {
    if (choices.some(({ value }) => value === id)) continue
    const name = await requireList(read, accountId, id).then(({ name }) => name, nameOfGone)
    choices.push({ value: id, label: name })
  }
  return choices
}

/** An account has few lists: all of them are looked at. */
const listsNamed = (read: Read, accountId: string, find: string) =>
  read
    .selectFrom('contact_lists')
    .select(['id', 'name'])
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
  const choices = all.filter(({ id }) => shown.has(id) || chosen.includes(id)).map(choiceOf)
  const gone = chosen.filter((id) => !choices.some(({ value }) => value === id))
  return [...choices, ...gone.map((id) => ({ value: id, label: goneName }))]
}

// It stays ticked, so that somebody takes the tick away: without a word the audience would be another one.
const goneName = 'One that is deleted'

function nameOfGone(error: unknown): string {
  if (error instanceof ApiError && error.code === 'not_found') return goneName
  throw error
}

/** What has an id and a name, as a form offers it. */
export const choiceOf = ({ id, name }: { id: string; name: string }): AudienceChoice => ({
  value: id,
  label: name,
})
