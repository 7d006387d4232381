import { createHash } from 'node:crypto'
import { ApiError } from '../errors/index.js'
import { isJsonObject } from '../json/index.js'
import type { Tx } from '../store/index.js'

/** Answers repeats of a request with the same `Idempotency-Key`; `app` hands it in, as `authenticate`. */
export interface Repeats<P> {
  /**
   * Runs `work` unless the key succeeded before; then resolves with that answer. Throws a 409 while
   * the first request with the key is running, and if the key was used for a different request.
   */
  once(
    asked: KeyedRequest<P>,
    work: (remember: Remember) => Promise<Success>,
  ): Promise<AnsweredOnce>
}

export interface KeyedRequest<P> {
  account: P
  key: string
  /** A text that is equal for equal requests; for a file it is known only after reading. */
  fingerprint: string | (() => Promise<string>)
}

/**
 * Keeps the answer in the transaction of its effect, so that a crash leaves both or neither. Does
 * nothing for a request without a key.
 */
export type Remember = (tx: Tx, body: unknown, status?: number) => Promise<void>

/** A success as it is kept: its status and JSON. */
export interface Success {
  status: number
  body: unknown
}

export type AnsweredOnce = Success & { replayed: boolean }

const visibleAscii = /^[\x21-\x7e]{1,255}$/

/** The request's key, or undefined without one; throws a 400 for a malformed key. */
export function checkedKey(key: string | undefined): string | undefined {
  if (key === undefined || visibleAscii.test(key)) return key
  throw new ApiError(
    'validation_error',
    'Idempotency-Key: expected 1 to 255 visible ASCII characters',
  )
}

// A file that each mail of a batch carries is hashed once; for shorter texts the search would cost as
// much as the hash.
const longChars = 64 * 1_024

/** The fingerprint of a path and a JSON body: equal for bodies of equal values, however they are written. */
export function jsonFingerprint(path: string, body: unknown, rawBody: Buffer): string {
  const hash = createHash('sha256').update(`${path}\n`)
  try {
    return hash.copy().update(canonical(body)).digest('base64')
  } catch {
    // A body that is nested deeper than the stack is compared as it was written.
    return hash.update(rawBody).digest('base64')
  }
}

/** JSON with the names of each object in order: `1.0` and `1` are one number, and so are their texts. */
function canonical(body: unknown): string {
  const seen = new Map<string, number>()
  const repeats: [number, number][] = []
  let at = 0
  const text = JSON.stringify(body, (_, value: unknown) => {
    at++
    if (typeof value === 'string' && value.length >= longChars) {
      const first = seen.get(value)
      if (first === undefined) seen.set(value, at)
      else repeats.push([at, first])
      return first === undefined ? value : ''
    }
    if (!isJsonObject(value)) return value
    const names = Object.keys(value).sort()
    const sorted: Record<string, unknown> = Object.create(null)
    for (const name of names) sorted[name] = value[name]
    return sorted
  })
  // Notes which values repeat which, so that an empty text is not taken for a repeat.
  return repeats.length === 0 ? text : `${text}\n${JSON.stringify(repeats)}`
}
