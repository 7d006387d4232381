import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, open, rename, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { deflateRaw, inflateRaw } from 'node:zlib'
import type { Read, Store } from '../../store/index.js'
import { dropFile, fileOf, type KeptFile, readFile } from './files.js'

/*
 * Where several nodes share a database, it also keeps the file of an import, so that another node can continue the
 * import when the node that took it in is gone. A node that works with the file has it in its data directory, as
 * everywhere.
 */

/** A longer file stays only at the node that took it in. */
const mostSharedBytes = 64 * 1024 ** 2
// The size of all files in the database; a file that does not fit stays at its node.
const mostKeptBytes = 512 * 1024 ** 2
const pieceBytes = 512 * 1024

const deflate = promisify(deflateRaw)
const inflate = promisify(inflateRaw)

interface SharedDeps {
  store: Pick<Store, 'read' | 'write'>
  dataDir: string
}

/** Also puts an uploaded file into the database, where that has room. */
export async function shareFile(
  { store, dataDir }: SharedDeps,
  id: number,
  { bytes }: Pick<KeptFile, 'bytes'>,
): Promise<void> {
  if (bytes > mostSharedBytes || (await keptBytes(store.read)) + bytes > mostKeptBytes) return
  let at = 0
  for await (const piece of readFile(dataDir, id, pieceBytes)) {
    const values = { task_id: id, at: at++, bytes: await deflate(piece) }
    await store.write((tx) => tx.insertInto('import_pieces').values(values).execute())
  }
}

async function keptBytes(read: Read): Promise<number> {
  const row = await read
    .selectFrom('import_pieces')
    .select(({ fn }) => fn.countAll<number>().as('pieces'))
    .executeTakeFirst()
  return Number(row?.pieces ?? 0) * pieceBytes
}

/**
 * Makes sure that the file is in the data directory; resolves with false where it is neither there nor in the database.
 */
export async function bringFile({ store, dataDir }: SharedDeps, id: number): Promise<boolean> {
  const path = fileOf(dataDir, id)
  if (existsSync(path)) return true
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  // Written whole or not at all, whoever else writes it too.
  const part = `${path}.${randomUUID()}`
  const file = await open(part, 'wx', 0o600)
  let at = 0
  try {
    for (;;) {
      const piece = await store.read
        .selectFrom('import_pieces')
        .select('bytes')
        .where('task_id', '=', id)
        .where('at', '=', at)
        .executeTakeFirst()
      if (piece === undefined) break
      await file.write(await inflate(piece.bytes))
      at++
    }
    if (at > 0) await rename(part, path)
    else await unlink(part)
  } catch (error) {
    await unlink(part).catch(() => {})
    throw error
  } finally {
    await file.close()
  }
  return at > 0
}

/** Deletes the file from the database, if it is there. */
export async function dropPieces({ store }: Pick<SharedDeps, 'store'>, id: number): Promise<void> {
  // A needless write would make other nodes look for changes.
  if (!(await sharedFiles(store.read)).has(id)) return
  await store.write((tx) => tx.deleteFrom('import_pieces').where('task_id', '=', id).execute())
}

/** Deletes the file here and in the database; other nodes that have it find that it is not wanted. */
export async function dropShared(deps: SharedDeps, id: number): Promise<void> {
  await dropFile(deps.dataDir, id)
  await dropPieces(deps, id)
}

/** The numbers of the imports whose files are in the database. */
export async function sharedFiles(read: Read): Promise<Set<number>> {
  const rows = await read
    .selectFrom('import_pieces')
    .select('task_id')
    .where('at', '=', 0)
    .execute()
  return new Set(rows.map(({ task_id }) => task_id))
}

/** Takes over the imports of a node that is gone, if their files are in the database; resolves with how many. */
export async function adoptImports({ write, node }: Pick<Store, 'write' | 'node'>, from: number) {
  const rows = await write((tx) =>
    tx
      .updateTable('tasks')
      .set({ node: node.number })
      .where('kind', '=', 'import')
      .where('node', '=', from)
      .where('ended_at', 'is', null)
      .where(({ or, eb, exists, selectFrom }) =>
        or([
          // A file that was on its way never came, and undoing needs no file.
          eb('state', 'in', ['arriving', 'undoing']),
          exists(
            selectFrom('import_pieces').select('at').whereRef('task_id', '=', 'tasks.id').limit(1),
          ),
        ]),
      )
      .returning('id')
      .execute(),
  )
  return rows.length
}
