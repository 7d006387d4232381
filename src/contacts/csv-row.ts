import { typedValue, wantedOf } from '../contact-fields/index.js'
import { parseMailbox } from '../mime/index.js'
import { withoutApostrophe } from '../suppression/index.js'
import { type Columns, type OtherColumn, shown } from './columns.js'
import type { NewContact } from './contact.js'
import { isName, mergedMetadata } from './fields.js'
import { type LeftMark, readMark, yesOrNo } from './left-marks.js'
import { toE164 } from './phone.js'
import type { RowWords } from './row-words.js'

/** What a row says about a person. */
export interface RowContact extends NewContact {
  /** That they left, and the file's words for it. */
  left?: readonly (LeftMark & { note: string })[]
  /** Why nothing else of the row is kept. */
  refused?: string
  /** The row's phone number, where it cannot be read as one. */
  unreadPhone?: string
}

/**
 * A row's contact, or why there is none: no valid address, or something that cannot be kept. That somebody left is told
 * even then: a name that is too long must not get them mailed.
 */
export function readRow(
  columns: Columns,
  cells: readonly string[],
  { defaultCountry, words }: { defaultCountry: string; words: RowWords },
): RowContact | string {
  if (cells.some((cell) => cell.includes('\0'))) return 'it has a NUL character'
  // Cells have slipped, perhaps into the wrong columns.
  if (cells.length > columns.count && cells.slice(columns.count).some(isFilled)) {
    return `it has ${cells.length} cells, and the header has ${columns.count}`
  }
  const cell = (at: number | undefined) => (at === undefined ? '' : (cells[at]?.trim() ?? ''))
  // Google puts several addresses into one cell.
  const [given = ''] = withoutApostrophe(cell(columns.email)).split(' ::: ')
  const mailbox = parseMailbox(given)
  if (mailbox === undefined) {
    return given === '' ? words.noAddress : words.notAddress(given)
  }
  const left: (LeftMark & { note: string })[] = []
  let unclear: string | undefined
  for (const { name, at, kind } of columns.marks) {
    const said = readMark(kind, cell(at))
    if (typeof said !== 'string') left.push({ ...said, note: `${name}: ${cell(at)}` })
    else if (said === 'unclear') {
      unclear ??= words.unclear(name, cell(at))
    }
  }
  const contact: RowContact = { email: mailbox.address, ...(left.length > 0 && { left }) }
  const refused = unclear ?? fillIn(contact, columns, { cell, defaultCountry, words })
  if (refused === undefined) return contact
  if (left.length === 0) return refused
  return { email: contact.email, left, refused: `${refused}; that they left is kept` }
}

/** Reads the rest of a row into the contact; returns why it cannot be kept. */
function fillIn(
  contact: RowContact,
  columns: Columns,
  {
    cell,
    defaultCountry,
    words,
  }: { cell: (at: number | undefined) => string; defaultCountry: string; words: RowWords },
): string | undefined {
  const [first, last] = halvesOf(withoutApostrophe(cell(columns.name)))
  const names = {
    firstName: withoutApostrophe(cell(columns.firstName)) || first,
    lastName: withoutApostrophe(cell(columns.lastName)) || last,
  }
  for (const field of ['firstName', 'lastName'] as const) {
    const name = names[field]
    if (!isName(name)) return words.longName(field)
    if (name !== '') contact[field] = name
  }
  const own = jsonObject(cell(columns.metadata))
  const fields: [string, unknown][] = []
  for (const { name, at, type, described } of columns.others) {
    const text = cell(at)
    if (text === '' || (own !== undefined && at === columns.metadata)) continue
    const value = fieldValue(text, type, described)
    if (value === undefined) {
      if (described !== undefined) return `${wantedOf(described)}, not ${shown(text)}`
      return `${shown(name)} is ${shown(text)}, which is no ${type === 'number' ? 'number' : 'yes or no'}`
    }
    fields.push([name, value])
  }
  const rawPhone = phoneIn(cell(columns.phone))
  if (rawPhone !== '') {
    contact.phone = toE164(rawPhone, defaultCountry)
    // A number that USSD could not find is kept for people.
    if (contact.phone === undefined) {
      contact.unreadPhone = rawPhone
      fields.push(['phone', rawPhone])
    }
  }
  const metadata = { ...Object.fromEntries(fields), ...own }
  if (Object.keys(metadata).length === 0) return undefined
  contact.metadata = metadata
  const inexact = own && words.inexact(own)
  if (inexact !== undefined) return inexact
  if (mergedMetadata({}, metadata) !== undefined) return undefined
  return words.tooMuch
}

/** The phone number of a cell: the first where it has several. */
export const phoneIn = (cell: string): string =>
  withoutApostrophe(cell.trim()).split(' ::: ')[0] ?? ''

/** A cell as a value of its field's type; undefined for anything else. */
function fieldValue(
  text: string,
  type: OtherColumn['type'],
  described: OtherColumn['described'],
): unknown {
  // A file's text may be longer than what people type, and have several lines.
  if (described?.type === 'text') return text
  if (described !== undefined) return typedValue(described, text)
  if (type === 'yesNo') return yesOrNo(text)
  if (type !== 'number') return text
  return /^-?\d{1,15}([.,]\d{1,15})?$/.test(text) ? Number(text.replace(',', '.')) : undefined
}

/** A cell that is a JSON object; undefined for any other text. */
function jsonObject(cell: string): Record<string, unknown> | undefined {
  if (!cell.startsWith('{')) return undefined
  try {
    return JSON.parse(cell)
  } catch {
    return undefined
  }
}

/** First and last name from a whole name: `Ann van Dyk`, `van Dyk, Ann`. */
function halvesOf(name: string): [string, string] {
  const [last, first] = name.split(/,\s+/, 2)
  if (first !== undefined && last !== undefined) return [first, last]
  const end = name.search(/\s/)
  return end === -1 ? [name, ''] : [name.slice(0, end), name.slice(end).trim()]
}

/** Whether a cell has more than white space. */
const isFilled = (cell: string) => cell.trim() !== ''
