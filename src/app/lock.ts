import { OperatorError } from '../errors/index.js'
import { tryLockFile } from '../store/index.js'
import { lockFile } from './files.js'

/**
 * One appliance a data directory: two would deliver the same queue twice. The lock is the operating
 * system's, so it ends with the process, however that dies. Returns its release.
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
