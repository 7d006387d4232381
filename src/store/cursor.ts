import { createHash } from 'node:crypto'
import { ApiError } from '../errors/index.js'

const idBytes = 16
const tagBytes = 4

/**
 * Where a page ends, from its last row's id, bound to `scope`: the list that it is a page of. Clients should only
 * hand it back, and not rely on its form.
 */
export const cursorOf = (id: string, scope: string) =>
  cursorFrom(Buffer.from(id.replaceAll('-', ''), 'hex'), scope)

/** The id in a cursor; throws a 400 for a cursor that `cursorOf` did not make for this list. */
export function idInCursor(cursor: string, scope: string): string {
  const bytes = bytesIn(cursor, scope)
  if (bytes.length !== idBytes) throw foreign()
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** The cursor of a list in the order of something else than ids: addresses, slugs, numbers. */
export const textCursorOf = (text: string, scope: string) => cursorFrom(Buffer.from(text), scope)

export const textInCursor = (cursor: string, scope: string) => bytesIn(cursor, scope).toString()

/**
 * A page of what was found; `found` has one row more than `limit` where more is to come. `cursor` says where the page
 * ends.
 */
export function pageOf<T>(found: readonly T[], limit: number, cursor: (last: T) => string) {
  const page = found.slice(0, limit)
  const last = page.at(-1)
  const hasMore = found.length > limit
  return { page, hasMore, nextCursor: hasMore && last !== undefined ? cursor(last) : null }
}

const cursorFrom = (bytes: Buffer, scope: string) =>
  Buffer.concat([bytes, tagOf(scope)]).toString('base64url')

/**
 * A cursor carries a tag of the list and filters that it was made for. One from elsewhere is
 * refused in the same words as a broken one, so that it says nothing about another account's lists.
 */
function bytesIn(cursor: string, scope: string): Buffer {
  const bytes = Buffer.from(cursor, 'base64url')
  const isWhole = bytes.length > tagBytes && bytes.toString('base64url') === cursor
  if (!isWhole || !bytes.subarray(-tagBytes).equals(tagOf(scope))) throw foreign()
  return bytes.subarray(0, -tagBytes)
}

const foreign = () =>
  new ApiError('validation_error', 'The cursor does not belong to this list', { is: 'noPage' })

// The tag catches mistakes, not attackers: whoever makes one up sees a page of their own list.
const tagOf = (scope: string) => createHash('sha256').update(scope).digest().subarray(0, tagBytes)
