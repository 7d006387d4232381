import { ApiError, exitStatus, messageOf, OperatorError } from '../errors/index.js'
import { styled, visibleLines } from './output.js'

/** What an operator reads about anything that was thrown; only a bug shows its stack. */
export function explain(error: unknown): string {
  const label = styled('red', 'error:', process.stderr)
  // What an API client would be told, an operator is told as well.
  if (error instanceof OperatorError || error instanceof ApiError) {
    const cause = error.cause === undefined ? '' : messageOf(error.cause)
    const message = error.message.includes(cause) ? error.message : `${error.message}: ${cause}`
    return `${label} ${visibleLines(withAdvice(message, adviceFor(error.cause)))}`
  }
  const advice = adviceFor(error)
  // From the operating system or SQLite: their sentence says it best.
  if (advice !== undefined) return `${label} ${withAdvice(messageOf(error), advice)}`
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return `${label} this is a fault of Posthorn, please report it:\n${stack}`
}

/** With what status the command ends: see `exitStatus`. */
export function statusOf(error: unknown): number {
  const cause = error instanceof OperatorError ? (error.cause ?? error) : error
  if (/^SQLITE_(CORRUPT|NOTADB)/.test(codeOf(cause))) return exitStatus.damaged
  return error instanceof OperatorError ? error.status : exitStatus.failed
}

const codeOf = (error: unknown) =>
  error instanceof Error && 'code' in error ? String(error.code) : ''

const withAdvice = (message: string, advice: string | undefined) =>
  advice ? `${message}. ${advice}` : message

/** Undefined for what neither the operating system nor SQLite has said. */
function adviceFor(error: unknown): string | undefined {
  const code = codeOf(error)
  switch (code) {
    case 'EACCES':
    case 'EPERM':
    case 'SQLITE_CANTOPEN':
    case 'SQLITE_READONLY':
      return 'Run it as root or as the user that the data directory belongs to'
    case 'EADDRINUSE':
      return 'Another program has this port: stop it or choose another port in the settings'
    case 'EADDRNOTAVAIL':
      return 'No interface of this machine has this address: change it in the settings'
    case 'ENOSPC':
    case 'SQLITE_FULL':
      return 'The disk is full'
    case 'SQLITE_BUSY':
      return 'Another process is writing to the database: try again'
  }
  if (/^SQLITE_(CORRUPT|NOTADB)/.test(code)) return 'Restore the database from a backup'
  return /^(E[A-Z0-9]+|SQLITE_.+)$/.test(code) ? '' : undefined
}
