import { LiquidError } from 'liquidjs'
import type { TemplateFault, TemplatePart } from './job.js'

const maxMessageLength = 200

/** What was thrown while a part was parsed or rendered, as the fault that its author is told. */
export function faultOf(
  thrown: unknown,
  phase: 'syntax' | 'render',
  part: TemplatePart,
): TemplateFault {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown))
  const position = positionOf(error)
  const cause = (error instanceof LiquidError && error.originalError) || error
  if ('variableName' in cause && typeof cause.variableName === 'string') {
    const variable = shortened(cause.variableName)
    const message = `the variable "${variable}" is missing`
    return { kind: 'missing_variable', part, variable, message, ...position }
  }
  // liquidjs writes the position into the message; it is told once, beside the part.
  const message = shortened(cause.message.replace(/, line:\d+, col:\d+$/, ''))
  return { kind: phase, part, message, ...position }
}

function positionOf(error: Error): { line?: number; column?: number } {
  if (!(error instanceof LiquidError)) return {}
  const [line, column] = error.token.getPosition()
  return line === undefined || column === undefined ? {} : { line, column }
}

const shortened = (text: string) =>
  text.length > maxMessageLength ? `${text.slice(0, maxMessageLength)}…` : text
