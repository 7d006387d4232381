import { ApiError, messageOf } from '../errors/index.js'
import { FencedError, troubleOf as troubleOfPostgres } from './postgres/errors.js'
import { isClosed, troubleOf as troubleOfSqlite } from './sqlite/errors.js'
import type { OnFault, StoreTrouble } from './trouble.js'

/** What an error means, whichever engine it comes from; undefined for other errors. */
const troubleOf = (error: unknown): StoreTrouble | undefined =>
  troubleOfSqlite(error) ?? troubleOfPostgres(error)

/**
 * Whether what failed passes by itself and is nobody's own fault: the storage (disk full, I/O error, busy, closing),
 * or a part of the appliance that is overloaded. Then the caller waits, and tries everything again. Any other fault
 * belongs to the item that met it, at every try: that item is parked with its error, the operator is told, and the
 * others go on.
 */
export function isPassing(error: unknown): boolean {
  if (error instanceof ApiError) return error.code === 'service_unavailable'
  return isClosed(error) || troubleOf(error)?.passes === true
}

/** Whether others have ended the epoch of this appliance. */
export const isFenced = (error: unknown): boolean =>
  error instanceof FencedError || (error instanceof ApiError && error.cause instanceof FencedError)

/** What the storage said, without the sentence for clients around it. */
export const wordsOfCause = (error: unknown): string =>
  messageOf(error instanceof ApiError && error.cause !== undefined ? error.cause : error)

/** Tells `onFault` of an error after which the database cannot be used; ignores others. */
export function reportFault(error: unknown, onFault: OnFault | undefined): void {
  const kind = troubleOf(error)?.fault
  if (kind !== undefined && error instanceof Error) onFault?.({ kind, message: error.message })
}

export type DatabaseTrouble = StoreTrouble['kind']

/** What is wrong with the database; undefined for an error that is not the database's. */
export const databaseTrouble = (error: unknown): DatabaseTrouble | undefined =>
  troubleOf(error)?.kind

/** 503 with Retry-After, which interface.md wants for faults that are usually brief. */
export const unwritable = (cause: unknown): ApiError =>
  refusal('The database cannot be written just now', cause)

const unusables = new WeakSet<Error>()

/** The same for a database on a server that is away, also for reads. */
export function unusable(cause: unknown): ApiError {
  const fault = refusal('The database cannot be used just now', cause)
  unusables.add(fault)
  return fault
}

/** Whether `unusable` made the error, and not the work itself. */
export const isUnusable = (error: unknown): error is ApiError =>
  error instanceof ApiError && unusables.has(error)

function refusal(message: string, cause: unknown): ApiError {
  const fault = new ApiError('service_unavailable', message, { headers: { 'retry-after': '5' } })
  fault.cause = cause
  return fault
}
