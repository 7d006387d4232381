import { type Html, type HtmlContent, html } from './html.js'

/*
 * Names are written from right to left in some languages, and turn signs and numbers beside them round unless they are set
 * apart. Sentences have names within “ and ”.
 */

// A name within “ and ”, or between the signs of Unicode that set it apart.
const marks = /[“\u2068]/
const marked = /“[^“”]*”|\u2068[^\u2068\u2069]*\u2069/g
const fromRight = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/

/** A sentence as HTML, each name in it with a direction of its own; what `html` made stays as it is. */
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

/** The same for views, which write it by itself. */
export const sentence = (text: string): Html => html`${isolated(text)}`

/** A name that stands in a sentence without quotation marks. */
export const setApart = (name: string): string =>
  fromRight.test(name) ? `\u2068${name}\u2069` : name

/** A name, or what a step does, within quotation marks; those within it become the inner ones. */
export const inQuotes = (name: string): string =>
  `“${name.replaceAll('“', '‘').replaceAll('”', '’')}”`
