import { Readable } from 'node:stream'
import { promisify } from 'node:util'
import { createGunzip, gunzip } from 'node:zlib'
import { ApiError, systemCode } from '../errors/index.js'

/** Whether a body is gzipped; throws a 415 for any other coding (RFC 9110 §15.5.16). */
export function isGzipped(contentEncoding: string | undefined): boolean {
  const coding = contentEncoding?.trim().toLowerCase() ?? 'identity'
  if (coding === 'identity') return false
  // RFC 9110 §8.4.1.3: the two names are one coding.
  if (coding === 'gzip' || coding === 'x-gzip') return true
  throw new ApiError(
    'unsupported_media_type',
    'Send the body gzipped, or without a Content-Encoding',
    {
      headers: { 'Accept-Encoding': 'gzip' },
    },
  )
}

/** The most that this many gzipped bytes can become: deflate's best is 1,032 to 1. */
export const mostInflated = (bytes: number, limitBytes: number) =>
  Math.min(limitBytes, bytes * 1_032)

/** Inflates a whole body in another thread; throws a 413 as soon as it passes the limit. */
export async function inflate(bytes: Buffer, limitBytes: number): Promise<Buffer> {
  try {
    return await gunzipped(bytes, { maxOutputLength: limitBytes })
  } catch (error) {
    throw inflateFault(error, limitBytes)
  }
}

/** Inflates a body piece by piece, at the reader's pace. */
export async function* inflatePieces(
  pieces: AsyncIterable<Buffer>,
  limitBytes: number,
): AsyncGenerator<Buffer> {
  const source = Readable.from(pieces)
  const inflated = source.pipe(createGunzip())
  // `pipe` does not forward errors: a body that does not arrive has to end this too, with its own
  // refusal.
  source.on('error', (error) => inflated.destroy(error))
  let total = 0
  try {
    for await (const piece of inflated as AsyncIterable<Buffer>) {
      total += piece.length
      if (total > limitBytes) throw tooLarge(limitBytes)
      yield piece
    }
  } catch (error) {
    throw inflateFault(error, limitBytes)
  } finally {
    source.destroy()
  }
}

/** The answer to a body over its limit, before or after inflating. */
export const tooLarge = (limitBytes: number) =>
  new ApiError('validation_error', `The body is larger than ${limitBytes} bytes`, {
    status: 413,
    fields: { max: limitBytes },
  })

const gunzipped = promisify<Buffer, { maxOutputLength: number }, Buffer>(gunzip)

function inflateFault(error: unknown, limitBytes: number): unknown {
  if (error instanceof ApiError) return error
  const code = systemCode(error)
  if (code === 'ERR_BUFFER_TOO_LARGE') return tooLarge(limitBytes)
  if (!code.startsWith('Z_')) return error
  return new ApiError('validation_error', 'The body is not valid gzip')
}
