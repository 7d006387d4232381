import { ApiError } from '../../errors/index.js'
import { ShapeError } from '../../fields/index.js'
import type { Faults } from '../shell/faults.js'
import type { BlockCard } from './card.js'
import { fieldOf } from './form.js'
import { numberAt } from './places.js'

/**
 * Does what checks a document, and has a fault in a text of it stand beside the field of its card. `within`: where the
 * document is in what is given, such as `variants.1.`.
 */
export async function besideCards<T>(deed: () => Promise<T>, within = ''): Promise<T> {
  try {
    return await deed()
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const slips = error.slips.length === 0 ? slipOf(error) : error.slips
    if (!slips.some(({ field }) => field.startsWith(`${within}blocks.`))) throw error
    throw new ShapeError(
      slips.map(({ field, says: message }) => {
        const inside = field.slice(within.length)
        const path = [inside.startsWith('blocks.') ? fieldOf(inside.split('.')) : inside]
        return { code: 'invalid', path, message, expected: '', received: '' }
      }),
    )
  }
}

const slipOf = ({ fields: { field }, message }: ApiError) =>
  typeof field === 'string' ? [{ field, says: message }] : []

/**
 * Has the list of faults above a page name the card of each, as the card is called, before the field in it. `within`: what
 * the cards stand in, such as `Columns 2, `.
 */
export function nameCards(
  places: Faults['places'],
  cards: readonly BlockCard[],
  within = '',
): void {
  if (places === undefined) return
  for (const { place, title, questions, looks, columns } of cards) {
    const card = `${within}${title} ${numberAt(place) + 1}`
    for (const { name, question } of [...questions, ...looks]) {
      const known = places.get(name)
      if (known !== undefined) Object.assign(known, { label: `${card}, ${question.label}` })
    }
    for (const { cards: own } of columns) nameCards(places, own, `${card}, `)
  }
}
