import { refuseInPieces, refuseTooLarge } from './limits.js'
import type { CleanParts } from './parts.js'

// The chunks that change how the picture looks. Texts, times, Exif and chunks that no browser knows are left out.
const shown = new Set(
  'IHDR PLTE IDAT IEND tRNS cHRM gAMA iCCP sBIT sRGB cICP bKGD pHYs acTL fcTL fdAT'.split(' '),
)

/** A PNG with only the chunks that are seen (PNG, third edition, §5). Undefined: it is damaged. */
export function cleanPng(bytes: Buffer): CleanParts | undefined {
  const parts = [bytes.subarray(0, 8)]
  if (bytes.length < 33 || bytes.toString('latin1', 12, 16) !== 'IHDR') return undefined
  const size = { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) }
  let hasData = false
  let frames = 0
  let pieces = 0
  for (let at = 8; at + 12 <= bytes.length; ) {
    refuseInPieces(++pieces)
    const type = bytes.toString('latin1', at + 4, at + 8)
    const length = bytes.readUInt32BE(at)
    const end = at + 12 + length
    if (end > bytes.length || !fits(type, length, at)) return undefined
    if (type === 'IDAT') hasData = true
    if (type === 'fcTL') {
      // §11.3.6.2: the frame's width, height and place must lie within the picture.
      const [width = 0, height = 0, x = 0, y = 0] = [12, 16, 20, 24].map((field) =>
        bytes.readUInt32BE(at + field),
      )
      if (x + width > size.width || y + height > size.height) return undefined
      refuseTooLarge(size.width, size.height, ++frames)
    }
    if (shown.has(type)) parts.push(bytes.subarray(at, end))
    if (type === 'IEND')
      return hasData ? { parts, ...size, frames: Math.max(1, frames) } : undefined
    at = end
  }
  return undefined
}

/** Whether a chunk may stand here with so many bytes. Of several sizes programs take the last one, or the first. */
function fits(type: string, length: number, at: number): boolean {
  if (type === 'IHDR') return at === 8 && length === 13
  if (type === 'IDAT') return length > 0
  if (type === 'IEND') return length === 0
  return type !== 'fcTL' || length === 26
}
