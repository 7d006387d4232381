import BetterSqlite3 from 'better-sqlite3'
import { isBusy } from './errors.js'

/**
 * Takes an exclusive lock on `file`, held until the returned function or the end of the process;
 * undefined when somebody else has it. Node has no flock(2), SQLite does.
 */
export function tryLockFile(file: string): (() => void) | undefined {
  const db = new BetterSqlite3(file, { timeout: 0 })
  try {
    db.pragma('journal_mode = delete')
    db.exec('begin exclusive')
    return () => db.close()
  } catch (error) {
    db.close()
    if (isBusy(error)) return undefined
    throw error
  }
}
