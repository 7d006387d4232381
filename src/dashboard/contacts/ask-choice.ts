import { counted } from '../../amounts/index.js'
import { type AskedSome, whyNotAsked } from '../../contacts/index.js'
import { ApiError } from '../../errors/index.js'

/** How people get onto a list that asks them first. */
export const askChoices = ['first', 'once'] as const

/** How they agreed who are put on such a list at once. Throws a 422 where nothing says that. */
export function agreedOf(note: string | undefined): string {
  if (note !== undefined) return note
  const message = 'Write how they agreed, or have them asked by mail'
  throw new ApiError('validation_error', message, { status: 422, fields: { field: 'note' } })
}

/** What came of asking several, in a sentence or more. */
export function askedWords({ asked, on, held }: AskedSome, list: string): string {
  const said = [`${counted(asked, 'contact')} asked by mail to join “${list}”`]
  if (on > 0) said.push(`${on} on it already`)
  for (const [reason, count] of held) said.push(`${count} not asked (${whyNotAsked[reason]})`)
  return said.join('; ')
}
