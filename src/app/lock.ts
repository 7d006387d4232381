import { existsSync } from 'node:fs'
import { OperatorError } from '../errors/index.js'
import { tryLockFile } from '../store/index.js'
import { lockFile } from './files.js'

/**
 * One appliance a data directory: two would deliver the same queue twice. The lock is the operating system's, so it
 * ends with the process, however that dies. Returns a function that releases it.
 */
export function lockDataDir(dataDir: string): () => void {
  const unlock = tryLockFile(lockFile(dataDir))
  if (unlock === undefined) {
    throw new OperatorError(
      `Another posthorn serves ${dataDir} already. Stop it first, or choose another --data directory`,
    )
  }
  return unlock
}

/** Whether an appliance serves it now. An appliance that starts at this very moment may find the directory locked. */
export function isServed(dataDir: string): boolean {
  // The first appliance that serves it makes the file, which stays.
  if (!existsSync(lockFile(dataDir))) return false
  const unlock = tryLockFile(lockFile(dataDir))
  unlock?.()
  return unlock === undefined
}
