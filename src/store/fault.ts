import { ApiError } from '../errors/index.js'

/**
 * Whether what failed passes by itself and is nobody's own fault: the storage (disk full, I/O error,
 * busy, closing), or a part of the appliance that is overloaded. Then whoever tries again waits, and
 * tries all of it again. Any other fault belongs to the item that met it, at every try: that item is
 * parked with its error, the operator is told, and the others go on.
 */
export function isPassing(error: unknown): boolean {
  if (error instanceof ApiError) return error.code === 'service_unavailable'
  if (error instanceof TypeError) return error.message === 'The database connection is not open'
  return passing.test(sqliteCode(error) ?? '')
}

const passing =
  /^SQLITE_(FULL|IOERR|CORRUPT|NOTADB|READONLY|CANTOPEN|NOMEM|BUSY|LOCKED|PROTOCOL|INTERRUPT)/

/** `SQLITE_…`, or undefined for an error that is not the database's. */
export function sqliteCode(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' && code.startsWith('SQLITE_') ? code : undefined
}
