import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { isJsonObject } from '../json/index.js'
import type { Store } from '../store/index.js'

/** Hashes of rule files by name, which nodes compare to check that all use the same files. */
export type FileHashes = Readonly<Record<string, string>>

/**
 * Hashes of the existing files, each over all files that it is read from: `shaping.toml` may exist for the machine and
 * beside the data.
 */
export function fileHashes(files: Readonly<Record<string, readonly string[]>>): FileHashes {
  const hashes: Record<string, string> = {}
  for (const [name, paths] of Object.entries(files)) {
    if (paths.length === 0) continue
    const hash = createHash('sha256')
    for (const path of paths) hash.update(readFileSync(path))
    hashes[name] = hash.digest('base64url').slice(0, 16)
  }
  return hashes
}

/** The hashes in a row of `nodes`; empty if they are damaged. */
export function readHashes(json: string): FileHashes {
  try {
    const found: unknown = JSON.parse(json)
    if (!isJsonObject(found)) return {}
    return Object.fromEntries(Object.entries(found).map(([name, hash]) => [name, String(hash)]))
  } catch {
    return {}
  }
}

/** Stores the hashes after the operator changed some files. */
export async function setFileHashes(
  { byRow }: Pick<Store, 'byRow'>,
  { name, epoch }: { name: string; epoch: number },
  files: FileHashes,
): Promise<void> {
  await byRow((tx) =>
    tx
      .updateTable('nodes')
      .set({ files: JSON.stringify(files) })
      .where('name', '=', name)
      .where('epoch', '=', epoch)
      .execute(),
  )
}
