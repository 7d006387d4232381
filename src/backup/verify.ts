import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type Clock, systemClock } from '../clock/index.js'
import { keyNameOf, openApplianceKey } from '../config/index.js'
import { messageOf, OperatorError } from '../errors/index.js'
import { inspectDatabase, isUnreleased, knowsSchema } from '../store/index.js'
import { makeCheckDir } from './check-dir.js'
import { databaseName, hasDatabase, keyName, type Manifest } from './manifest.js'
import { type UnpackOptions, unpackBackup } from './unpack.js'

export interface VerifyOptions extends UnpackOptions {
  /** A directory with room for all of the backup, where it is unpacked and removed again. */
  scratch: string
  /** The appliance key of a backup that was made without it; it is compared if it is there. */
  keyFile?: string | undefined
  clock?: Clock
}

export interface Verified {
  manifest: Manifest
  /** `apart`: the key is not in the backup, and was not given either. */
  key: 'belongs' | 'apart'
}

/**
 * Opens a backup as a restore does, and checks all of it: the checksums, SQLite's integrity check, the count of every
 * table, the key. Throws an OperatorError with what is wrong.
 */
export async function verifyBackup(file: string, options: VerifyOptions): Promise<Verified> {
  const { signal, clock = systemClock } = options
  const { dir, remove } = await makeCheckDir(options.scratch, { clock, signal })
  try {
    const manifest = await unpackBackup(file, dir, options)
    return { manifest, key: await checkUnpacked(dir, manifest, options.keyFile) }
  } finally {
    await remove()
  }
}

/** Checks what was unpacked into `dir`. */
export async function checkUnpacked(
  dir: string,
  manifest: Manifest,
  keyFile: string | undefined,
  /** The operator's name for that file. */
  keyNamed = keyFile,
): Promise<Verified['key']> {
  if (isUnreleased(manifest.schema)) {
    throw new OperatorError(
      'The backup was made by Posthorn before its first release, and no release reads its database: it can only be opened by the version that made it',
    )
  }
  if (!(await knowsSchema(manifest.schema))) {
    throw new OperatorError(
      `The backup was made by Posthorn ${manifest.posthorn}, whose database this version does not know (${manifest.schema}). Install that version or a later one`,
    )
  }
  if (!hasDatabase(manifest)) return checkKey(dir, manifest, keyFile, keyNamed)
  let found: ReturnType<typeof inspectDatabase>
  try {
    found = inspectDatabase(join(dir, databaseName))
  } catch (cause) {
    throw damaged(`SQLite cannot read its database (${messageOf(cause)})`)
  }
  if (found.problems.length > 0) {
    throw damaged(`its database is not sound: ${found.problems.join('; ').slice(0, 500)}`)
  }
  if (found.foreign.length > 0) {
    const names = JSON.stringify(found.foreign).slice(0, 200)
    throw new OperatorError(
      `The database in the backup has triggers or virtual tables, which Posthorn never makes, and which could change mail and keys unseen: ${names}. Drop them with sqlite3 where you know them, and make a new backup`,
    )
  }
  const tables = new Set([...Object.keys(found.rows), ...Object.keys(manifest.rows)])
  for (const table of tables) {
    const [has, said] = [found.rows[table] ?? 0, manifest.rows[table] ?? 0]
    if (has !== said) throw damaged(`${table} has ${has} rows instead of ${said}`)
  }
  if (found.schema !== manifest.schema || found.keyCheck !== (manifest.keyCheck ?? undefined)) {
    throw damaged('its database is not the one that its manifest describes')
  }
  return checkKey(dir, manifest, keyFile, keyNamed)
}

function checkKey(
  dir: string,
  manifest: Manifest,
  keyFile: string | undefined,
  keyNamed: string | undefined,
): Verified['key'] {
  const file = manifest.withKey ? join(dir, keyName) : keyFile
  if (file === undefined || !existsSync(file)) {
    if (manifest.withKey) throw damaged('its appliance key is missing')
    return 'apart'
  }
  const key = openApplianceKey(file, manifest.withKey ? file : keyNamed)
  if (manifest.keyCheck !== null && !key.checks.includes(manifest.keyCheck)) {
    const needed = keyNameOf(manifest.keyCheck)
    throw new OperatorError(
      manifest.withKey
        ? `The appliance key in the backup does not belong to its database, which needs the key ${needed}`
        : `The appliance key ${keyNamed} does not belong to the database in the backup, which needs the key ${needed}`,
    )
  }
  return 'belongs'
}

const damaged = (what: string) => new OperatorError(`The backup is damaged: ${what}`)
