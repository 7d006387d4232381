import { Html, type HtmlContent, html, written } from './html.js'
import { isolated } from './names.js'

/** A column's heading and what kind of values it has. */
export interface Column {
  label: string
  /** `number` stands at the right; `main` is the row's name, and the title of its card on a phone. */
  kind?: 'number' | 'main' | 'actions'
}

/** The last column, of buttons, for whoever may press them. */
export const actionsColumn = (there: boolean, label = 'Actions'): readonly Column[] =>
  there ? [{ label, kind: 'actions' }] : []

/** Rows and columns; on a phone each row is a card, and each value has the column's label before it. */
export function table(of: {
  /** What the rows are; screen readers read it, and it is not visible. */
  caption: string
  columns: readonly Column[]
  rows: readonly (readonly HtmlContent[])[]
  /** The id by which the table is refreshed in place (`data-live`). */
  id?: string
}): Html {
  const { columns } = of
  return html`<div class="table-box"><table class="cards"${of.id && html` id="${of.id}"`}><caption class="hidden">${of.caption}</caption>
<thead><tr>${columns.map(
    ({ label, kind }) =>
      html`<th scope="col"${kind && html` class="${kind}"`}>${kind === 'actions' ? html`<span class="hidden">${label}</span>` : label}</th>`,
  )}</tr></thead>
<tbody>${of.rows.map(
    (cells) =>
      html`<tr>${cells.map((cell, at) => {
        const { label = '', kind } = columns[at] ?? {}
        const content = breakable(written(isolated(cell)))
        return kind === 'main'
          ? html`<th scope="row" class="main">${content}</th>`
          : html`<td data-label="${label}"${kind && html` class="${kind}"`}>${content}</td>`
      })}</tr>\n`,
  )}</tbody></table></div>`
}

/*
 * A column is no narrower than its longest word, and the words of mail are long: addresses, URLs, host names. A word
 * longer than this may break after a separating character, and after so many letters without one.
 */
const longestWord = 24
const part = /(?:&(?:#\d+|\w+);|[^@._/=:,-]){1,16}[@._/=:,-]?|[@._/=:,-]/g
// The content of a field is not markup.
const tagOrWord = /<(?:textarea|option)\b[^>]*>[^<]*|<[^>]*>|[^<\s]+/g

/** HTML whose long words may break, outside of its tags. */
const breakable = (text: string): Html =>
  new Html(
    text.replace(tagOrWord, (piece) => {
      if (piece.startsWith('<') || piece.length <= longestWord) return piece
      return (piece.match(part) ?? [piece]).join('<wbr>')
    }),
  )
