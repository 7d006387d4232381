import { createReadStream } from 'node:fs'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { Readable } from 'node:stream'
import { createGunzip, createGzip } from 'node:zlib'
import { messageOf, OperatorError, systemCode } from '../errors/index.js'
import { decrypt, encrypt, headRoom, type PublicHead, readEncryptedHead } from './cipher.js'

export interface Wrapping {
  compress: boolean
  passphrase: string | undefined
  head: PublicHead
}

/** How a backup's name ends until it is whole. */
export const partialSuffix = '.partial'

/**
 * Writes an archive to `file`: gzipped, encrypted, both or neither. The file gets that name only once all of it is on
 * the disk. Resolves with its size in bytes.
 */
export async function writeContainer(
  file: string,
  archive: AsyncIterable<Buffer>,
  { compress, passphrase, head }: Wrapping,
  signal?: AbortSignal,
): Promise<number> {
  const packed = compress ? through(archive, createGzip({ level: 1 })) : archive
  const sealed = passphrase === undefined ? packed : encrypt(packed, passphrase, head)
  const partial = file + partialSuffix
  // Never through a symlink, or into a file that somebody else has open; leftovers are removed already (`make.ts`).
  const out = await open(partial, 'wx', 0o600)
  let size = 0
  try {
    let unsynced = 0
    for await (const chunk of sealed) {
      signal?.throwIfAborted()
      await out.writeFile(chunk)
      size += chunk.length
      unsynced += chunk.length
      // As with the copy: the disk is never far behind, so that no commit of a mail waits for it.
      if (unsynced < bytesPerSync) continue
      await out.datasync()
      unsynced = 0
    }
    await out.sync()
  } catch (error) {
    await out.close()
    await rm(partial, { force: true })
    throw error
  }
  await out.close()
  await rename(partial, file)
  await syncDirectory(dirname(file))
  return size
}

const bytesPerSync = 16 * 1_048_576

/** Puts the names in a folder on the disk: otherwise a file that is durable may have no name after a power cut. */
export async function syncDirectory(dir: string): Promise<void> {
  const handle = await open(dir, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** What anybody may know of the file without its passphrase; undefined where it is not encrypted. */
export async function readPublicHead(file: string): Promise<PublicHead | undefined> {
  return readEncryptedHead(await beginningOf(file))?.head
}

/**
 * A file by its name, or one that is open already, since the process that reads on may not be allowed to open it; that
 * one is closed at the end.
 */
export type BackupFile = string | FileHandle

/** Which wrapping is accepted. */
export interface Expected {
  /** The name of a file that is open already. */
  name?: string | undefined
  /** A passphrase is set: anybody may have made an archive that is not encrypted, so it is refused. */
  onlyEncrypted?: boolean | undefined
}

/**
 * The archive in a file, whatever it was wrapped in. `passphrase` is asked for only where the file is encrypted. Only
 * what was encrypted is authentic, so a plain file whose name says that it is encrypted is refused.
 */
export async function openContainer(
  file: BackupFile,
  passphrase: () => Promise<string>,
  { name = typeof file === 'string' ? file : '', onlyEncrypted }: Expected = {},
): Promise<AsyncIterable<Buffer>> {
  const start = await beginningOf(file)
  const encrypted = readEncryptedHead(start)
  if (encrypted === undefined) refusePlain(name, onlyEncrypted === true)
  const range = { start: encrypted?.end ?? 0, highWaterMark: 262_144 }
  const bytes =
    typeof file === 'string' ? createReadStream(file, range) : file.createReadStream(range)
  const plain: AsyncIterable<Buffer> =
    encrypted === undefined ? bytes : decrypt(bytes, start, await passphrase())
  return unzipped(plain)
}

/** How the name of an encrypted backup ends. */
export const encryptedSuffix = '.enc'

function refusePlain(name: string, onlyEncrypted: boolean): void {
  if (name.toLowerCase().endsWith(encryptedSuffix)) {
    throw new OperatorError(
      `${name} is not encrypted, though its name says so: it is damaged, or somebody has put another file in its place. Take another backup`,
    )
  }
  if (!onlyEncrypted) return
  throw new OperatorError(
    `${name === '' ? 'The backup' : name} is not encrypted, though a passphrase is set: anybody may have made it. If you know where it is from: 'posthorn backup verify --plain', 'posthorn restore --plain'`,
  )
}

/** Opens a backup for reading; refuses anything but a file. */
export async function openBackup(file: string): Promise<FileHandle> {
  const handle = await open(file, 'r').catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') throw noBackup(`There is no file ${file}`)
    throw error
  })
  if ((await handle.stat()).isFile()) return handle
  await handle.close()
  throw noBackup(`${file} is not a file`)
}

const noBackup = (what: string) =>
  new OperatorError(`${what}. Name a backup: 'posthorn backup list DIR' shows those of a directory`)

async function beginningOf(file: BackupFile): Promise<Buffer> {
  const handle = typeof file === 'string' ? await openBackup(file) : file
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(headRoom), 0, headRoom, 0)
    return buffer.subarray(0, bytesRead)
  } finally {
    if (handle !== file) await handle.close()
  }
}

/** The bytes themselves; where they are gzipped, their content. */
async function* unzipped(bytes: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const source = bytes[Symbol.asyncIterator]()
  const first = await source.next()
  if (first.done) return
  const all = (async function* () {
    yield first.value
    for (;;) {
      const next = await source.next()
      if (next.done) return
      yield next.value
    }
  })()
  const isGzip = first.value.length > 1 && first.value.readUInt16BE(0) === 0x1f8b
  yield* isGzip ? through(all, createGunzip()) : all
}

/** What comes out of a stream of zlib; errors of the stream and of the source end the reading. */
async function* through(
  bytes: AsyncIterable<Buffer>,
  stream: ReturnType<typeof createGzip> | ReturnType<typeof createGunzip>,
): AsyncGenerator<Buffer> {
  const source = Readable.from(bytes, { objectMode: false })
  source.on('error', (error) => stream.destroy(error))
  source.pipe(stream)
  try {
    for await (const chunk of stream) yield chunk
  } catch (error) {
    const code = systemCode(error)
    if (!/^Z_/.test(code)) throw error
    throw new OperatorError(`The backup is damaged: it cannot be unpacked (${messageOf(error)})`)
  } finally {
    source.destroy()
    stream.destroy()
  }
}
