const space = 0x20
const tab = 0x09
const cr = 0x0d
const lf = 0x0a

/**
 * The body in relaxed form (RFC 6376 §3.4.4): runs of white space become one space, none at
 * the end of a line, no empty lines at the end. A body that is so already is not copied.
 * Throws TypeError on a bare CR or LF: it would be mended on the way, and the signature broken.
 */
export function relaxBody(body: Buffer): Buffer {
  return endWithOneLine(relaxLines(body))
}

/** The same with the empty lines at the end, for lines that are only a part of a body. */
export function relaxLines(lines: Buffer): Buffer {
  const from = firstChange(lines)
  return from < lines.length ? rewrite(lines, from) : lines
}

/** Where the first octet is that relaxing drops or replaces; the length if there is none. */
function firstChange(body: Buffer): number {
  for (let i = 0; i < body.length; i++) {
    const byte = body[i] as number
    if (byte > space) continue
    if (byte === space) {
      const next = body[i + 1]
      if (next === undefined || next === space || next === tab || next === cr) return i
    } else if (byte === tab) {
      return i
    } else if (byte === cr || byte === lf) {
      expectLineEnd(body, i)
      i++
    }
  }
  return body.length
}

function rewrite(body: Buffer, from: number): Buffer {
  const out = Buffer.allocUnsafe(body.length)
  body.copy(out, 0, 0, from)
  let length = from
  for (let i = from; i < body.length; i++) {
    const byte = body[i] as number
    if (byte > space) {
      out[length++] = byte
    } else if (byte === space || byte === tab) {
      if (out[length - 1] !== space) out[length++] = space
    } else if (byte === cr || byte === lf) {
      expectLineEnd(body, i)
      if (out[length - 1] === space) length--
      out[length++] = cr
      out[length++] = lf
      i++
    } else {
      out[length++] = byte
    }
  }
  if (out[length - 1] === space) length--
  return out.subarray(0, length)
}

/** No empty line at the end, and a line end after the last line if there is one. */
function endWithOneLine(body: Buffer): Buffer {
  let end = body.length
  while (end >= 2 && body[end - 1] === lf) end -= 2
  if (end === 0) return body.subarray(0, 0)
  return end < body.length ? body.subarray(0, end + 2) : Buffer.concat([body, lineEnd])
}

const lineEnd = Buffer.from('\r\n')

function expectLineEnd(body: Buffer, at: number): void {
  if (body[at] !== cr || body[at + 1] !== lf) {
    throw new TypeError(`The body has a bare CR or LF at octet ${at}`)
  }
}
