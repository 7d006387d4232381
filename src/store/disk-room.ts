import { statfs } from 'node:fs/promises'

/** How much a file system has, and how much of it programs that are not root may still fill. */
export interface DiskRoom {
  totalBytes: number
  freeBytes: number
}

/** The room of the file system that the directory `dir` is on. */
export async function diskRoom(dir: string): Promise<DiskRoom> {
  const { bavail, blocks, bsize } = await statfs(dir)
  return { totalBytes: blocks * bsize, freeBytes: bavail * bsize }
}
