import type { CleanParts } from './parts.js'

// What changes how the picture looks; texts, times, and Exif are left out, and what no browser knows.
const shown = new Set(
  'IHDR PLTE IDAT IEND tRNS cHRM gAMA iCCP sBIT sRGB cICP bKGD pHYs acTL fcTL fdAT'.split(' '),
)

/** A PNG of the chunks that are seen (PNG, third edition, §5). Undefined: it is damaged. */
export function cleanPng(bytes: Buffer): CleanParts | undefined {
  const parts = [bytes.subarray(0, 8)]
  let size: { width: number; height: number } | undefined
  for (let at = 8; at + 12 <= bytes.length; ) {
    const type = bytes.toString('latin1', at + 4, at + 8)
    const length = bytes.readUInt32BE(at)
    const end = at + 12 + length
    if (end > bytes.length) return undefined
    if (size === undefined) {
      if (type !== 'IHDR' || length !== 13) return undefined
      size = { width: bytes.readUInt32BE(at + 8), height: bytes.readUInt32BE(at + 12) }
    }
    if (shown.has(type)) parts.push(bytes.subarray(at, end))
    if (type === 'IEND') return { parts, ...size }
    at = end
  }
  return undefined
}
