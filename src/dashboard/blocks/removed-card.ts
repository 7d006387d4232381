import { type Form, formNamed, formWith } from '../../http/index.js'
import { hiddenField } from '../shell/field.js'
import { type Html, html } from '../shell/html.js'
import { blockNames, kindNamed } from './fields.js'
import { isPlace, listOf, numberAt } from './places.js'

/*
 * The card that was removed last. Its fields stay in the form under other names, so that a button puts it back where it
 * stood, with script and without, until the page is saved.
 */

/** A removed card: where it stood, and its fields without the beginning of their names. */
export interface RemovedCard {
  place: string
  fields: readonly (readonly [name: string, value: string])[]
}

/** The card that a button is removing (`gone:3`), or else the one that was removed before. */
export function removedIn(fields: Form): RemovedCard | undefined {
  const [, now = ''] = /^gone:(.*)$/s.exec(fields.get('do') ?? '') ?? []
  const removing = isPlace(now) ? fieldsBelow(fields, `b.${now}.`) : []
  if (removing.length > 0) return { place: now, fields: removing }
  const place = fields.get('gone') ?? ''
  return isPlace(place) ? { place, fields: fieldsBelow(fields, 'gone.') } : undefined
}

const fieldsBelow = (form: Form, beginning: string) =>
  form
    .entries()
    .filter(([name]) => name.startsWith(beginning))
    .map(([name, value]) => [name.slice(beginning.length), value] as const)

/** Says that a card was removed, in its place, and offers to put it back. */
export function removedPart({ place, fields }: RemovedCard, change: string): Html {
  const kind = kindNamed(fields.find(([name]) => name === 'type')?.[1])
  const name = `${kind === undefined ? 'Block' : blockNames[kind]} ${numberAt(place) + 1}`
  return html`<div class="notice none gone" id="gone" role="status"><p>${name} is removed.</p><button name="do" value="back:${place}" formaction="${change}#block-${place}" formnovalidate aria-label="Put it back: ${name}">Put it back</button>${hiddenField('gone', place)}${fields.map(
    ([field, value]) => hiddenField(`gone.${field}`, value),
  )}</div>`
}

/** The form with the removed card in its place again, where a button asks for that (`back:3`). */
export function withPutBack(fields: Form): Form {
  const [, asked = ''] = /^back:(.*)$/s.exec(fields.get('do') ?? '') ?? []
  if (!isPlace(asked) || fields.get('gone') === undefined) return fields
  const list = listOf(asked)
  let at = numberAt(asked)
  // A gap between the numbers of cards would be the end of them.
  while (at > 0 && fields.get(`b.${list}${at - 1}.type`) === undefined) at--
  const place = `${list}${at}`
  const there = formNamed(withRoom(fields, { list, at, count: 1 }), (name) =>
    name === 'gone' ? 'was.gone' : name.replace(/^gone\./, `b.${place}.`),
  )
  return formWith(there, new Map([['open', place]]))
}

/** The form whose cards from a place on make room for some more; `list`: `3.0.` for those of a column. */
export function withRoom(
  form: Form,
  { list, at, count }: { list: string; at: number; count: number },
): Form {
  const later = new RegExp(`^(b|file|kind)\\.${list.replaceAll('.', '\\.')}(\\d+)`)
  return formNamed(form, (name) =>
    name.replace(later, (_, part: string, number: string) => {
      const n = Number(number)
      return `${part}.${list}${n < at ? n : n + count}`
    }),
  )
}
