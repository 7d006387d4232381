import {
  closeSync,
  constants,
  copyFileSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'

/** Writes all of the file or nothing; when it returns, a power cut does not undo it. */
export function writeDurably(file: string, text: string, mode = 0o644): void {
  const partial = `${file}.partial`
  // A killed earlier try may have left it. It is removed and never opened: opening a pipe would wait for its reader.
  rmSync(partial, { force: true, recursive: true })
  const fd = openSync(partial, 'wx', mode)
  try {
    writeSync(fd, text)
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
  renameDurably(partial, file)
}

/** Writes a file's content to another in the same way; file systems that share blocks (XFS, btrfs) copy nothing. */
export function copyDurably(from: string, to: string): void {
  const partial = `${to}.partial`
  try {
    copyFileSync(from, partial, constants.COPYFILE_FICLONE)
    syncPath(partial)
    renameDurably(partial, to)
  } finally {
    rmSync(partial, { force: true })
  }
}

/**
 * rename(2) is atomic, but the new name is in the directory, which is on disk only after an fsync
 * of its own.
 */
export function renameDurably(from: string, to: string): void {
  renameSync(from, to)
  syncPath(dirname(to))
}

/** Removes a file for good: without the sync of its folder it may be back after a power cut. */
export function removeDurably(file: string): void {
  rmSync(file, { force: true, recursive: true })
  syncPath(dirname(file))
}

/** Syncs a file's content, or a folder's names. */
function syncPath(path: string): void {
  const fd = openSync(path, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}
