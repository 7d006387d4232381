import { type Columns, type DescribedField, shown } from './columns.js'

/**
 * What somebody says a column's cells are. `text`, `number` and `yesNo`: a field of its own; `fields`: several with
 * their names, as listmonk exports them in one cell.
 */
export const mappedUses = [
  'email',
  'firstName',
  'lastName',
  'name',
  'phone',
  'unsubscribe',
  'consent',
  'bounce',
  'complaint',
  'status',
  'text',
  'number',
  'yesNo',
  'fields',
  'nothing',
] as const

export interface MappedColumn {
  use: (typeof mappedUses)[number]
  /** For an own field its name; for another column the header's name, for messages about it. */
  name: string
}

/** How a file's rows are read, where somebody has said so. */
export interface Mapping {
  columns: readonly MappedColumn[]
  /** The first row names the columns, and is no contact. */
  hasHeader: boolean
  encoding: FileEncoding
  delimiter: FileDelimiter
}

export const fileEncodings = ['utf-8', 'windows-1252'] as const
export type FileEncoding = (typeof fileEncodings)[number]
export const fileDelimiters = [',', ';', '\t', '|'] as const
export type FileDelimiter = (typeof fileDelimiters)[number]

const once = ['email', 'firstName', 'lastName', 'name', 'phone', 'fields'] as const
const own = ['text', 'number', 'yesNo', 'fields'] as const
const markKinds = ['unsubscribe', 'consent', 'bounce', 'complaint', 'status'] as const
const maxFieldName = 100

/**
 * The columns by which rows are read; or what is wrong with what somebody has said. A column of a `described` field
 * accepts what its description allows.
 */
export function columnsOf(
  mapped: readonly MappedColumn[],
  described: readonly DescribedField[] = [],
): Columns | string {
  const placeOf = (use: MappedColumn['use']) => {
    const at = mapped.findIndex((column) => column.use === use)
    return at === -1 ? undefined : at
  }
  for (const use of once) {
    if (mapped.filter((column) => column.use === use).length > 1) {
      return `Two columns are the ${useWords[use].toLowerCase()}: choose one`
    }
  }
  const email = placeOf('email')
  if (email === undefined) return 'Say which column is the address'
  const others = mapped.flatMap(({ use, name }, at) => {
    const type = own.find((one) => one === use)
    if (type === undefined) return []
    const field = described.find((one) => one.name === name.trim())
    // A cell that is no such object is kept as it is, under the column's name.
    if (type === 'fields') return [{ name: name.trim() || 'attributes', at }]
    return [{ name: name.trim(), at, type, ...(field && { described: field }) }]
  })
  const names = others.map(({ name }) => name)
  const nameless = others.find(({ name }) => name === '' || name.length > maxFieldName)
  if (nameless !== undefined) {
    return `Column ${nameless.at + 1} is a field of your own: give it a name of at most ${maxFieldName} characters`
  }
  const twin = names.find((name, at) => names.indexOf(name) !== at)
  if (twin !== undefined) return `Two columns are the field ${shown(twin)}: choose one`
  return {
    count: mapped.length,
    email,
    firstName: placeOf('firstName'),
    lastName: placeOf('lastName'),
    name: placeOf('name'),
    phone: placeOf('phone'),
    metadata: placeOf('fields'),
    marks: mapped.flatMap(({ use, name }, at) => {
      const kind = markKinds.find((one) => one === use)
      return kind === undefined ? [] : [{ name: name || useWords[kind], at, kind }]
    }),
    others,
    became: [],
  }
}

/** The name of each use in the menu. */
export const useWords: Readonly<Record<MappedColumn['use'], string>> = {
  email: 'Address',
  firstName: 'First name',
  lastName: 'Last name',
  name: 'Whole name',
  phone: 'Phone',
  unsubscribe: 'Unsubscribed?',
  consent: 'Wants mail?',
  bounce: 'Bounced?',
  complaint: 'Called it spam?',
  status: 'Status (subscribed, unsubscribed …)',
  text: 'Own field: text',
  number: 'Own field: number',
  yesNo: 'Own field: yes or no',
  fields: 'Several own fields, with their names',
  nothing: 'Leave out',
}
