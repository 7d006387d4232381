import { ApiError } from '../errors/index.js'

/** Mail programs and browsers need 4 bytes of memory for each pixel. */
export const maxPixels = 25_000_000

/** Chunks of a PNG or WebP, blocks of a GIF: at 5 MB programs write some hundreds. The main thread walks them. */
export const maxPieces = 10_000

// How many frames a moving picture may have: in the worst case each is painted over the whole picture.
const maxFrames = 1_000
const maxPixelsOfFrames = 250_000_000

/** Throws a 422 for a picture that would cost readers' programs too much memory or time. */
export function refuseTooLarge(width: number, height: number, frames: number): void {
  if (width * height > maxPixels) {
    throw refusedPicture(
      `The picture has ${width} × ${height} pixels, and may have 25 million: make it smaller`,
    )
  }
  if (frames > maxFrames) {
    throw refusedPicture(
      `The picture has more than ${maxFrames} frames: make it shorter, or leave out every other frame`,
    )
  }
  if (frames > 1 && frames * width * height > maxPixelsOfFrames) {
    throw refusedPicture(
      'The frames of the picture have more than 250 million pixels together: make it smaller or shorter',
    )
  }
}

/** Throws a 422 for a file of more pieces than any program writes. */
export function refuseInPieces(pieces: number, most = maxPieces): void {
  if (pieces <= most) return
  throw refusedPicture(
    `The picture's file is in more than ${most} pieces: open it in a program for pictures and save it again`,
  )
}

export const refusedPicture = (message: string) =>
  new ApiError('validation_error', message, { status: 422, fields: { field: 'content' } })

export const damagedPicture = () =>
  refusedPicture('The picture is damaged: open it in a program for pictures and save it again')
