import { isUtf8 } from 'node:buffer'
import { readFileSync } from 'node:fs'
import { messageOf, OperatorError } from '../errors/index.js'
import { isJsonObject } from '../json/index.js'
import { describeFault, type TemplateDraft, type TemplateFault } from '../templates/index.js'

/** A file, or stdin for `-`. */
export function readInput(file: string): string {
  const bytes = readFileSync(file === '-' ? 0 : file)
  if (!isUtf8(bytes)) throw new OperatorError(`${file} is not UTF-8 text`)
  return bytes.toString('utf8')
}

/** The variables of `--vars` and then of each `--var name=value`, whose values are strings. */
export function readVariables(options: {
  var?: [name: string, value: string][]
  vars?: string
}): Record<string, unknown> {
  const ofFile = options.vars === undefined ? {} : jsonObject(options.vars)
  return { ...ofFile, ...Object.fromEntries(options.var ?? []) }
}

/** The JSON object in a file; OperatorError with the file's name for anything else. */
function jsonObject(file: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(readInput(file))
  } catch (error) {
    if (error instanceof SyntaxError) throw new OperatorError(`${file}: ${messageOf(error)}`)
    throw error
  }
  if (isJsonObject(value)) return value
  throw new OperatorError(`${file} is to hold the variables as a JSON object: {"name": "Ada"}`)
}

// How much of a line is shown; a longer line is cut to the part around the fault.
const maxWidth = 100

/** The fault of a template for an operator, with its line and a caret below it. */
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

/** The text of the part with the fault; null if the fault is in no part. */
function sourceOf(draft: TemplateDraft, { part }: TemplateFault): string | null {
  // No template has a preview text of its own.
  if (part === null || part === 'previewText') return null
  return part === 'text' ? (draft.textBody ?? null) : draft[part]
}
