import { createHash } from 'node:crypto'
import { ApiError } from '../errors/index.js'

const idBytes = 16
const tagBytes = 4

/**
 * Where a page ends, from its last row's id, bound to `scope`: the list that it is a page of. Clients
 * are to hand it back, not to build upon it.
 */
export const cursorOf = (id: string, scope: string) =>
  Buffer.concat([Buffer.from(id.replaceAll('-', ''), 'hex'), tagOf(scope)]).toString('base64url')

/** The id in a cursor; throws a 400 for what `cursorOf` did not give out for this list. */
export function idInCursor(cursor: string, scope: string): string {
  const bytes = Buffer.from(cursor, 'base64url')
  const isWhole = bytes.length === idBytes + tagBytes && bytes.toString('base64url') === cursor
  if (!isWhole || !bytes.subarray(idBytes).equals(tagOf(scope))) {
    throw new ApiError('validation_error', 'The cursor does not belong to this list')
  }
  const id = bytes.toString('hex', 0, idBytes)
  return id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

// It keeps mistakes apart, not attackers: whoever makes one up sees a page of their own list.
const tagOf = (scope: string) => createHash('sha256').update(scope).digest().subarray(0, tagBytes)
