import { ApiError } from '../errors/index.js'

/** Where a page ends, from its last row's id. Clients are to hand it back, not to build upon it. */
export const cursorOf = (id: string) =>
  Buffer.from(id.replaceAll('-', ''), 'hex').toString('base64url')

/** The id in a cursor; throws a 400 for what `cursorOf` never gave out. */
export function idInCursor(cursor: string): string {
  const bytes = Buffer.from(cursor, 'base64url')
  if (bytes.length !== 16 || bytes.toString('base64url') !== cursor) {
    throw new ApiError('validation_error', 'cursor is none that was given out')
  }
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
