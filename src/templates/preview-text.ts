import { contentStart } from '../mime/index.js'

const tag = /(\{\{[^{}]{0,500}\}\}|\{%[^%]{0,500}%\})/

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

// So many that an inbox shows none of the mail's own words behind a short text: a space and signs without a width.
const filler = '&#847;&zwnj;&nbsp;'.repeat(60)

/**
 * The text that inboxes show beside the subject, as Liquid of its own: no tag that it leaves open reaches the mail. What is
 * outside of its tags is escaped.
 */
export function previewLiquid(previewText: string): string {
  const words = previewText
    .split(tag)
    .map((part, at) =>
      at % 2 === 1 ? part : part.replace(/[&<>]/g, (char) => entities[char] ?? ''),
    )
    .join('')
  return `<div data-skip-in-text style="display:none;max-height:0;overflow:hidden;mso-hide:all">${words}${filler}</div>`
}

/** HTML with that text as its first words, which no reader of the mail sees, nor its text part. */
export function withPreview(html: string, preview: string): string {
  if (preview === '') return html
  const at = contentStart(html)
  return html.slice(0, at) + preview + html.slice(at)
}
