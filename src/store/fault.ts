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

/**
 * After these nothing that the database says can be trusted, so nobody may go on with it:
 * `corrupt`: the file is damaged, or is no database; what is written next may damage more of it.
 * `unsynced`: a sync has failed. Linux then takes the pages for written and drops them, and the next
 * sync succeeds without them (PostgreSQL ends its process for that reason since 2018, 'fsyncgate').
 */
export interface StoreFault {
  kind: 'corrupt' | 'unsynced'
  message: string
}

/** Is called in the thread that meets the fault, before anybody is answered, and is to end the process. */
export type OnFault = (fault: StoreFault) => void

/** Tells `onFault` of an error after which the database cannot be used; of others it does nothing. */
export function reportFault(error: unknown, onFault: OnFault | undefined): void {
  const kind = faultIn(error)
  if (kind !== undefined && error instanceof Error) onFault?.({ kind, message: error.message })
}

function faultIn(error: unknown): StoreFault['kind'] | undefined {
  const code = sqliteCode(error) ?? ''
  if (/^SQLITE_(CORRUPT|NOTADB|IOERR_CORRUPTFS)/.test(code)) return 'corrupt'
  // Of SQLite's own syncs: at a checkpoint, and where the log begins anew.
  return /^SQLITE_IOERR_(DIR_)?FSYNC$/.test(code) ? 'unsynced' : undefined
}

/**
 * What is wrong with the database, for who has to tell somebody: `denied` it cannot be opened or written, `full` the
 * disk has no room, `failing` it gives errors, `busy` another process writes, `damaged` the file is; undefined for an
 * error that is not the database's.
 */
export type DatabaseTrouble = 'denied' | 'full' | 'failing' | 'busy' | 'damaged' | 'other'

export function databaseTrouble(error: unknown): DatabaseTrouble | undefined {
  const code = sqliteCode(error)
  if (code === undefined) return undefined
  return troubles.find(([, pattern]) => pattern.test(code))?.[0] ?? 'other'
}

const troubles: readonly (readonly [DatabaseTrouble, RegExp])[] = [
  ['damaged', /^SQLITE_(CORRUPT|NOTADB)/],
  ['denied', /^SQLITE_(CANTOPEN|READONLY)/],
  // The second: no room for the index of the log.
  ['full', /^SQLITE_(FULL|IOERR_SHMSIZE)/],
  ['busy', /^SQLITE_BUSY/],
  ['failing', /^SQLITE_IOERR/],
]

/** `SQLITE_…`, or undefined for an error that is not the database's. */
export function sqliteCode(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' && code.startsWith('SQLITE_') ? code : undefined
}
