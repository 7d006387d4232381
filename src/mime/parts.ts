import { readHeader } from './read-header.js'

/** A part of a message without inner parts, and its place in the message's body. */
export interface MessagePart {
  /** e.g. `text/html`. */
  type: string
  /** In lower case; empty if none is named. */
  charset: string
  /** In lower case, e.g. `quoted-printable`; `7bit` if none is named. */
  encoding: string
  isAttachment: boolean
  /** Where its own header begins; undefined if the message is this part and has its header. */
  headerStart: number | undefined
  start: number
  /** Without the line end before the boundary. */
  end: number
}

export interface MessageParts {
  leaves: MessagePart[]
  /** Something in it is signed or encrypted: nothing in it may be changed. */
  isSealed: boolean
  /** Why it could not be read to the end, in words; the parts found so far are still valid. */
  broken: string | undefined
}

const maxLeaves = 500
const maxDepth = 20
const maxPartHeader = 16 * 1024
const sealed =
  /^(?:multipart\/(?:signed|encrypted)|application\/(?:x-)?pkcs7-(?:mime|signature)|application\/pgp-(?:encrypted|signature))$/
const inlinePgp = Buffer.from('-----BEGIN PGP ')

/** What a part's Content-* fields say. */
interface Described {
  type: string
  charset: string
  encoding: string
  isAttachment: boolean
  boundary: string | undefined
}

/**
 * The parts of a message whose lines were checked (`makeLineCheck`), read a chunk at a time. Only a
 * chunk's last open line and one part's header are held. A message inside the message is a part like
 * a picture, and is not opened.
 */
export function readParts(header: Buffer, body: Iterable<Buffer>): MessageParts {
  const found: MessageParts = { leaves: [], isSealed: false, broken: undefined }
  /** The delimiters of the open parts, in the form of their lines' beginning. */
  const outer: string[] = []
  let at = 0
  let partHeader: { start: number; lines: Buffer[]; bytes: number } | undefined
  let leaf: MessagePart | undefined

  const begin = (
    described: Described | undefined,
    headerStart: number | undefined,
    start: number,
  ) => {
    if (described === undefined) {
      found.broken ??= 'the header of a part cannot be read'
      return
    }
    const { boundary, ...rest } = described
    if (sealed.test(rest.type)) found.isSealed = true
    if (boundary !== undefined) {
      if (outer.length === maxDepth) found.broken ??= `its parts are nested over ${maxDepth} deep`
      else outer.push(`--${boundary}`)
      return
    }
    if (found.leaves.length === maxLeaves) found.broken ??= `it has over ${maxLeaves} parts`
    else leaf = { ...rest, headerStart, start, end: start }
  }
  const finish = (end: number) => {
    if (leaf === undefined) return
    leaf.end = Math.max(leaf.start, end)
    found.leaves.push(leaf)
    leaf = undefined
  }
  const take = (line: Buffer) => {
    const boundary = line[0] === dash && line[1] === dash ? delimiterOf(line, outer) : undefined
    if (boundary !== undefined) {
      // The CRLF before a delimiter belongs to it (RFC 2046 §5.1.1).
      finish(at - 2)
      outer.length = boundary.isLast ? boundary.level : boundary.level + 1
      partHeader = boundary.isLast ? undefined : { start: at + line.length, lines: [], bytes: 0 }
    } else if (partHeader !== undefined) {
      if (line.length === 2) {
        const { start, lines } = partHeader
        partHeader = undefined
        begin(describe(Buffer.concat(lines)), start, at + line.length)
      } else if (partHeader.bytes + line.length <= maxPartHeader) {
        partHeader.lines.push(line)
        partHeader.bytes += line.length
      } else found.broken ??= 'the header of a part is too long'
    } else if (line[0] === dash && line.subarray(0, inlinePgp.length).equals(inlinePgp)) {
      found.isSealed = true
    }
    at += line.length
  }

  begin(describe(header), undefined, 0)
  let open = Buffer.alloc(0)
  for (const chunk of body) {
    // A broken message may not be changed anyway, and describing ten MiB of empty parts takes
    // seconds.
    if (found.broken !== undefined) break
    const bytes = open.length === 0 ? chunk : Buffer.concat([open, chunk])
    const last = bytes.lastIndexOf(lf) + 1
    for (let from = 0; from < last && found.broken === undefined; ) {
      const next = partHeader === undefined ? nextDashed(bytes, from, last) : from
      at += next - from
      if (next === last) break
      from = bytes.indexOf(lf, next) + 1
      take(bytes.subarray(next, from))
    }
    open = Buffer.from(bytes.subarray(last))
  }
  if (open.length > 0 && found.broken === undefined) take(open)
  finish(at)
  return found
}

const dash = 0x2d
const lf = 0x0a
const dashedLine = Buffer.from('\n-')

/**
 * Where the next line that may be a boundary begins; `last` if there is none. Other lines of a body do not
 * matter.
 */
function nextDashed(bytes: Buffer, from: number, last: number): number {
  if (bytes[from] === dash) return from
  const found = bytes.indexOf(dashedLine, from)
  return found === -1 || found + 1 >= last ? last : found + 1
}

/** Which boundary the line is, counted from the outermost; unclosed inner ones end too. */
function delimiterOf(line: Buffer, outer: readonly string[]) {
  const text = line.toString('latin1').trimEnd()
  for (let level = outer.length - 1; level >= 0; level--) {
    const delimiter = outer[level] ?? ''
    if (!text.startsWith(delimiter)) continue
    if (text.length === delimiter.length) return { level, isLast: false }
    if (text.length === delimiter.length + 2 && text.endsWith('--')) return { level, isLast: true }
  }
  return undefined
}

/** What the fields of a part say; undefined if they cannot be read. */
function describe(header: Buffer): Described | undefined {
  const fields = readHeader(header)
  if (typeof fields === 'string') return undefined
  const fieldOf = (name: string) => fields.find((field) => field.name === name)?.value ?? ''
  const contentType = fieldOf('content-type')
  const type = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+/.exec(contentType)?.[0].toLowerCase() ?? 'text/plain'
  const disposition = fieldOf('content-disposition')
  return {
    type,
    charset: parameter(contentType, 'charset').toLowerCase(),
    encoding: fieldOf('content-transfer-encoding').toLowerCase() || '7bit',
    isAttachment:
      /^attachment\b/i.test(disposition) ||
      parameter(disposition, 'filename') !== '' ||
      parameter(contentType, 'name') !== '',
    boundary: type.startsWith('multipart/')
      ? parameter(contentType, 'boundary') || undefined
      : undefined,
  }
}

function parameter(value: string, name: string): string {
  const found = new RegExp(`;\\s*${name}\\s*=\\s*(?:"((?:[^"\\\\]|\\\\.)*)"|([^\\s;"]+))`, 'i')
  const match = found.exec(value)
  return match?.[1]?.replace(/\\(.)/g, '$1') ?? match?.[2] ?? ''
}
