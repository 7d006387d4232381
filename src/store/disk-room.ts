import { stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'

/** The room of a file system, without what is kept for root: fractions of it match what `df` shows. */
export interface DiskRoom {
  totalBytes: number
  freeBytes: number
}

/** The room of the file system that the directory `dir` is on. */
export async function diskRoom(dir: string): Promise<DiskRoom> {
  const { bavail, bfree, blocks, bsize } = await statfs(dir)
  return { totalBytes: (blocks - bfree + bavail) * bsize, freeBytes: bavail * bsize }
}

/** With less than this on the disk of the data directory no mail should be handed in: `/readyz` and the doctor say so. */
export const scarceBytes = 0.2 * 1024 ** 3

const mostReserved = 160 * 1_048_576
const shareOfDisk = 8

/** The file of the data directory that only takes room (`app/reserve.ts`). */
export const reserveFile = (dataDir: string) => join(dataDir, 'posthorn.reserve')

/**
 * How large the file should be on such a disk: larger than the log grows between two copies of it on the fastest
 * disks.
 */
export const reserveBytesOf = (totalBytes: number) =>
  Math.min(mostReserved, Math.floor(totalBytes / shareOfDisk))

/** How large it is; 0 where there is none. */
export const reservedBytes = async (dataDir: string): Promise<number> =>
  await stat(reserveFile(dataDir)).then(
    ({ size }) => size,
    () => 0,
  )

/** Whether no mail may be accepted. Once none is accepted, more has to be free before mail is accepted again. */
export const isOutOfRoom = (
  { freeBytes, totalBytes }: DiskRoom,
  reserved: number,
  wasOut: boolean,
): boolean => reserved + freeBytes < (wasOut ? 2 : 3 / 2) * reserveBytesOf(totalBytes)
