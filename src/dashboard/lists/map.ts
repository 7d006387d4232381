import { counted, shownCount } from '../../amounts/index.js'
import { contactCeiling, readBilling } from '../../billing/index.js'
import { type ContactField, isNameField, listContactFields } from '../../contact-fields/index.js'
import {
  contactTotal,
  type FileDelimiter,
  fileEncodings,
  type ImportTask,
  type KnownPolicy,
  listPage,
  type MappedColumn,
  type Mapping,
  mappedUses,
  phoneCountries,
  requireList,
  type UnreadPhones,
  unreadPhones,
  useWords,
} from '../../contacts/index.js'
import { ApiError } from '../../errors/index.js'
import type { Read } from '../../store/index.js'
import { columnKey } from '../../suppression/index.js'
import { shortly } from '../format.js'
import { type PageAnswer, page } from '../shell/answer.js'
import { type Faults, noFaults } from '../shell/faults.js'
import { namedOptions } from '../shell/named-options.js'
import { inQuotes } from '../shell/names.js'
import type { Visit } from '../shell/visit.js'
import type { ImportPageDeps } from './deps.js'

/** What the columns of a file are, and what is to be done with its people. */
interface MapView {
  base: string
  page: string
  filename: string
  lines: string
  /** How many contacts more the plan allows, in words; undefined: any number. */
  room: string | undefined
  /** The file has more lines than that. */
  isMore: boolean
  columns: { use: string; name: string; header: string }[]
  /** What is to be said before the start of a column of phone numbers, and which column that is. */
  unreadPhones: { says: string; column: string } | undefined
  rows: readonly (readonly string[])[]
  uses: { value: string; label: string }[]
  hasHeader: boolean
  encoding: string
  delimiter: string
  encodings: { value: string; label: string }[]
  delimiters: { value: string; label: string }[]
  lists: { value: string; label: string }[]
  /** What is said of lists that are not offered; empty: all are. */
  older: string
  /** The one that the link named that led here. */
  list: string
  policies: { value: KnownPolicy; label: string; hint: string }[]
  /** Of phone numbers that name none, and which there are. */
  country: string
  countries: { value: string; label: string }[]
  faults: Faults
}

/** What delimiters are called in forms, where a tab would be lost. */
export const delimiterNames: Readonly<Record<FileDelimiter, string>> = {
  ',': 'comma',
  ';': 'semicolon',
  '\t': 'tab',
  '|': 'bar',
}
const encodingNames: Readonly<Record<Mapping['encoding'], string>> = {
  'utf-8': 'UTF-8',
  'windows-1252': 'Windows (Western Europe)',
}

export const policies: readonly { value: KnownPolicy; label: string; hint: string }[] = [
  {
    value: 'fill',
    label: 'Fill gaps',
    hint: 'What is known of them stays; what is missing is filled in.',
  },
  {
    value: 'overwrite',
    label: 'Overwrite',
    hint: 'The file is right: its cells take the place of what is known. Of rows with the same address the last one counts.',
  },
  { value: 'leave', label: 'Leave them', hint: 'They only come onto the list.' },
]

const mostLists = 500
const regions = new Intl.DisplayNames('en', { type: 'region' })
const called = (country: string) => regions.of(country) ?? country

/** Of which country the form says that phone numbers are which name none. */
export const countryIn = (
  fields: { get(name: string): string | undefined },
  usual: string,
): string => phoneCountries().find((one) => one === fields.get('country')) ?? usual

/** How the form wants the file to be read; what it does not say is found out. */
export function readingIn(given: { get(name: string): string | null | undefined }) {
  const delimiter = (Object.keys(delimiterNames) as FileDelimiter[]).find(
    (one) => delimiterNames[one] === given.get('delimiter'),
  )
  const encoding = fileEncodings.find((one) => one === given.get('encoding'))
  const header = given.get('header')
  return {
    ...(encoding !== undefined && { encoding }),
    ...(delimiter !== undefined && { delimiter }),
    ...((header === 'yes' || header === 'no') && { hasHeader: header === 'yes' }),
  }
}

/** What a form that was sent says of each column. */
export const columnsIn = (
  fields: { get(name: string): string | undefined },
  guessed: readonly MappedColumn[],
  own: readonly ContactField[],
): MappedColumn[] =>
  guessed.map((column, at) => {
    const sent = fields.get(`use-${at}`)
    const ours = sent === undefined ? meantBy(column, own) : own.find((one) => ownUse(one) === sent)
    if (ours !== undefined) return { use: useOf(ours), name: ours.name }
    return {
      use: mappedUses.find((one) => one === sent) ?? column.use,
      name: fields.get(`name-${at}`)?.trim() ?? column.name,
    }
  })

const ownUse = ({ name }: ContactField) => `own:${name}`
const useOf = ({ type }: ContactField) => (type === 'number' ? 'number' : 'text')

/** The field that a column's header names, by its label or name. */
const meantBy = ({ use, name }: MappedColumn, own: readonly ContactField[]) =>
  use === 'text' || use === 'number' || use === 'yesNo'
    ? own.find((one) => [one.name, one.label].some((known) => columnKey(known) === columnKey(name)))
    : undefined

