import { isDeepStrictEqual } from 'node:util'
import { type BlockDocument, layoutNamed, layouts } from '../../blocks/index.js'
import { type Broadcast, blocksOf } from '../../broadcasts/index.js'
import type { Form } from '../../http/index.js'
import { findTemplate } from '../../templates/index.js'
import { firstBlocks } from '../blocks/fields.js'
import { unfinishedIn } from '../blocks/finished.js'
import { documentIn, filled, type TypedDocument, typedOf } from '../blocks/form.js'
import { withOpen } from '../blocks/open-cards.js'
import { type Html, html } from '../shell/html.js'
import type { Visit } from '../shell/visit.js'
import type { CampaignPageDeps } from './deps.js'

/*
 * What a campaign begins with: a layout, a template, some blocks, or HTML. A button that puts another beginning in place of
 * what somebody has written asks first.
 */

/** The HTML of a new one. */
export const firstHtml = `<!doctype html>
<html lang="en">
<body style="margin: 0; padding: 24px; font: 16px/1.5 sans-serif">
  <h1 style="font-size: 22px">Hello {{ firstName | default: "there" }}</h1>
  <p>Write here what you have to say.</p>
</body>
</html>
`

/** What a button would put in place of what is written: `layout:news`, `with:html`, and its name for people. */
interface Replacement {
  pressed: string
  title: string
}

export interface Begun {
  /** Undefined: it is HTML. */
  document: TypedDocument | undefined
  /** What somebody has to agree to before it takes the place of what they wrote. */
  asks: Replacement | undefined
}

/** The content of what was typed, or of the draft; a new campaign begins with blocks unless its page is asked for HTML. */
export async function begunWith(
  { store }: Pick<CampaignPageDeps, 'store'>,
  { account, fields, query }: Pick<Visit, 'account' | 'fields' | 'query'>,
  draft: Broadcast | undefined,
): Promise<Begun> {
  if (fields.get('from') !== undefined) return typedWith(fields)
  const blocks = async () => {
    if (draft !== undefined) return unfinishedIn(draft.unfinished) ?? blocksOf(draft)
    const slug = query.get('template')
    if (slug !== null) return (await findTemplate(store.read, account.id, slug)).blocks
    if (query.get('with') === 'html') return null
    return layoutNamed(query.get('layout'))?.document ?? firstBlocks
  }
  const document = await blocks()
  if (document === null) return { document: undefined, asks: undefined }
  const typed = 'rest' in document ? document : typedOf(document)
  return { document: withOpen(typed, query), asks: undefined }
}

/** The button that was pressed to begin otherwise. */
const pressedIn = (fields: Form): string | undefined => {
  const [layout, way] = [fields.get('layout'), fields.get('with')]
  if (layout) return `layout:${layout}`
  return way && `with:${way}`
}

/** Whether a button has just made it HTML, which its form had no field for. */
export const isNowHtml = (fields: Form): boolean =>
  fields.get('replace') === 'with:html' || fields.get('with') === 'html'

function typedWith(fields: Form): Begun {
  const typed = documentIn(fields)
  const agreed = fields.get('replace')
  const pressed = agreed ?? pressedIn(fields)
  const asked = pressed === undefined ? undefined : replacementOf(pressed)
  if (pressed === undefined || asked === undefined) return { document: typed, asks: undefined }
  const { document, title } = asked
  if (agreed === undefined && isWritten(typed, fields.get('html') ?? '')) {
    return { document: typed, asks: { pressed, title } }
  }
  return { document, asks: undefined }
}

function replacementOf(
  pressed: string,
): { document: TypedDocument | undefined; title: string } | undefined {
  if (pressed === 'with:html') return { document: undefined, title: 'HTML' }
  if (pressed === 'with:blocks') return { document: typedOf(firstBlocks), title: 'Some blocks' }
  const layout = layoutNamed(pressed.replace(/^layout:/, ''))
  return layout && { document: typedOf(layout.document), title: `“${layout.title}”` }
}

/** Whether it is more than what there was to begin with. */
function isWritten(typed: TypedDocument | undefined, text: string): boolean {
  if (typed === undefined) return text.trim() !== '' && plain(text) !== plain(firstHtml)
  if (typed.blocks.length === 0) return false
  const beginnings: readonly BlockDocument[] = [
    firstBlocks,
    ...layouts.map(({ document }) => document),
  ]
  const { blocks } = typed
  return !beginnings.some((one) => isDeepStrictEqual(filled(typedOf(one).blocks), filled(blocks)))
}

const plain = (text: string) => text.replace(/\s+/g, ' ').trim()

/** The layouts that a campaign can begin with, and the question whether one may take the place of what is written. */
export function beginPart(
  { document, asks }: Begun,
  { change, isNew }: { change: string; isNew: boolean },
): Html | undefined {
  const to = `${change}#begin`
  if (asks !== undefined) {
    return html`<div class="notice begin" id="begin" role="alert"><p>${asks.title} would take the place of ${
      document === undefined ? 'the HTML' : 'the blocks'
    } that you have written below.</p><p class="buttons"><button name="replace" value="${asks.pressed}" formaction="${to}" formnovalidate>Put it in their place</button> <button name="layout" value="" formaction="${to}" formnovalidate>Keep what I have</button></p></div>`
  }
  if (document === undefined) return isNew ? html`<div id="begin"></div>` : undefined
  const says = 'It takes the place of the blocks below, and of nothing else.'
  const offered = html`<ul class="layouts">${layouts.map(
    ({ title, name, about }) =>
      html`<li><button name="layout" value="${name}" formaction="${to}" formnovalidate>${title}</button> <span>${about}</span></li>`,
  )}</ul>`
  // Whoever has written something seldom begins anew, and has the cards at hand.
  return isWritten(document, '')
    ? html`<details class="begin" id="begin"><summary>Begin anew with a layout</summary><p class="quiet">${says}</p>${offered}</details>`
    : html`<section class="card begin" id="begin" aria-labelledby="layouts"><h3 id="layouts">Begin with a layout</h3><p class="quiet">${says}</p>${offered}</section>`
}
