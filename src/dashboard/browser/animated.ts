/** How much of a file says whether it moves: what stands before the first picture is short. */
export const headBytes = 64 * 1024

/** Whether a PNG or a WebP moves, by how it begins. A GIF may always; a canvas would keep its first frame alone. */
export function isAnimated(head: Uint8Array): boolean {
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength)
  const name = (at: number) => String.fromCharCode(...head.subarray(at, at + 4))
  if (name(0) === 'RIFF' && name(8) === 'WEBP') {
    // The extended header: its flags say whether there is an animation.
    return name(12) === 'VP8X' && head.length > 20 && (view.getUint8(20) & 0x02) !== 0
  }
  if (name(1) !== 'PNG\r') return false
  // An animation says so before the first picture (PNG, third edition, §11.3.6).
  for (let at = 8; at + 8 <= head.length; at += 12 + view.getUint32(at)) {
    if (name(at + 4) === 'acTL') return true
    if (name(at + 4) === 'IDAT') return false
  }
  // Cut off before that was told: as it is, nothing is lost.
  return true
}
