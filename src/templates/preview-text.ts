import { contentStart } from '../mime/index.js'

const tag = /(\{\{[^{}]{0,500}\}\}|\{%[^%]{0,500}%\})/

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

// So many that an inbox shows none of the mail's own words behind a short text: a space and signs without a width.
const filler = '&#847;&zwnj;&nbsp;'.repeat(60)

/**
 * HTML in Liquid with the text that inboxes show beside the subject: the first words of the mail, which no reader of it
 * sees, nor its text part. The text is Liquid too; what is outside of its tags is escaped.
 */
export function withPreviewText(html: string, previewText: string | null | undefined): string {
  if (!previewText) return html
  const words = previewText
    .split(tag)
    .map((part, at) =>
      at % 2 === 1 ? part : part.replace(/[&<>]/g, (char) => entities[char] ?? ''),
    )
    .join('')
  const hidden = `<div data-skip-in-text style="display:none;max-height:0;overflow:hidden;mso-hide:all">${words}${filler}</div>`
  const at = contentStart(html)
  return html.slice(0, at) + hidden + html.slice(at)
}
