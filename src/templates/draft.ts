import { ApiError } from '../errors/index.js'
import type { TemplateDraft } from './template.js'

// Readers would not see a larger mail whole (Gmail clips at 102 KB), and it takes long to parse.
export const maxSourceBytes = 256 * 1024
const maxSubjectBytes = 4096

/** Throws a 422 `validation_error` that names the field, unless the draft has the shape of a template. */
export function checkDraft(draft: TemplateDraft): void {
  if (!/^[a-z0-9][a-z0-9_-]{0,63}$/.test(draft.slug)) {
    const expected = '1 to 64 of a-z, 0-9, "_" and "-", beginning with a letter or digit'
    throw refusal('slug', `A template's slug must have ${expected}`)
  }
  checkSource('subject', draft.subject, maxSubjectBytes)
  checkSource('html', draft.html, maxSourceBytes)
  // An empty text counts as none: the text part is then made from the HTML.
  if (draft.textBody) checkSource('textBody', draft.textBody, maxSourceBytes)
}

function checkSource(field: 'subject' | 'html' | 'textBody', source: string, maxBytes: number) {
  if (source.trim() === '') throw refusal(field, `A template's ${field} must not be empty`)
  if (source.includes('\0'))
    throw refusal(field, `A template's ${field} must not have a NUL character`)
  if (Buffer.byteLength(source) > maxBytes) {
    throw refusal(field, `A template's ${field} may have at most ${maxBytes} bytes`)
  }
}

const refusal = (field: string, message: string) =>
  new ApiError('validation_error', message, { status: 422, fields: { field } })
