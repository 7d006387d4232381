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
 * The database as it was before a migration, beside it in the data directory. One file: the log is written into
 * the database first. All of it for a database that nobody has open.
 */
const copyFile = (dataDir: string) => `${databaseFile(dataDir)}.before-upgrade`

export const hasCopy = (dataDir: string): boolean => existsSync(copyFile(dataDir))

/** The bytes of the database with its log, which a copy needs room for. */
export function databaseBytes(dataDir: string): number {
  const file = databaseFile(dataDir)
  const sizeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.size ?? 0
  return [file, ...filesBeside(file)].reduce((sum, path) => sum + sizeOf(path), 0)
}

/** Makes the copy, durably. One that is there is of an earlier try, after which the database may have changed. */
export function copyDatabaseAside(dataDir: string): void {
  const copy = copyFile(dataDir)
  removeDurably(copy)
  emptyWal(dataDir)
  copyDurably(databaseFile(dataDir), copy)
}

/**
 * Puts the database back as it was copied. The copy stays, since the new release may be started once more before the
 * old one is in use again; without room for both it is the copy itself that takes the place.
 */
export function putDatabaseBack(dataDir: string): void {
  const file = databaseFile(dataDir)
  // An old log beside another database would be read into it: it has to be empty before the names change.
  try {
    emptyWal(dataDir)
  } catch {
    // What the new release has left cannot be opened, and is about to go.
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

/** Removes the copy, and what a copy that was interrupted has left. */
export function dropCopy(dataDir: string): void {
  removeDurably(`${copyFile(dataDir)}.partial`)
  removeDurably(copyFile(dataDir))
}
