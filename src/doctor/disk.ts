import { type DiskRoom, diskRoom } from '../store/index.js'
import { type Finding, findingsOf } from './finding.js'

const GiB = 1024 ** 3

/** Room on the disk of the data directory. */
export async function checkDisk(dataDir: string): Promise<Finding[]> {
  return [judgeDisk(dataDir, await diskRoom(dataDir))]
}

export function judgeDisk(dataDir: string, { freeBytes, totalBytes }: DiskRoom): Finding {
  const of = findingsOf('disk', dataDir)
  const found = `${(freeBytes / GiB).toFixed(1)} GiB of ${(totalBytes / GiB).toFixed(1)} GiB free`
  const fix = `make room on the disk, or a larger one: 'df -h ${dataDir}', 'du -xh --max-depth=2 / | sort -h'`
  // A full disk stops acceptance; a tenth is a warning in time, and enough on a large disk anyway.
  if (freeBytes < 0.2 * GiB) return of.fail(found, fix)
  if (freeBytes < Math.min(totalBytes / 10, 10 * GiB)) return of.warn(found, fix)
  return of.ok(found)
}
