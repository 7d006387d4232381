import type { StoreTrouble } from '../trouble.js'

/**
 * What an error of PostgreSQL, or of the connection to it, means; undefined for other errors. The classes of SQLSTATE
 * are those of PostgreSQL's manual, appendix A.
 */
export function troubleOf(error: unknown): StoreTrouble | undefined {
  if (error instanceof FencedError) return { kind: 'failing', passes: true }
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (typeof code === 'string' && socketCodes.test(code)) return { kind: 'failing', passes: true }
  if (error instanceof Error && lostConnection.test(error.message)) {
    return { kind: 'failing', passes: true }
  }
  if (typeof code !== 'string' || !isState(error, code)) return undefined
  const kind = kinds.find(([, pattern]) => pattern.test(code))?.[0] ?? 'other'
  const passes = passing.test(code) || endsConnection(error)
  return { kind, passes, fault: damaged.test(code) ? 'corrupt' : undefined }
}

/**
 * The server refuses this statement on any connection, because rights or a table were taken away: no item is at
 * fault, and another connection is no better.
 */
export const isRefused = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && refused.test(String(error.code))

/** Whatever its code, this error means that the connection is gone. */
const endsConnection = (error: unknown): boolean =>
  error instanceof Error && 'severity' in error && /^(FATAL|PANIC)$/.test(String(error.severity))

/**
 * Others have ended the epoch of this appliance: it must not change anything any more. It has to end, and start anew.
 */
export class FencedError extends Error {
  constructor({ number, epoch }: { number: number; epoch: number }) {
    super(`Others have taken node ${number} for dead: its epoch ${epoch} is over`)
  }
}

/** The transaction lost against another one, and may succeed when it runs again. */
export const isRetried = (error: unknown): boolean =>
  isStale(error) ||
  (error instanceof Error && 'code' in error && /^(40001|40P01|55P03)$/.test(String(error.code)))

/**
 * Another release has added a column since this statement, which selects all columns of a table, was parsed: it works
 * under another name.
 */
export const isStale = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  error.code === '0A000' &&
  /^cached plan must not change result type/.test(error.message)

/** The statement's transaction has already failed at another statement. */
export const isInFailed = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === '25P02'

/** Why a transaction runs again, for metrics. */
export function causeOfRetry(error: unknown): 'serialization' | 'deadlock' | 'taken' {
  if (isTaken(error)) return 'taken'
  const isDeadlock = error instanceof Error && 'code' in error && error.code === '40P01'
  return isDeadlock ? 'deadlock' : 'serialization'
}

/**
 * A key exists already: either the work's own fault, or the row of another transaction, which the work could not see.
 */
export const isTaken = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && error.code === '23505'

const kinds: readonly (readonly [StoreTrouble['kind'], RegExp])[] = [
  ['damaged', /^XX00[12]$/],
  ['denied', /^(28|42501|42P01|3F000|25006|3D)/],
  ['full', /^53100$/],
  ['busy', /^(40001|40P01|55P03|53300)$/],
  ['failing', /^(08|53|57P|58|XX)/],
]

// 42501 and 42P01: no right to a table, or no such table, for example while a backup is restored.
const refused = /^(42501|42P01|3F000)$/
// 25006: the server has become a standby, which accepts no writes.
const passing = /^(08|28|3D|53|57P|58|25006|40001|40P01|42501|42P01|3F000|55P03|XX00[12])/
const damaged = /^XX00[12]$/
const socketCodes = /^(ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|ENOENT)/
// What `pg` says when its own connection is gone; it gives these errors no code.
const lostConnection =
  /^(Connection terminated|Client has encountered a connection error|timeout exceeded when trying to connect|Query read timeout|Cannot use a pool after)/

/** An SQLSTATE has five characters; codes of Node begin with E. */
const isState = (error: unknown, code: string): boolean =>
  error instanceof Error && 'severity' in error && /^[0-9A-Z]{5}$/.test(code)
