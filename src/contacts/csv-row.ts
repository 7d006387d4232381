import { parseMailbox } from '../mime/index.js'
import { withoutApostrophe } from '../suppression/index.js'
import type { NewContact } from './contact.js'
import { isName, maxMetadataBytes, maxNameLength, mergedMetadata } from './fields.js'
import { toE164 } from './phone.js'

/**
 * Which cell of a row is what; those of other columns go into the metadata. `metadata` is among the
 * others and at its own place: its cell is JSON, or a text like theirs.
 */
export interface Columns {
  count: number
  email: number
  firstName: number | undefined
  lastName: number | undefined
  phone: number | undefined
  metadata: number | undefined
  others: readonly { name: string; at: number }[]
}

// An export has the last two; they are Posthorn's to say.
const known = ['email', 'firstname', 'lastname', 'phone', 'unsubscribedat', 'createdat']
// A file with more columns is none of contacts; each of them would be a key of the metadata.
const maxColumns = 200
// How much of a bad header a message shows.
const shownNames = 10
const shownLength = 40

/** The columns that a header names, in any case; or what is wrong with it. */
export function readHeader(cells: readonly string[]): Columns | string {
  const names = cells.map((cell) => cell.trim())
  const keys = names.map((name) => name.toLowerCase())
  if (names.length > maxColumns) return `there are over ${maxColumns} columns`
  const twin = keys.findIndex((key, at) => key !== '' && keys.indexOf(key) !== at)
  if (twin !== -1) return `the column ${shown(names[twin])} is given twice`
  const email = keys.indexOf('email')
  if (email === -1) {
    const found = names.slice(0, shownNames).map(shown).join(', ')
    return `there is no column "email", only ${found}${names.length > shownNames ? ', …' : ''}`
  }
  const place = (key: string) => (keys.includes(key) ? keys.indexOf(key) : undefined)
  return {
    count: cells.length,
    email,
    firstName: place('firstname'),
    lastName: place('lastname'),
    phone: place('phone'),
    metadata: place('metadata'),
    others: names.flatMap((name, at) =>
      name === '' || known.includes(name.toLowerCase()) ? [] : [{ name, at }],
    ),
  }
}

/** A row's contact; or why there is none: no valid address, or what cannot be kept. */
export function readRow(
  columns: Columns,
  cells: readonly string[],
  defaultCountry: string,
): NewContact | string {
  if (cells.some((cell) => cell.includes('\0'))) return 'it has a NUL character'
  // Whatever has slipped, it may have slipped into the wrong column.
  if (cells.length > columns.count && cells.slice(columns.count).some(isFilled)) {
    return `it has ${cells.length} cells, and the header has ${columns.count}`
  }
  const cell = (at: number | undefined) =>
    at === undefined ? '' : withoutApostrophe(cells[at]?.trim() ?? '')
  const mailbox = parseMailbox(cell(columns.email))
  if (mailbox === undefined) {
    const given = cell(columns.email)
    return given === '' ? 'it has no email' : `email ${shown(given)} is not an email address`
  }
  const contact: NewContact = { email: mailbox.address }
  for (const field of ['firstName', 'lastName'] as const) {
    const name = cell(columns[field])
    if (!isName(name)) {
      return `${field} has over ${maxNameLength} characters, or a control character`
    }
    if (name !== '') contact[field] = name
  }
  const own = jsonObject(cell(columns.metadata))
  const texts = columns.others
    .filter(({ at }) => own === undefined || at !== columns.metadata)
    .map(({ name, at }) => [name, cell(at)] as const)
    .filter(([, value]) => value !== '')
  const rawPhone = cell(columns.phone)
  if (rawPhone !== '') {
    contact.phone = toE164(rawPhone, defaultCountry)
    // What USSD could not find is kept for people.
    if (contact.phone === undefined) texts.push(['phone', rawPhone])
  }
  const metadata = { ...Object.fromEntries(texts), ...own }
  if (Object.keys(metadata).length === 0) return contact
  contact.metadata = metadata
  if (mergedMetadata({}, metadata) !== undefined) return contact
  return `the cells that go into metadata have over ${maxMetadataBytes} bytes`
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

/** Whether a cell has more than white space. */
const isFilled = (cell: string) => cell.trim() !== ''
/** A text of the file as messages quote it. */
const shown = (name = '') => JSON.stringify(name.slice(0, shownLength))
