import { ApiError } from '../../errors/index.js'
import type { FormFile } from '../../http/index.js'
import { type CleanPicture, wholePicture } from '../../pictures/index.js'

/** The picture in a file that somebody has chosen, and its name. Throws a 422 that names the file. */
export async function pictureIn({
  filename,
  bytes,
}: Pick<FormFile, 'filename' | 'bytes'>): Promise<{ name: string; picture: CleanPicture }> {
  const name = nameOf(filename)
  try {
    return { name, picture: await wholePicture(bytes) }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    const message = `${name}: ${error.message}`
    throw new ApiError('validation_error', message, { status: 422, fields: { field: 'file' } })
  }
}

/** What a file is called, without where it was and what no line has. */
const nameOf = (filename: string) =>
  (filename.split(/[/\\]/).at(-1) ?? '')
    .toWellFormed()
    .replace(/\p{Cc}/gu, '')
    .slice(0, 200)
    .trim() || 'Picture'
