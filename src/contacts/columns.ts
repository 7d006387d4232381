import type { FieldType } from '../contact-fields/index.js'
import { columnKey, emailColumns } from '../suppression/index.js'
import { type MarkKind, markKindOf, tellsMore } from './left-marks.js'

/**
 * Which cell of a row has what; cells of other columns go into the metadata. A column of JSON metadata is among the
 * others and also has a place of its own: its cell is an object, or a text like theirs.
 */
export interface Columns {
  count: number
  email: number
  firstName: number | undefined
  lastName: number | undefined
  /** First and last name in one cell. */
  name: number | undefined
  phone: number | undefined
  metadata: number | undefined
  /** The columns that may say that somebody left. */
  marks: readonly Mark[]
  others: readonly OtherColumn[]
  /** What each named column became, for whoever sent the file. */
  became: readonly ColumnUse[]
}

/** A column whose cells go into the metadata. */
export interface OtherColumn {
  name: string
  at: number
  type?: 'text' | 'number' | 'yesNo'
  /** The account's description of the field, which limits what people bring in by pages. */
  described?: DescribedField | undefined
}

/** The description against which a cell is checked. */
export interface DescribedField {
  name: string
  label: string
  type: FieldType
  choices: readonly string[]
}

/** A column that may say that somebody left. */
export interface Mark {
  name: string
  at: number
  kind: MarkKind
}

/** A column's name, and what its cells became. */
export interface ColumnUse {
  name: string
  became: (typeof columnUses)[number]
}

/** What the cells of a column can become; `name` is split into the first and the last name. */
export const columnUses = [
  'email',
  'firstName',
  'lastName',
  'name',
  'phone',
  'metadata',
  'suppression',
  'nothing',
] as const

// What other systems call these columns (`columnKey`), the likeliest first.
const firstNames =
  'firstname fname givenname forename first vorname rufname prenom prenoms nombre nombres primernombre ' +
  'nome primeironome voornaam imie fornamn fornavn etunimi ad имя 名'
const lastNames =
  'lastname lname surname familyname last nachname familienname zuname nom nomdefamille apellido apellidos ' +
  'primerapellido apellidopaterno cognome sobrenome apelido ultimonome achternaam nazwisko ' +
  'efternamn etternavn efternavn sukunimi soyad фамилия 姓'
const names =
  'name fullname contactname displayname subscribername customername vollername nomcomplet nombrecompleto ' +
  'nomecompleto naam 姓名 氏名'
const phones =
  'phone phonenumber phone1value mobile mobilephone mobilenumber mobilephonenumber cell cellphone phone1 primaryphone ' +
  'homephone businessphone workphone tel telephone telephonenumber telefon telefonnummer telefonnr telnr rufnummer ' +
  'handy handynummer handynr mobil mobilnummer mobiltelefon telephoneportable telephonemobile portable ' +
  'numerodetelephone numerodemobile telefono telefonomovil telefonocelular numerodetelefono movil celular telefone ' +
  'telefonecelular telefonemovel telemovel numerodetelefone cellulare telefoon sms msisdn ' +
  'телефон 电话 手机 電話番号'
const objects = 'metadata attributes attribs customfields'

// A column of our own exports; only Posthorn sets it.
const ours = 'createdat'
// A file with more columns has no contacts; each column would be a key of the metadata.
const maxColumns = 200
// How much of a bad header a message shows.
const shownNames = 10
const shownLength = 40

/** The columns that a header names, in the usual spellings; or what is wrong with the header. */
export function readHeader(cells: readonly string[]): Columns | string {
  const given = cells.map((cell) => cell.trim())
  if (given.length > maxColumns) return `there are over ${maxColumns} columns`
  const inLower = given.map((name) => name.toLowerCase())
  const twin = inLower.findIndex((name, at) => name !== '' && inLower.indexOf(name) !== at)
  if (twin !== -1) return `the column ${shown(given[twin])} is given twice`
  const keys = given.map(columnKey)
  const place = (spellings: readonly string[]) => {
    const spelling = spellings.find((one) => keys.includes(one))
    return spelling === undefined ? undefined : keys.indexOf(spelling)
  }
  const placeOf = (spellings: string) => place(spellings.split(' ').map(columnKey))
  const email = place(emailColumns) ?? onlyEmail(keys)
  if (email === undefined) {
    const found = given.slice(0, shownNames).map(shown).join(', ')
    return `there is no column "email", only ${found}${given.length > shownNames ? ', …' : ''}`
  }
  const [firstName, lastName, phone] = [placeOf(firstNames), placeOf(lastNames), placeOf(phones)]
  const name = firstName === undefined && lastName === undefined ? placeOf(names) : undefined
  const taken = { email, firstName, lastName, name, phone }
  const free = given.flatMap((name, at) =>
    name === '' || Object.values(taken).includes(at) || inLower[at] === ours ? [] : [{ name, at }],
  )
  const candidates = free.flatMap(({ name, at }) => {
    const kind = markKindOf(keys[at] ?? '')
    return kind === undefined ? [] : [{ name, at, kind, isMore: tellsMore(keys[at] ?? '') }]
  })
  const said = new Set(candidates.flatMap(({ kind, isMore }) => (isMore ? [] : [kind])))
  const marks = candidates
    .filter(({ kind, isMore }) => !isMore || !said.has(kind))
    .map(({ name, at, kind }) => ({ name, at, kind }))
  // The suppression keeps what a mark says; a column that may be no mark also stays among the fields.
  const others = free.filter(
    ({ at }) => !marks.some((mark) => mark.at === at && mark.kind !== 'status'),
  )
  const useOf = (at: number): ColumnUse['became'] => {
    const use = columnUses.find((one) => one in taken && taken[one as keyof typeof taken] === at)
    if (use !== undefined) return use
    if (marks.some((mark) => mark.at === at)) return 'suppression'
    return inLower[at] === ours ? 'nothing' : 'metadata'
  }
  return {
    count: cells.length,
    ...taken,
    metadata: placeOf(objects),
    marks,
    others,
    became: given.flatMap((name, at) =>
      name === '' ? [] : [{ name: name.slice(0, maxShownName), became: useOf(at) }],
    ),
  }
}

// How many characters of a column's name an answer shows.
const maxShownName = 100

/** The only column with the word in its name: `Your email (required)`. */
function onlyEmail(keys: readonly string[]): number | undefined {
  const [first, second] = keys.filter(
    (key) => /e?mail/.test(key) && markKindOf(key) === undefined && !key.includes('metadata'),
  )
  return first === undefined || second !== undefined ? undefined : keys.indexOf(first)
}

/** A text of the file as messages quote it. */
export const shown = (name = '') => JSON.stringify(name.slice(0, shownLength))
