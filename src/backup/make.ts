import { createHash } from 'node:crypto'
import { createReadStream, existsSync, statSync } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { shownMegabytes } from '../amounts/index.js'
import { type Clock, isoTime } from '../clock/index.js'
import { packageVersion } from '../config/index.js'
import { OperatorError } from '../errors/index.js'
import {
  copyDatabase,
  databaseFile,
  databaseTrouble,
  diskRoom,
  filesBeside,
  findDatabase,
  type Inspection,
  inspectDatabase,
  schemaState,
  sealCopy,
  walBytes,
} from '../store/index.js'
import { removeKilledChecks } from './check-dir.js'
import { partialSuffix, writeContainer } from './container.js'
import {
  type DirectoryProblem,
  makeDirectory,
  problemOfDirectory,
  removeOwnFile,
  tryLockDirectory,
} from './directory.js'
import { databaseName, keyName, type Manifest, manifestName } from './manifest.js'
import { fileNameOf } from './names.js'
import { slowDown } from './slow-down.js'
import { type TarFile, writeTar } from './tar.js'

export interface BackupOptions {
  dataDir: string
  /**
   * The URL of a PostgreSQL, whose server has backups of its own: then only the key and the operator's files are taken.
   */
  url?: string | undefined
  /**
   * The file of settings in use, wherever it lies: in the backup it is `etc/posthorn.toml`, or one of the data's files.
   */
  configFile?: string | undefined
  /** Where the backup is to be; made if it is not there. */
  dir: string
  clock: Clock
  withKey: boolean
  compress: boolean
  passphrase?: string | undefined
  onStage?: ((stage: BackupStage) => void) | undefined
  signal?: AbortSignal | undefined
}

export type BackupStage =
  | { kind: 'copy'; copied: number; ofBytes: number; walBytes: number }
  | { kind: 'check' | 'pack' }

export interface MadeBackup {
  file: string
  sizeBytes: number
  tookMs: number
  manifest: Manifest
  /** What is wrong with the directory; undefined where all is well. */
  problem: DirectoryProblem | undefined
}

const stagedName = '.posthorn-backup.db'
const lockName = '.posthorn-backup.lock'

/**
 * Makes one backup of a data directory, whether an appliance runs on it or not: a copy of the database, checked, with
 * the appliance key and the operator's files, in one file of its own name. Only for a process that has no connection to
 * that database (see `copyDatabase`). The disk needs room for the copy beside the backup. However it ends, it leaves
 * nothing that looks like a backup; the next backup removes its leftovers.
 */
export async function makeBackup(options: BackupOptions): Promise<MadeBackup> {
  const { dir, clock } = options
  await makeDirectory(dir)
  const unlock = tryLockDirectory(join(dir, lockName))
  if (unlock === undefined) {
    throw new OperatorError(`Another backup into ${dir} is under way: wait for its end`)
  }
  const staged = join(dir, stagedName)
  try {
    await removeLeftovers(options)
    await askRoom(options)
    try {
      const made = await makeStaged(options, staged, clock.now())
      return { ...made, problem: await problemOfDirectory(dir) }
    } finally {
      await removeStaged(staged, options.signal)
    }
  } catch (error) {
    if (isFull(error)) throw full(dir, error)
    throw error
  } finally {
    unlock()
  }
}

async function makeStaged(
  options: BackupOptions,
  staged: string,
  madeAt: number,
): Promise<Omit<MadeBackup, 'problem'>> {
  const { dir, onStage, signal, compress, passphrase, withKey, clock } = options
  const found =
    options.url === undefined ? await copied(options, staged, madeAt) : await onServer(options)
  signal?.throwIfAborted()
  const ofDatabase = options.url === undefined ? [await sourceOf(databaseName, staged)] : []
  const files: Source[] = [...(await smallFiles(options)), ...ofDatabase]
  const manifest: Manifest = {
    format: 1,
    posthorn: packageVersion(),
    schema: found.schema ?? '',
    madeAt: isoTime(madeAt),
    keyCheck: found.keyCheck ?? null,
    withKey,
    rows: found.rows,
    files: files.map(({ name, size, sha256 }) => ({ name, size, sha256 })),
  }
  onStage?.({ kind: 'pack' })
  const file = join(dir, fileNameOf(madeAt, { compress, encrypted: passphrase !== undefined }))
  const { posthorn, schema } = manifest
  const head = { madeAt: manifest.madeAt, posthorn, schema }
  const archive = writeTar(archived(manifest, files), madeAt)
  const sizeBytes = await writeContainer(file, archive, { compress, passphrase, head }, signal)
  return { file, sizeBytes, tookMs: clock.now() - madeAt, manifest }
}

/** The key has to belong to the database on the server, as it has to belong to a database in the backup. */
async function onServer(
  options: BackupOptions,
): Promise<Pick<Inspection, 'schema' | 'keyCheck' | 'rows'>> {
  const found = await findDatabase(options)
  const { schema } = await schemaState(options)
  return { schema, keyCheck: found.kind === 'there' ? found.keyCheck : undefined, rows: {} }
}

