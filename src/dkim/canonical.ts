import { createHash } from 'node:crypto'
import { arePrintable, spaceBit, spacesAmong, wordsOf } from './four-octets.js'

/** A header field in relaxed form (RFC 6376 §3.4.2), without its CRLF. */
export interface RelaxedField {
  name: string
  /** `name:value`, octets as Latin-1 characters. */
  line: string
}

/**
 * The fields of a header in relaxed form, in order. Octets travel as Latin-1 characters, one
 * each, since strings are much faster here than Buffers. Throws TypeError on what is no field.
 */
export function relaxHeader(header: Buffer): RelaxedField[] {
  const text = header.toString('latin1')
  if (!text.endsWith('\r\n')) throw new TypeError('The header does not end with CRLF')
  const fields: RelaxedField[] = []
  for (let start = 0; start < text.length; ) {
    let end = text.indexOf('\r\n', start)
    while (text[end + 2] === ' ' || text[end + 2] === '\t') end = text.indexOf('\r\n', end + 2)
    fields.push(relaxField(text.slice(start, end)))
    start = end + 2
  }
  return fields
}

function relaxField(field: string): RelaxedField {
  const colon = field.indexOf(':')
  const name = field.slice(0, Math.max(colon, 0)).trim().toLowerCase()
  if (!/^[!-9;-~]+$/.test(name)) throw new TypeError('The header has a line that is no field')
  // The order matters: unfold, then collapse, then trim; only SP and HTAB count as white space.
  const value = field
    .slice(colon + 1)
    .replaceAll('\r\n', '')
    .replace(/[\t ]{2,}|\t/g, ' ')
  if (/[\r\n]/.test(value)) throw new TypeError(`${name} contains a bare CR or LF`)
  const from = value.startsWith(' ') ? 1 : 0
  const to = value.length > from && value.endsWith(' ') ? value.length - 1 : value.length
  return { name, line: `${name}:${value.slice(from, to)}` }
}

const space = 0x20
const tab = 0x09
const cr = 0x0d
const lf = 0x0a

/**
 * The body in relaxed form (RFC 6376 §3.4.4): runs of white space become one space, none at the end of a line, no empty
 * lines at the end. A body that is relaxed already is not copied; any other may lie in memory that the next call
 * overwrites. Throws TypeError on a bare CR or LF: it would be mended on the way, and the signature broken.
 */
export function relaxBody(body: Buffer): Buffer {
  return endWithOneLine(relaxLines(body))
}

// Most bodies fit, and are hashed at once: 28 KB of memory for each would be garbage that V8 moves about.
const usualRoom = Buffer.allocUnsafeSlow(128 * 1024)
const usualWords = wordsOf(usualRoom)

/**
 * Lines in relaxed form, with the empty ones at the end: they may be only a part of a body. The result lies in memory
 * that the next call overwrites, unless the lines are many or unchanged.
 */
function relaxLines(lines: Buffer): Buffer {
  const from = firstChange(lines)
  return from < lines.length ? rewrite(lines, from) : lines
}

/** The place of the first octet that relaxing drops or replaces; the length if there is none. */
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
  const isUsual = body.length <= usualRoom.length
  const out = isUsual ? usualRoom : Buffer.allocUnsafe(body.length)
  const [words, outWords] = [wordsOf(body), isUsual ? usualWords : wordsOf(out)]
  body.copy(out, 0, 0, from)
  let length = from
  for (let i = from; i < body.length; ) {
    // Four octets without two spaces in a row, and without a space behind a space, stay as they are.
    let behind = out[length - 1] === space ? spaceBit : 0
    for (; i + 4 <= body.length; i += 4) {
      const four = words.getInt32(i, true)
      if (!arePrintable(four)) break
      const spaces = spacesAmong(four)
      if ((spaces & ((spaces << 8) | behind)) !== 0) break
      behind = spaces >>> 24
      outWords.setInt32(length, four, true)
      length += 4
    }
    if (i === body.length) break
    const byte = body[i++] as number
    if (byte === space || byte === tab) {
      if (out[length - 1] !== space) out[length++] = space
      while (body[i] === space || body[i] === tab) i++
    } else if (byte === cr || byte === lf) {
      expectLineEnd(body, i - 1)
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
export function endWithOneLine(body: Buffer): Buffer {
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

/**
 * The hash of a body in relaxed form (`bh=`, RFC 6376 §3.4.4), from pieces in order and of any size: it holds only one
 * piece and the line that it leaves open. Throws TypeError on a bare CR or LF.
 */
export async function hashBody(pieces: AsyncIterable<Buffer>): Promise<string> {
  const hash = createHash('sha256')
  let open: Buffer = nothing
  // Line ends that may belong to empty lines at the end, which do not count.
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
const manyLineEnds = Buffer.from('\r\n'.repeat(4_096))
