import { listPage, requireList } from '../../contacts/index.js'
import { ApiError } from '../../errors/index.js'
import { listSegments } from '../../segments/index.js'
import type { Read } from '../../store/index.js'

/** What a form of a campaign offers. */
export interface AudienceChoice {
  value: string
  label: string
}

// A page has room for so many, and for those that the audience has already.
const mostChoices = 40

/** The newest lists of an account, and those that are chosen, there or deleted. */
export async function listChoices(read: Read, accountId: string, chosen: readonly string[]) {
  const { page: newest } = await listPage(read, accountId, { limit: mostChoices })
  const choices = newest.map(choiceOf)
  for (const id of new Set(chosen)) {
    if (choices.some(({ value }) => value === id)) continue
    const name = await requireList(read, accountId, id).then(({ name }) => name, nameOfGone)
    choices.push({ value: id, label: name })
  }
  return choices
}

/** The segments of an account, and those that are chosen, there or deleted. */
export async function segmentChoices(read: Read, accountId: string, chosen: readonly string[]) {
  const all = await listSegments(read, accountId)
  const choices = all.filter(({ id }, at) => at < mostChoices || chosen.includes(id)).map(choiceOf)
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
