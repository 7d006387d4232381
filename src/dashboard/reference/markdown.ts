import { type Html, type HtmlContent, html } from '../shell/html.js'

/**
 * Reads the Markdown that `src/openapi` writes: paragraphs, lists, tables, headings, code and `<details>`. All text is
 * escaped; anything else is shown as it was written.
 */
export function markdown(text: string): Html {
  const blocks: HtmlContent[] = []
  const lines = text.split('\n')
  for (let line = lines.shift(); line !== undefined; line = lines.shift()) {
    const take = (fits: (next: string) => boolean) => {
      const taken: string[] = []
      while (lines[0] !== undefined && fits(lines[0])) taken.push(lines.shift() ?? '')
      return taken
    }
    const [, title] = /^<summary>(.*)<\/summary>$/.exec(line) ?? []
    // An empty line only ends a paragraph.
    if (line.trim() === '') continue
    if (line === '<details>') blocks.push(opened)
    else if (line === '</details>') blocks.push(closed)
    else if (title !== undefined) blocks.push(html`<summary>${title}</summary>`)
    else if (line.startsWith('```')) {
      const code = take((next) => !next.startsWith('```'))
      lines.shift()
      blocks.push(html`<pre class="code" tabindex="0">${code.join('\n')}</pre>`)
    } else if (line.startsWith('## ')) blocks.push(html`<h2>${inline(line.slice(3))}</h2>`)
    else if (line.startsWith('|'))
      blocks.push(tableOf([line, ...take((next) => next.startsWith('|'))]))
    else if (line.startsWith('- ')) {
      const rest = take((next) => next.startsWith('- ') || next.startsWith('  '))
      const items = [line, ...rest].join('\n').split(/^- /m).slice(1)
      blocks.push(html`<ul>${items.map((item) => html`<li>${inline(item)}</li>`)}</ul>`)
    } else {
      const rest = take((next) => !/^(\s*$|- |\||## |```|<)/.test(next))
      blocks.push(html`<p>${inline([line, ...rest].join(' '))}</p>`)
    }
  }
  return html`${blocks}`
}

const opened = html`<details>`
const closed = html`</details>`

function tableOf(lines: string[]): Html {
  // The second line has only dashes.
  const [head = [], , ...rows] = lines.map((line) => line.split('|').slice(1, -1))
  // `data-label`: on a phone each cell has the name of its column in front.
  const cells = (row: string[]) =>
    row.map(
      (cell, index) => html`<td data-label="${head[index]?.trim()}">${inline(cell.trim())}</td>`,
    )
  return html`<div class="table-box"><table class="cards"><thead><tr>${head.map(
    (cell) => html`<th scope="col">${inline(cell.trim())}</th>`,
  )}</tr></thead><tbody>${rows.map((row) => html`<tr>${cells(row)}</tr>`)}</tbody></table></div>`
}

/** Every second part stood between backticks. */
const inline = (text: string): Html =>
  html`${text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`
