import { hiddenField } from '../shell/field.js'
import { type Html, html } from '../shell/html.js'
import type { BlockCard } from './card.js'
import { blockButton } from './card-buttons.js'
import { closedName, type TypedBlock } from './form.js'

const mostShown = 50

/** A card of which the page has its first words, and the block as it is: one of many. A button opens it. */
export function closedCard(
  { place, type, block, first, last }: BlockCard,
  name: string,
  { change, mayWrite }: { change: string; mayWrite: boolean },
): Html {
  const button = (deed: string, label: string) => blockButton(deed, place, label, name, change)
  return html`<fieldset class="card block closed" id="block-${place}"><legend>${name}</legend>${hiddenField(
    `b.${place}.type`,
    type,
  )}${hiddenField(`b.${place}.${closedName}`, JSON.stringify(block))}<p class="buttons"><span>${firstWordsOf(block)}</span>${button('open', 'Open')}${mayWrite && !first && button('up', 'Up')}${
    mayWrite && !last && button('down', 'Down')
  }</p></fieldset>`
}

/** The first words of a block, by which it is told from others. */
export const firstWordsOf = (block: TypedBlock): string => wordsOf(block).slice(0, mostShown)

/** What tells a block from others of its kind. */
function wordsOf(block: TypedBlock): string {
  const { text, alt, url, items, links, columns, html: written } = block
  if (Array.isArray(columns)) return (columns as TypedBlock[][]).flat().map(wordsOf).join(' · ')
  if (Array.isArray(items)) return items.join(' · ')
  if (Array.isArray(links)) return links.map(({ name }) => name).join(' · ')
  return (
    [text, alt, url, written].find((one): one is string => typeof one === 'string' && one !== '') ??
    ''
  )
}
