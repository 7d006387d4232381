import { gunzipSync } from 'node:zlib'
import { unzipSync } from 'fflate'
import { readParts } from '../mime/index.js'

/** A file of a report, unpacked. */
export interface AggregateFile {
  form: 'xml' | 'json'
  text: string
}

// Google's largest are some MiB; zlib packs zeros 1:1,000.
const maxUnpackedBytes = 32 * 1024 * 1024
const maxFiles = 4
const maxPackedParts = 20

/**
 * The reports that a mail carries: XML or JSON, plain, gzipped or in a ZIP archive, in any part;
 * recognised by their first bytes, as senders use different types. Throws if one cannot be unpacked
 * within bounds.
 */
export function unpackAggregates(raw: Buffer): AggregateFile[] {
  const found: AggregateFile[] = []
  for (const part of packedParts(raw)) {
    for (const bytes of unpacked(part)) {
      const form = formOf(bytes)
      if (form === undefined) continue
      if (found.length === maxFiles) throw new Error(`more than ${maxFiles} reports in a mail`)
      found.push({ form, text: textIn(bytes) })
    }
  }
  return found
}

/** Bodies of the parts that may be a report, decoded. */
function packedParts(raw: Buffer): Buffer[] {
  // Some relays leave bare line feeds; packed files are in base64, which is not affected.
  const text = raw.toString('latin1').replace(/\r?\n/g, '\r\n')
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return []
  const bytes = Buffer.from(text, 'latin1')
  const [header, body] = [bytes.subarray(0, end + 2), bytes.subarray(end + 4)]
  const { leaves } = readParts(header, [body])
  return leaves.slice(0, maxPackedParts).map(({ encoding, start, end: last }) => {
    const octets = body.subarray(start, last)
    return encoding === 'base64' ? Buffer.from(octets.toString('latin1'), 'base64') : octets
  })
}

function unpacked(bytes: Buffer): Buffer[] {
  if (bytes[0] === 0x1f && bytes[1] === 0x8b) {
    return [gunzipped(bytes)]
  }
  if (bytes.length < 4 || bytes.readUInt32BE(0) !== zipMark) return [bytes]
  let left = maxUnpackedBytes
  const files = unzipSync(bytes, {
    // The size that the archive declares; no more than that is unpacked, whatever it contains.
    filter({ originalSize }) {
      left -= originalSize
      if (left < 0) throw tooLarge()
      return true
    },
  })
  return Object.values(files).map((file) => Buffer.from(file))
}

function gunzipped(bytes: Buffer): Buffer {
  try {
    return gunzipSync(bytes, { maxOutputLength: maxUnpackedBytes })
  } catch (error) {
    const isTooLarge = error instanceof Error && 'code' in error && error.code === tooLargeCode
    throw isTooLarge ? tooLarge() : error
  }
}

const tooLargeCode = 'ERR_BUFFER_TOO_LARGE'
const tooLarge = () => new Error('it is larger than 32 MiB when it is unpacked')

const zipMark = 0x504b0304

function formOf(bytes: Buffer): AggregateFile['form'] | undefined {
  const first = textIn(bytes.subarray(0, 200)).trimStart()
  if (first.startsWith('<')) return 'xml'
  return first.startsWith('{') ? 'json' : undefined
}

/** Microsoft's reports were in UTF-16 for a while; all others are UTF-8. */
function textIn(bytes: Buffer): string {
  if (bytes[0] === 0xff && bytes[1] === 0xfe) return bytes.toString('utf16le', 2)
  return bytes.toString('utf8').replace(/^\uFEFF/, '')
}
