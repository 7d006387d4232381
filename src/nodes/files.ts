import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { isJsonObject } from '../json/index.js'
import type { Store } from '../store/index.js'

/** Of rule files by their names: what nodes compare that are to go by the same ones. */
export type FileHashes = Readonly<Record<string, string>>

/** Those that there are, each by all the files it is read from: `shaping.toml` may be one for the machine and one beside the data. */
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

/** What a row of `nodes` says; nothing of what is damaged. */
export function readHashes(json: string): FileHashes {
  try {
    const found: unknown = JSON.parse(json)
    if (!isJsonObject(found)) return {}
    return Object.fromEntries(Object.entries(found).map(([name, hash]) => [name, String(hash)]))
  } catch {
    return {}
  }
}

/** The operator has changed some of them. */
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
