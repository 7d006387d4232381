import { OperatorError } from '../errors/index.js'
import { diskRoom } from '../store/index.js'

/** Throws where the disk of `dir` has not so many bytes; `purpose` ends the sentence: 'to unpack the release'. */
export async function refuseWithoutRoom(
  dir: string,
  bytes: number,
  purpose: string,
): Promise<void> {
  const { freeBytes } = await diskRoom(dir)
  if (freeBytes >= bytes) return
  const [left, wanted] = [Math.floor(freeBytes / 1024 ** 2), Math.ceil(bytes / 1024 ** 2)]
  throw new OperatorError(
    `The disk of ${dir} has ${left} MiB left, and ${wanted} are wanted ${purpose}: make room first`,
  )
}
