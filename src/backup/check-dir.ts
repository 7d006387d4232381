import { existsSync } from 'node:fs'
import { lstat, mkdtemp, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, isRecent } from '../clock/index.js'
import { tryLockFile } from '../store/index.js'
import { databaseName } from './manifest.js'
import { removeSlowly } from './remove-slowly.js'

const prefix = '.posthorn-check-'
const lockName = 'lock'
// How long it may take from making a directory to locking it.
const beginsWithinMs = 60_000

/** A directory where a backup is unpacked to be checked. */
export interface CheckDir {
  dir: string
  remove(): Promise<void>
}

/**
 * Makes one in `scratch`. Its files are plain, the appliance key too, whether the backup is encrypted or not, so
 * directories of killed checks are removed first. A lock says which are in use; it ends with its process, however that
 * ends.
 */
export async function makeCheckDir(
  scratch: string,
  { clock, signal }: { clock: Clock; signal?: AbortSignal | undefined },
): Promise<CheckDir> {
  await removeKilledChecks(scratch, { clock, signal })
  const dir = await mkdtemp(join(scratch, prefix))
  const unlock = tryLockFile(join(dir, lockName))
  return {
    dir,
    async remove() {
      await removeCheck(dir, signal)
      unlock?.()
    },
  }
}

/** Removes what killed checks have left in `scratch`. What belongs to another user, or cannot be removed, stays. */
export async function removeKilledChecks(
  scratch: string,
  { clock, signal }: { clock: Clock; signal?: AbortSignal | undefined },
): Promise<void> {
  for (const name of await readdir(scratch)) {
    if (!name.startsWith(prefix)) continue
    await removeIfKilled(join(scratch, name), clock, signal).catch(() => undefined)
  }
}

async function removeIfKilled(dir: string, clock: Clock, signal?: AbortSignal): Promise<void> {
  const found = await lstat(dir)
  // So nobody can plant a symlink that leads elsewhere, or another user's directory.
  if (!found.isDirectory() || found.uid !== process.getuid?.()) return
  const lock = join(dir, lockName)
  if (!existsSync(lock)) {
    if (isRecent(found.mtimeMs, clock.now(), beginsWithinMs)) return
    return await removeCheck(dir, signal)
  }
  const unlock = (await lstat(lock)).isFile() ? tryLockFile(lock) : undefined
  if (unlock === undefined) return
  try {
    await removeCheck(dir, signal)
  } finally {
    unlock()
  }
}

async function removeCheck(dir: string, signal?: AbortSignal): Promise<void> {
  await removeSlowly(join(dir, databaseName), signal)
  await rm(dir, { recursive: true, force: true })
}
