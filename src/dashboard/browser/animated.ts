/* Whether a picture moves, by the chunks of its file: a canvas has one frame, and would stop the movement. */

// There are few chunks before the first frame.
const mostChunks = 200

/** Answers for WebP and PNG files; false for all others. */
export async function isAnimated(file: Blob): Promise<boolean> {
  const head = await viewOf(file, 0, 21)
  // https://developers.google.com/speed/webp/docs/riff_container#extended_file_format: the flag of an animation.
  if (textAt(head, 0) === 'RIFF' && textAt(head, 8) === 'WEBP') {
    return textAt(head, 12) === 'VP8X' && head.byteLength === 21 && (head.getUint8(20) & 2) !== 0
  }
  return textAt(head, 1) === 'PNG\r' && (await isAnimatedPng(file))
}

/** PNG, third edition §11.3.6.1: `acTL` stands before `IDAT`, else the picture is still. */
async function isAnimatedPng(file: Blob): Promise<boolean> {
  let at = 8
  for (let chunk = 0; chunk < mostChunks && at < file.size; chunk++) {
    const head = await viewOf(file, at, 8)
    const type = textAt(head, 4)
    if (type === 'acTL') return true
    if (type === undefined || type === 'IDAT') return false
    // A chunk's data are surrounded by length, type and checksum.
    at += head.getUint32(0) + 12
  }
  return false
}

const viewOf = async (file: Blob, from: number, bytes: number) =>
  new DataView(await file.slice(from, from + bytes).arrayBuffer())

/** Four letters; undefined after the end. */
function textAt(view: DataView, at: number): string | undefined {
  if (view.byteLength < at + 4) return undefined
  return String.fromCharCode(...[0, 1, 2, 3].map((n) => view.getUint8(at + n)))
}
