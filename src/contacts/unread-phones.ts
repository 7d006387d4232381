import { phoneIn } from './csv-row.js'
import type { MappedColumn } from './mapping.js'
import { toE164 } from './phone.js'

/** How much of a column of phone numbers cannot be read as such. */
export interface UnreadPhones {
  /** The place of the column, from 0. */
  column: number
  unread: number
  /** How many of the rows have anything in the column. */
  filled: number
  /** The first text that is no phone number. */
  example: string
}

/**
 * Looks whether the first rows of a file have phone numbers where they should; undefined where all that is there can be
 * read, or no column has phone numbers.
 */
export function unreadPhones(
  columns: readonly MappedColumn[],
  rows: readonly (readonly string[])[],
  defaultCountry: string,
): UnreadPhones | undefined {
  const column = columns.findIndex(({ use }) => use === 'phone')
  const filled = rows.map((cells) => phoneIn(cells[column] ?? '')).filter((text) => text !== '')
  const unread = filled.filter((text) => toE164(text, defaultCountry) === undefined)
  const [example] = unread
  if (example === undefined) return undefined
  return { column, unread: unread.length, filled: filled.length, example }
}
