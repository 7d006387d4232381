import { closeSync, constants, existsSync, lstatSync, openSync } from 'node:fs'
import { lstat, mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { OperatorError, systemCode } from '../errors/index.js'
import { tryLockFile } from '../store/index.js'
import { removeSlowly } from './remove-slowly.js'

/**
 * Makes a directory that is the owner's alone, and those above it; a directory that is there stays as it is. It does
 * not use mkdir's `recursive`, which never ends where the system makes none, as in /proc (Node 20 and 24).
 */
export async function makeDirectory(dir: string): Promise<void> {
  try {
    await mkdir(dir, { mode: 0o700 })
  } catch (error) {
    const code = systemCode(error)
    if (code === 'EEXIST') return await refuseOther(dir)
    if (code === 'ENOTDIR') {
      throw new OperatorError(
        `${dir} cannot be made, as a part of that path is a file. Choose another directory`,
      )
    }
    if (code !== 'ENOENT') throw error
    const parent = dirname(dir)
    if (existsSync(parent)) {
      throw new OperatorError(
        `The system makes no directory in ${parent}. Choose one on a disk instead of ${dir}`,
      )
    }
    await makeDirectory(parent)
    await makeDirectory(dir)
  }
}

async function refuseOther(dir: string): Promise<void> {
  const isDirectory = await stat(dir).then(
    (found) => found.isDirectory(),
    () => false,
  )
  if (isDirectory) return
  throw new OperatorError(
    `${dir} is not a directory. Choose a directory, or move away what has that name`,
  )
}

/**
 * Keeps other backups out of the directory until the returned function is called; undefined when one is under way.
 * SQLite, which makes the lock, follows a symlink: where others may write, a symlink would lead it to a file of their
 * choice.
 */
export function tryLockDirectory(file: string): (() => void) | undefined {
  const found = lstatSync(file, { throwIfNoEntry: false })
  if (found === undefined) makeLockFile(file)
  else if (!found.isFile()) {
    const what = found.isSymbolicLink() ? 'a symlink' : 'not a file'
    throw new OperatorError(
      `${file} is ${what}, and nobody but Posthorn may make that file, which locks the directory. Find out who did, remove it, and try again`,
    )
  }
  return tryLockFile(file)
}

/** A file that is there is not opened: closing it would end the locks that this process has on it. */
function makeLockFile(file: string): void {
  const { O_CREAT, O_EXCL, O_NOFOLLOW, O_RDWR } = constants
  try {
    closeSync(openSync(file, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600))
  } catch (error) {
    const code = systemCode(error)
    if (code === 'ENOENT') {
      throw new OperatorError(
        `The system makes no file in ${dirname(file)}. Choose a directory on a disk`,
      )
    }
    if (code !== 'EEXIST') throw error
    // Another backup may have begun at this moment; a symlink is refused now.
    if (!lstatSync(file).isFile()) throw new OperatorError(`${file} is not a file. Remove it`)
  }
}

/** Removes a file of ours, if it is there; once `signal` aborts, without the rests that leave the disk to mail. */
export async function removeOwnFile(file: string, signal?: AbortSignal): Promise<void> {
  const found = await lstat(file).catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return undefined
    throw error
  })
  if (found?.isDirectory()) {
    throw new OperatorError(
      `${file} is a directory, and a backup needs that name for a file of its own. Move it away, and try again`,
    )
  }
  await removeSlowly(file, signal)
}

/** What is wrong with a directory of backups, and how to mend it. */
export interface DirectoryProblem {
  found: string
  fix: string
}

/**
 * Whether everybody on the machine may write there: then anybody can remove backups, and put others in their place.
 * With the sticky bit only their owners can (/tmp). Undefined where all is well, or no directory is there.
 */
export async function problemOfDirectory(dir: string): Promise<DirectoryProblem | undefined> {
  const mode = await stat(dir).then(
    (found) => found.mode,
    () => 0,
  )
  if ((mode & 0o002) === 0 || (mode & 0o1000) !== 0) return undefined
  return {
    found: `anybody on this machine may remove or replace the backups in ${dir}`,
    fix: `chmod o-w ${dir}`,
  }
}
