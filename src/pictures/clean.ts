import { shownCount } from '../amounts/index.js'
import { cleanGif } from './gif.js'
import { cleanJpeg } from './jpeg.js'
import { damagedPicture, refusedPicture, refuseTooLarge } from './limits.js'
import type { CleanParts } from './parts.js'
import { cleanPng } from './png.js'
import { cleanWebp } from './webp.js'

/** A picture as it is stored: without what cameras and programs wrote beside it. */
export interface CleanPicture {
  bytes: Buffer
  contentType: string
  width: number
  height: number
}

export const maxPictureBytes = 5 * 1024 * 1024

const kinds: readonly {
  contentType: string
  begins: (bytes: Buffer) => boolean
  clean: (bytes: Buffer) => CleanParts | undefined
}[] = [
  {
    contentType: 'image/png',
    begins: (bytes) => hasAt(bytes, '\x89PNG\r\n\x1a\n'),
    clean: cleanPng,
  },
  { contentType: 'image/jpeg', begins: (bytes) => hasAt(bytes, '\xff\xd8\xff'), clean: cleanJpeg },
  {
    contentType: 'image/gif',
    begins: (bytes) => hasAt(bytes, 'GIF87a') || hasAt(bytes, 'GIF89a'),
    clean: cleanGif,
  },
  {
    contentType: 'image/webp',
    begins: (bytes) => hasAt(bytes, 'RIFF') && hasAt(bytes, 'WEBP', 8),
    clean: cleanWebp,
  },
]

const hasAt = (bytes: Buffer, word: string, at = 0) =>
  bytes.toString('latin1', at, at + word.length) === word

/**
 * The picture in a file, found by its bytes: neither a name nor a client's word is trusted. Throws a 422 for a file
 * that is no picture, too large, or damaged.
 */
export function readPicture(bytes: Buffer): CleanPicture {
  if (bytes.length > maxPictureBytes) {
    throw refusedPicture(
      `A picture may have at most 5 MB (${shownCount(maxPictureBytes)} bytes), and this one has ${shownCount(bytes.length)} bytes: make it smaller`,
    )
  }
  const kind = kinds.find(({ begins }) => begins(bytes))
  if (kind === undefined) throw refusedPicture(whatElse(bytes))
  const clean = kind.clean(bytes)
  if (clean === undefined || clean.width === 0 || clean.height === 0) {
    throw damagedPicture()
  }
  const { parts, width, height, frames } = clean
  refuseTooLarge(width, height, frames)
  return { bytes: Buffer.concat(parts), contentType: kind.contentType, width, height }
}

function whatElse(bytes: Buffer): string {
  const start = bytes.toString('latin1', 0, 1_024)
  if (/<svg[\s/>]/i.test(start)) {
    return 'An SVG can hold scripts, and most mail programs do not show it: save it as PNG'
  }
  if (/^.{4}ftyp(hei|hev|mif|avi)/s.test(start)) {
    return 'Most mail programs do not show HEIC and AVIF pictures: save it as JPEG'
  }
  return 'A picture must be a PNG, JPEG, GIF or WebP'
}
