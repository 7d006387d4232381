import { statfs } from 'node:fs/promises'

/** Of a file system, without what is kept for root alone: shares of it are those that `df` shows. */
export interface DiskRoom {
  totalBytes: number
  freeBytes: number
}

/** The room of the file system that the directory `dir` is on. */
export async function diskRoom(dir: string): Promise<DiskRoom> {
  const { bavail, bfree, blocks, bsize } = await statfs(dir)
  return { totalBytes: (blocks - bfree + bavail) * bsize, freeBytes: bavail * bsize }
}