/** How the form shows what a column is. */
const shownUse = ({ use, name }: MappedColumn, own: readonly ContactField[]): string => {
  const ours = own.find((one) => one.name === name && useOf(one) === use)
  return ours === undefined ? use : ownUse(ours)
}

/** The fields that an account has described, but for the names, which are columns of their own. */
export const ownFields = async (read: Read, accountId: string): Promise<ContactField[]> =>
  (await listContactFields(read, accountId)).filter(({ name }) => !isNameField(name))

/** Throws a 422 where the chosen column of phone numbers has some that cannot be read, and the form has not said so yet. */
export function tellPhones(
  fields: { get(name: string): string | undefined },
  unread: UnreadPhones | undefined,
): void {
  if (unread === undefined || fields.get('phoneTold') === String(unread.column)) return
  const message =
    'Nothing is imported yet: some phone numbers cannot be read, as is said below. Choose something else for the column, or import them like that'
  throw new ApiError('validation_error', message, { status: 422 })
}

const unreadWords = (
  { column, unread, filled, example }: UnreadPhones,
  header: string | undefined,
  country: string,
): string => {
  const which = header?.trim() ? inQuotes(shortly(header.trim(), 40)) : String(column + 1)
  const found = `of the first ${counted(filled, 'row')} with something in column ${which} ${shownCount(unread)} cannot be read, such as ${inQuotes(shortly(example, 40))}`
  return `${found}. A number is one of ${country}, or has + and its country code. What cannot be read is kept as a text, in the field “phone”, and is nobody’s phone number.`
}

/** The page on which a draft becomes an import. */
export async function showMapping(
  { store, plans, imports }: ImportPageDeps,
  visit: Visit,
  task: ImportTask,
  faults: Faults = noFaults,
): Promise<PageAnswer> {
  const { account, base, query, fields } = visit
  const as = { ...readingIn(query), ...readingIn(fields) }
  const { rows, mapping } = await imports.glance(task, as)
  const ceiling = contactCeiling(plans, await readBilling(store.read, plans, account.id))
  const held = await contactTotal(store.read, account.id)
  const { page: newest } = await listPage(store.read, account.id, { limit: mostLists })
  // A list that is chosen is offered, however old it is.
  const list = fields.get('list') ?? query.get('list') ?? ''
  const isOlder = list !== '' && !newest.some(({ id }) => id === list)
  const older = isOlder
    ? await requireList(store.read, account.id, list).catch(() => undefined)
    : undefined
  const lists = older === undefined ? newest : [older, ...newest]
  const { hasHeader, encoding, delimiter } = mapping
  const own = await ownFields(store.read, account.id)
  const room = ceiling === null ? undefined : Math.max(0, ceiling - held)
  const columns = columnsIn(fields, mapping.columns, own)
  const people = hasHeader ? rows.slice(1) : rows
  const lines = task.total - (rows.length - people.length)
  const country = countryIn(fields, imports.defaultCountry)
  const unread = unreadPhones(columns, people, country)
  const view: MapView = {
    base,
    page: `${base}/contacts/import/${task.id}`,
    filename: task.detail.filename,
    lines: counted(lines, 'line'),
    room: room?.toLocaleString('en-GB'),
    isMore: room !== undefined && lines > room,
    unreadPhones: unread && {
      says: unreadWords(unread, hasHeader ? rows[0]?.[unread.column] : undefined, called(country)),
      column: String(unread.column),
    },
    columns: columns.map((column, at) => ({
      use: shownUse(column, own),
      name: column.name,
      header: hasHeader ? (rows[0]?.[at] ?? '').slice(0, 80) : '',
    })),
    rows: people.map((cells) => cells.map((cell) => cell.slice(0, 80))),
    uses: [
      ...mappedUses.map((value) => ({ value, label: useWords[value] })),
      ...own.map((one) => ({ value: ownUse(one), label: `Your field “${one.label}”` })),
    ],
    hasHeader,
    encoding,
    delimiter: delimiterNames[delimiter],
    // What the file says itself is read so, whatever somebody chooses.
    encodings: task.detail.isWide
      ? [{ value: encoding, label: 'UTF-16' }]
      : fileEncodings.map((value) => ({ value, label: encodingNames[value] })),
    delimiters: Object.values(delimiterNames).map((value) => ({ value, label: value })),
    lists: namedOptions(
      lists.map(({ id, name, contactCount }) => ({
        id,
        name: `${name} (${shownCount(contactCount)})`,
      })),
    ),
    list,
    older:
      newest.length < mostLists
        ? ''
        : `The newest ${mostLists} are offered. For an older one press “Import people” on its own page.`,
    policies: [...policies],
    country,
    countries: [...new Set([country, ...phoneCountries()])]
      .map((value) => ({ value, label: called(value) }))
      .sort((a, b) => a.label.localeCompare(b.label)),
    faults,
  }
  return page('lists/map', view, { title: `Import ${task.detail.filename}` })
}
