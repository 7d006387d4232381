import { existsSync, rmSync, statSync } from 'node:fs'
import {
  copyDurably,
  databaseFile,
  emptyWal,
  filesBeside,
  removeDurably,
  renameDurably,
} from '../store/index.js'

/*
 * The database as it was before a migration, beside it in the data directory. It is one file, as the log is written
 * into the database first. All of this is for a database that nobody has open.
 */
const copyFile = (dataDir: string) => `${databaseFile(dataDir)}.before-upgrade`

export const hasCopy = (dataDir: string): boolean => existsSync(copyFile(dataDir))

/** The bytes of the database with its log: a copy needs that much room. */
export function databaseBytes(dataDir: string): number {
  const file = databaseFile(dataDir)
  const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0
  return [file, ...filesBeside(file)].reduce((sum, path) => sum + sizeOf(path), 0)
}

/** Makes the copy, durably. An older copy is from an earlier try, and the database may have changed since. */
export function copyDatabaseAside(dataDir: string): void {
  const copy = copyFile(dataDir)
  removeDurably(copy)
  emptyWal(dataDir)
  copyDurably(databaseFile(dataDir), copy)
}

/**
 * Puts the copied database back. The copy stays, since the new release may be started once more before the old one is
 * in use again. Without room for both, the copy itself is moved.
 */
export function putDatabaseBack(dataDir: string): void {
  const file = databaseFile(dataDir)
  // The log must be empty before the names change: SQLite would read an old log into another database.
  try {
    emptyWal(dataDir)
  } catch {
    // What the new release has left cannot be opened, and is deleted anyway.
    for (const beside of filesBeside(file)) rmSync(beside, { force: true })
  }
  try {
    copyDurably(copyFile(dataDir), file)
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
    renameDurably(copyFile(dataDir), file)
  }
  for (const beside of filesBeside(file)) rmSync(beside, { force: true })
}

/** Removes the copy, and what an interrupted copy has left. */
export function dropCopy(dataDir: string): void {
  removeDurably(`${copyFile(dataDir)}.partial`)
  removeDurably(copyFile(dataDir))
}
