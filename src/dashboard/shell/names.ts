import { type Html, type HtmlContent, html } from './html.js'

/*
 * Some languages write names from right to left, and such a name reverses signs and numbers beside it unless it is
 * set apart. Sentences have names between “ and ”.
 */

// A name between “ and ”, or between the Unicode characters that set it apart.
const marks = /[“\u2068]/
const marked = /“[^“”]*”|\u2068[^\u2068\u2069]*\u2069/g
const fromRight = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/

/** A sentence as HTML, in which each name has its own direction; what `html` made stays as it is. */
export function isolated(content: HtmlContent): HtmlContent {
  if (typeof content !== 'string' || !marks.test(content)) return content
  const parts: HtmlContent[] = []
  let from = 0
  for (const { 0: name, index } of content.matchAll(marked)) {
    const apart = html`<bdi>${name.slice(1, -1)}</bdi>`
    parts.push(content.slice(from, index), name.startsWith('“') ? html`“${apart}”` : apart)
    from = index + name.length
  }
  return html`${[...parts, content.slice(from)]}`
}

/** The same for views, which write the sentence alone. */
export const sentence = (text: string): Html => html`${isolated(text)}`

/** A name that stands in a sentence without quotation marks. */
export const setApart = (name: string): string =>
  fromRight.test(name) ? `\u2068${name}\u2069` : name

/** A name, or what a step does, in quotation marks; quotation marks inside it become inner ones. */
export const inQuotes = (name: string): string =>
  `“${name.replaceAll('“', '‘').replaceAll('”', '’')}”`
