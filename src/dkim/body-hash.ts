import { createHash } from 'node:crypto'
import { relaxLines } from './relaxed-body.js'

/**
 * The hash of a body in relaxed form (`bh=`, RFC 6376 §3.4.4), of pieces in order and of any size: only
 * one and the line that it leaves open are held. Throws TypeError on a bare CR or LF.
 */
export async function hashBody(pieces: AsyncIterable<Buffer>): Promise<string> {
  const hash = createHash('sha256')
  let open: Buffer = nothing
  // Line ends that may be those of empty lines at the end, which do not count.
  let lineEnds = 0
  let isEmpty = true
  const take = (lines: Buffer) => {
    let end = lines.length
    while (end >= 2 && lines[end - 1] === lf) end -= 2
    if (end > 0) {
      for (; lineEnds > 0; lineEnds -= Math.min(lineEnds, manyLineEnds.length / 2)) {
        hash.update(manyLineEnds.subarray(0, 2 * lineEnds))
      }
      hash.update(lines.subarray(0, end))
      isEmpty = false
    }
    lineEnds += (lines.length - end) / 2
  }
  for await (const piece of pieces) {
    const bytes = open.length === 0 ? piece : Buffer.concat([open, piece])
    // White space is relaxed within a line, so whole lines are relaxed by themselves.
    const end = bytes.lastIndexOf(lf) + 1
    if (end > 0) take(relaxLines(bytes.subarray(0, end)))
    open = bytes.subarray(end)
  }
  if (open.length > 0) take(relaxLines(open))
  if (!isEmpty) hash.update(manyLineEnds.subarray(0, 2))
  return hash.digest('base64')
}

const nothing = Buffer.alloc(0)
const lf = 0x0a
const manyLineEnds = Buffer.from('\r\n'.repeat(4_096))
