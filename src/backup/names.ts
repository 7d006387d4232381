import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { isoTime } from '../clock/index.js'
import { OperatorError } from '../errors/index.js'
import { encryptedSuffix } from './container.js'

/** A backup in a directory, as far as its name and its first bytes tell. */
export interface FoundBackup {
  file: string
  madeAt: number
  sizeBytes: number
  encrypted: boolean
}

const pattern = /^posthorn-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z\.tar(\.gz)?(\.enc)?$/

/** `posthorn-20261122T091530123Z.tar.gz.enc`: the names sort by time, and no two backups have the same. */
export function fileNameOf(
  madeAt: number,
  { compress, encrypted }: { compress: boolean; encrypted: boolean },
): string {
  const time = isoTime(madeAt).replace(/[-:.]/g, '')
  return `posthorn-${time}.tar${compress ? '.gz' : ''}${encrypted ? encryptedSuffix : ''}`
}

/** When the backup of that name was made; undefined for a name that we do not give. */
export function timeInName(name: string): number | undefined {
  const found = pattern.exec(name)
  if (found === null) return undefined
  const [, year, month, day, hour, minute, second, ms] = found.map(Number)
  return Date.UTC(year ?? 0, (month ?? 1) - 1, day, hour, minute, second, ms)
}

/**
 * The backups of a directory, newest first; none where there is no such directory. Backups that are dated after `upTo`
 * are left out: a clock was wrong when they were made, and for a long time nothing would be newer.
 */
export async function findBackups(
  dir: string,
  upTo = Number.POSITIVE_INFINITY,
): Promise<FoundBackup[]> {
  const names = await readdir(dir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    if (error.code === 'ENOTDIR') throw new OperatorError(`${dir} is not a directory. Name one`)
    throw error
  })
  const found: FoundBackup[] = []
  for (const name of names) {
    const madeAt = timeInName(name)
    if (madeAt === undefined || madeAt > upTo) continue
    const file = join(dir, name)
    const entry = await stat(file).catch((error: NodeJS.ErrnoException) => {
      // Removed since the directory was read.
      if (error.code === 'ENOENT') return undefined
      throw error
    })
    if (!entry?.isFile()) continue
    found.push({ file, madeAt, sizeBytes: entry.size, encrypted: name.endsWith(encryptedSuffix) })
  }
  return found.sort((a, b) => b.madeAt - a.madeAt)
}
