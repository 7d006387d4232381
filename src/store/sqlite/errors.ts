import type { StoreTrouble } from '../trouble.js'

/** What an error of SQLite means; undefined for an error that is not SQLite's. */
export function troubleOf(error: unknown): StoreTrouble | undefined {
  const code = codeOf(error)
  if (code === undefined) return undefined
  const kind = kinds.find(([, pattern]) => pattern.test(code))?.[0] ?? 'other'
  return { kind, passes: passing.test(code), fault: faultIn(code) }
}

/** The kind of trouble that a code means, for messages to the operator. Whether it passes is decided below. */
const kinds: readonly (readonly [StoreTrouble['kind'], RegExp])[] = [
  ['damaged', /^SQLITE_(CORRUPT|NOTADB)/],
  ['denied', /^SQLITE_(CANTOPEN|READONLY)/],
  // IOERR_SHMSIZE: there is no room for the index of the log.
  ['full', /^SQLITE_(FULL|IOERR_SHMSIZE)/],
  ['busy', /^SQLITE_BUSY/],
  ['failing', /^SQLITE_IOERR/],
]

// Faults of the storage and not of what was written: the same write may succeed later, and another write would also
// fail now. A damaged or missing file is among them, because an operator may repair it.
const passing =
  /^SQLITE_(FULL|IOERR|CORRUPT|NOTADB|READONLY|CANTOPEN|NOMEM|BUSY|LOCKED|PROTOCOL|INTERRUPT)/

/**
 * The two faults that end the process: after a failed fsync the kernel may have dropped the pages, so that a later
 * sync would succeed without them (PostgreSQL's "fsyncgate" of 2018).
 */
function faultIn(code: string): StoreTrouble['fault'] {
  if (/^SQLITE_(CORRUPT|NOTADB|IOERR_CORRUPTFS)/.test(code)) return 'corrupt'
  // A sync of SQLite's own has failed, at a checkpoint or where the log begins anew.
  return /^SQLITE_IOERR_(DIR_)?FSYNC$/.test(code) ? 'unsynced' : undefined
}

/** Another process writes just now. */
export const isBusy = (error: unknown): boolean => codeOf(error) === 'SQLITE_BUSY'

/** The connection was closed while in use. The driver reports this itself: it is not a code of SQLite. */
export const isClosed = (error: unknown): boolean =>
  error instanceof TypeError && error.message === 'The database connection is not open'

/** Extended codes of SQLite by name; other errors with a `code` come from Node. */
function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' && code.startsWith('SQLITE_') ? code : undefined
}
