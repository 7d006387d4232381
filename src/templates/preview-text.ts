import { contentStart, escapeHtml, textOfHtml } from '../mime/index.js'
import { withoutShownTags } from './copy-tags.js'

const tag = /(\{\{[^{}]{0,500}\}\}|\{%[^%]{0,500}%\})/

// A space and characters without a width, so many that an inbox shows none of the mail's own words after a short
// text.
const filler = '&#847;&zwnj;&nbsp;'.repeat(60)

/**
 * The text that inboxes show beside the subject, as separate Liquid, so that a tag that it leaves open does not reach
 * the mail. Text outside of its tags is escaped.
 */
export function previewLiquid(previewText: string): string {
  const words = previewText
    .split(tag)
    .map((part, at) => (at % 2 === 1 ? part : escapeHtml(part)))
    .join('')
  return `${hidden}${words}${filler}</div>`
}

const hidden =
  '<div data-skip-in-text style="display:none;max-height:0;overflow:hidden;mso-hide:all">'

// An inbox shows only the beginning of a long mail; a head with styles may come before that.
const mostRead = 64 * 1024
// About what an inbox shows on a wide screen.
const mostShown = 140

/** The words that an inbox shows beside the subject of a mail that is rendered: its preview text, else its first words, without the targets of links. */
export function inboxWords(html: string): string {
  const begin = html.slice(0, mostRead)
  const at = begin.indexOf(hidden)
  const end = begin.indexOf(filler)
  const own = at === -1 || end < at ? undefined : begin.slice(at + hidden.length, end)
  const seen = (own ?? begin).replace(
    /\shref\s{0,9}=\s{0,9}(?:"[^"]{0,9000}"|'[^']{0,9000}')/gi,
    '',
  )
  return withoutShownTags(textOfHtml(seen).text).replace(/\s+/g, ' ').trim().slice(0, mostShown)
}

/** HTML with that text as its first words, which are hidden from the mail's readers and left out of the text part. */
export function withPreview(html: string, preview: string): string {
  if (preview === '') return html
  const at = contentStart(html)
  return html.slice(0, at) + preview + html.slice(at)
}
