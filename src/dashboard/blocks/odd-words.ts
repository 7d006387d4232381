import { oddMarksIn } from '../../blocks/index.js'
import { blockNames } from './fields.js'
import type { TypedBlock } from './form.js'

/** A field of a card whose words have marks that are none. */
export interface OddWords {
  /** The name of the form's field. */
  field: string
  /** As the page calls the card. */
  card: string
  says: string
}

/** What in the words of blocks was meant as a link, or as bold, and is sent as it was typed. */
export const oddWordsIn = (blocks: readonly TypedBlock[], at = ''): OddWords[] =>
  blocks.flatMap((block, index) => {
    const place = `${at}${index}`
    const columns = (block.columns as TypedBlock[][] | undefined) ?? []
    const own = (['text', 'items'] as const).flatMap((name) => {
      const texts = [block[name] ?? []].flat().filter((one) => typeof one === 'string')
      const says = texts.flatMap(oddMarksIn).join(' ')
      const card = `${blockNames[block.type]} ${index + 1}`
      return says === '' ? [] : [{ field: `b.${place}.${name}`, card, says }]
    })
    const within = columns.flatMap((cards, column) => oddWordsIn(cards, `${place}.${column}.`))
    return [...own, ...within]
  })
