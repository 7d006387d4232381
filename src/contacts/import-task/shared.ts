import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, open, rename, unlink } from 'node:fs/promises'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { deflateRaw, inflateRaw } from 'node:zlib'
import type { Read, Store } from '../../store/index.js'
import { dropFile, fileOf, type KeptFile, readFile } from './files.js'

/*
 * Where several nodes share a database, the file of an import is kept in it too, so that the import goes on at another node
 * when the one that took it in is gone. A node that works with the file has it in its data directory, as everywhere.
 */

/** A longer file stays with the node that took it in. */
const mostSharedBytes = 64 * 1024 ** 2
// All files in the database, as they are kept there: what does not fit stays with its node.
const mostKeptBytes = 512 * 1024 ** 2
const pieceBytes = 512 * 1024

const deflate = promisify(deflateRaw)
const inflate = promisify(inflateRaw)

interface SharedDeps {
  store: Pick<Store, 'read' | 'write'>
  dataDir: string
}

/** Puts a file that was taken in into the database as well, where it has room there. */
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

/** Has the file in the data directory; resolves with false where it is neither there nor in the database. */
export async function bringFile({ store, dataDir }: SharedDeps, id: number): Promise<boolean> {
  const path = fileOf(dataDir, id)
  if (existsSync(path)) return true
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  // Whole or not at all, whoever else brings it.
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

/** Takes it out of the database, if it is there. */
export async function dropPieces({ store }: Pick<SharedDeps, 'store'>, id: number): Promise<void> {
  // A write for nothing would have other nodes look for what it has changed.
  if (!(await sharedFiles(store.read)).has(id)) return
  await store.write((tx) => tx.deleteFrom('import_pieces').where('task_id', '=', id).execute())
}

/** Takes it away wherever it is; other nodes that have it find that it is not wanted. */
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

/** Takes over the imports of a node that is gone, as far as their files are in the database; resolves with how many. */
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
          // What was on its way never came, and to undo one needs no file.
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