async function copied(options: BackupOptions, staged: string, madeAt: number): Promise<Inspection> {
  const { dataDir, onStage, signal } = options
  const ofBytes = (await stat(databaseFile(dataDir))).size
  await copyDatabase(dataDir, staged, {
    signal,
    onProgress: (copied, walBytes) => onStage?.({ kind: 'copy', copied, ofBytes, walBytes }),
  })
  // Nothing waits for us any more: the log goes on. The rest takes what mail leaves of the processors.
  slowDown()
  onStage?.({ kind: 'check' })
  sealCopy(staged, madeAt)
  signal?.throwIfAborted()
  const found = inspectDatabase(staged)
  refuseDamaged(found, dataDir)
  return found
}

function refuseDamaged({ problems, schema }: Inspection, dataDir: string): void {
  if (problems.length > 0) {
    throw new OperatorError(
      `The database in ${dataDir} is damaged, and no backup of it was made. Restore an earlier one. SQLite says: ${problems.join('; ').slice(0, 500)}`,
    )
  }
  if (schema === undefined) {
    throw new OperatorError(`The database in ${dataDir} has no tables of Posthorn yet`)
  }
}

interface Source {
  name: string
  size: number
  sha256: string
  open: () => AsyncIterable<Buffer>
}

async function sourceOf(name: string, path: string): Promise<Source> {
  const open = () => createReadStream(path, { highWaterMark: 1_048_576 })
  const hash = createHash('sha256')
  let size = 0
  for await (const chunk of open() as AsyncIterable<Buffer>) {
    hash.update(chunk)
    size += chunk.length
  }
  return { name, size, sha256: hash.digest('hex'), open }
}

/** The key and the operator's files, as they are now: some kilobytes, kept in memory. */
async function smallFiles({ dataDir, configFile, withKey }: BackupOptions): Promise<Source[]> {
  const found = new Map(withKey ? [[keyName, join(dataDir, keyName)]] : [])
  for (const [prefix, dir] of [
    ['data', dataDir],
    ['etc', '/etc/posthorn'],
  ] as const) {
    if (!existsSync(dir)) continue
    for (const name of (await readdir(dir)).sort()) {
      const path = join(dir, name)
      if (ownName.test(name) && statSync(path).isFile()) found.set(`${prefix}/${name}`, path)
    }
  }
  if (configFile !== undefined && ![...found.values()].includes(configFile)) {
    // A file that is named replaces that of /etc/posthorn.
    found.set('etc/posthorn.toml', configFile)
  }
  return await Promise.all(
    [...found].map(async ([name, path]) => {
      const bytes = await readFile(path)
      const sha256 = createHash('sha256').update(bytes).digest('hex')
      return { name, size: bytes.length, sha256, open: () => once(bytes) }
    }),
  )
}

const ownName = /^[a-z0-9][a-z0-9_-]{0,60}\.toml$/

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes
}

function archived(manifest: Manifest, files: readonly Source[]): TarFile[] {
  const bytes = Buffer.from(`${JSON.stringify(manifest, undefined, 2)}\n`)
  return [
    { name: manifestName, size: bytes.length, body: once(bytes) },
    // Each file is opened when it is its turn.
    ...files.map(({ name, size, open }) => ({
      name,
      size,
      body: { [Symbol.asyncIterator]: () => open()[Symbol.asyncIterator]() },
    })),
  ]
}

/** Removes what a killed backup has left, since the lock says that none is under way; and what checks have left. */
async function removeLeftovers({
  dir,
  clock,
  signal,
}: Pick<BackupOptions, 'dir' | 'clock' | 'signal'>): Promise<void> {
  await removeKilledChecks(dir, { clock, signal })
  for (const name of await readdir(dir)) {
    if (!name.startsWith('posthorn-') || !name.endsWith(partialSuffix)) continue
    await removeOwnFile(join(dir, name), signal)
  }
  await removeStaged(join(dir, stagedName), signal)
}

async function removeStaged(staged: string, signal?: AbortSignal): Promise<void> {
  for (const file of [staged, ...filesBeside(staged)]) await removeOwnFile(file, signal)
}

const spareBytes = 16 * 1_048_576

/** Room for the copy and for the backup itself, which is compressed to half of it at most, or not at all. */
async function askRoom({ dataDir, url, dir, compress }: BackupOptions): Promise<void> {
  if (url !== undefined) return
  const bytes = (await stat(databaseFile(dataDir))).size + (await walBytes(dataDir))
  const needed = Math.ceil(bytes * (compress ? 1.5 : 2)) + spareBytes
  const { freeBytes } = await diskRoom(dir)
  if (freeBytes >= needed) return
  throw new OperatorError(
    `The disk of ${dir} has ${shownMegabytes(freeBytes)} free, and the backup needs ${shownMegabytes(needed)} while it is made. Make room, or choose another directory`,
  )
}

const isFull = (error: unknown): boolean =>
  databaseTrouble(error) === 'full' ||
  (error instanceof Error && 'code' in error && /^(ENOSPC|EDQUOT)$/.test(String(error.code)))

const full = (dir: string, cause: unknown) =>
  new OperatorError(`The disk of ${basename(dir) === '' ? '/' : dir} is full: no backup was made`, {
    cause,
  })
