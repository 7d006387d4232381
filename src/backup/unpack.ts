import { createHash } from 'node:crypto'
import { mkdir, open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { shownMegabytes } from '../amounts/index.js'
import { OperatorError } from '../errors/index.js'
import { diskRoom } from '../store/index.js'
import { type BackupFile, type Expected, openContainer, syncDirectory } from './container.js'
import { isAllowedName, type Manifest, manifestName, readManifest } from './manifest.js'
import { readTar, type TarFile } from './tar.js'

export interface UnpackOptions extends Expected {
  /** Asked only for a backup that is encrypted. */
  passphrase: () => Promise<string>
  signal?: AbortSignal | undefined
}

/**
 * Unpacks a backup into `dir`, which is empty: under the names of the archive, each file checked against the manifest.
 * Throws an OperatorError where anything is damaged, missing, or not what a backup has; what was unpacked by then stays
 * for the caller to remove.
 */
export async function unpackBackup(
  file: BackupFile,
  dir: string,
  { passphrase, signal, ...expected }: UnpackOptions,
): Promise<Manifest> {
  const files = readTar(await openContainer(file, passphrase, expected), isAllowedName)
  const manifest = await manifestFirst(files)
  await askRoom(dir, manifest)
  let read = 0
  for await (const entry of files) {
    const expected = manifest.files[read++]
    if (expected?.name !== entry.name || expected.size !== entry.size) {
      throw damaged(`${entry.name} is not what the manifest says`)
    }
    const sha256 = await writeOut(entry, join(dir, entry.name), signal)
    if (sha256 !== expected.sha256) throw damaged(`the checksum of ${entry.name} is wrong`)
  }
  const missing = manifest.files[read]
  if (missing !== undefined) throw damaged(`${missing.name} is missing`)
  await syncDirectory(dir)
  return manifest
}

/** What a backup says of itself, without unpacking it. */
export async function manifestOf(
  file: string,
  passphrase: UnpackOptions['passphrase'],
  expected: Expected = {},
): Promise<Manifest> {
  return await manifestFirst(
    readTar(await openContainer(file, passphrase, expected), isAllowedName),
  )
}

async function manifestFirst(files: AsyncGenerator<TarFile>): Promise<Manifest> {
  const { value: first } = await files.next()
  if (first?.name !== manifestName) throw damaged('it does not begin with its manifest')
  return await readManifest(first.size, first.body)
}

const bytesPerSync = 16 * 1_048_576

/** Resolves with the SHA-256 of what was written, in hex. */
async function writeOut({ body }: TarFile, path: string, signal?: AbortSignal): Promise<string> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const hash = createHash('sha256')
  const out = await open(path, 'wx', 0o600)
  try {
    let unsynced = 0
    for await (const chunk of body) {
      signal?.throwIfAborted()
      hash.update(chunk)
      await out.writeFile(chunk)
      unsynced += chunk.length
      if (unsynced < bytesPerSync) continue
      await out.datasync()
      unsynced = 0
    }
    await out.sync()
  } finally {
    await out.close()
  }
  return hash.digest('hex')
}

async function askRoom(dir: string, { files }: Manifest): Promise<void> {
  const needed = files.reduce((sum, { size }) => sum + size, 0)
  const { freeBytes } = await diskRoom(dir)
  if (freeBytes >= needed) return
  throw new OperatorError(
    `The disk of ${dir} has ${shownMegabytes(freeBytes)} free, and what is in the backup needs ${shownMegabytes(needed)}. Make room, or choose another directory`,
  )
}

const damaged = (what: string) => new OperatorError(`The backup is damaged: ${what}`)
