import { OperatorError } from '../errors/index.js'
import { describeFault, type TemplateDraft, type TemplateFault } from '../templates/index.js'

// Of a longer line, what is around the fault.
const maxWidth = 100

/** The fault of a template as an operator reads it, with the line it is in and a caret below it. */
export function faultWithExcerpt(draft: TemplateDraft, fault: TemplateFault): OperatorError {
  const sentence = describeFault(`Template "${draft.slug}"`, fault)
  const source = sourceOf(draft, fault)
  if (source === null || fault.line === undefined || fault.column === undefined) {
    return new OperatorError(sentence)
  }
  const line = source.split('\n')[fault.line - 1] ?? ''
  const start = Math.max(0, Math.min(fault.column - 1 - maxWidth / 2, line.length - maxWidth))
  // A tab or an escape sequence would move the caret, or the cursor.
  const excerpt = line.slice(start, start + maxWidth).replace(/\p{Cc}/gu, ' ')
  const margin = `  ${fault.line} | `
  const caret = `${' '.repeat(margin.length - 2)}| ${' '.repeat(fault.column - 1 - start)}^`
  return new OperatorError(`${sentence}\n\n${margin}${excerpt}\n${caret}`)
}

function sourceOf(draft: TemplateDraft, { part }: TemplateFault): string | null {
  if (part === null) return null
  return part === 'text' ? (draft.textBody ?? null) : draft[part]
}
