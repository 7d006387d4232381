import type { Outline } from '../../automations/index.js'
import { type Html, html } from '../shell/html.js'
import { inQuotes, isolated } from '../shell/names.js'
import { templatePath } from '../templates/way-back.js'
import { placeOf } from './deeds.js'
import { faultWords } from './fault-words.js'
import type { Unready } from './unready-words.js'

// More would push the outline down; each fault also stands at its card.
const mostTold = 10

/**
 * What prevents turning it on, each with a link to its card and, where a mail still has to be written, to that mail.
 */
export function faultList(
  found: readonly Unready[],
  {
    outline,
    open,
    called,
    base,
    automationId,
  }: {
    outline: Outline
    open: string
    called: (key: string) => string
    base: string
    automationId: string
  },
): Html {
  if (found.length === 0) return html`<p role="status"></p>`
  const anchorOf = ({ key, is }: Unready): string | undefined => {
    const place = key === null ? undefined : placeOf(outline, key)
    if (place !== undefined) return place === open ? 'open' : `block-${place}`
    return is?.place[0] === 'settings' ? 'whole' : undefined
  }
  const lines = found.slice(0, mostTold).map((one) => {
    const says = isolated(faultWords(one, called))
    const anchor = anchorOf(one)
    const where = one.key === null ? 'For all steps' : inQuotes(called(one.key))
    const at = anchor && html`<a href="#${anchor}">${isolated(where)}</a>: `
    const mail =
      one.slug !== undefined &&
      html` <a href="${templatePath(base, one.slug, automationId)}">Write this mail</a>`
    return html`<li>${at}${says}${mail}</li>`
  })
  const more = found.length - lines.length
  return html`<div class="notice bad"><p role="status">${countWords(found.length)}</p><ul>${lines}${more > 0 && html`<li>and ${more} more, each at its step below</li>`}</ul></div>`
}

const countWords = (count: number): string =>
  count === 1 ? 'One thing is not right yet.' : `${count} things are not right yet.`
