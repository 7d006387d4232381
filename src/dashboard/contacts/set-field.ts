import {
  isFieldName,
  isFreeName,
  isNameField,
  listContactFields,
  nameFrom,
} from '../../contact-fields/index.js'
import { type BulkOrder, fieldsInUse, isName } from '../../contacts/index.js'
import { ApiError } from '../../errors/index.js'
import type { Read } from '../../store/index.js'
import { ownValue } from './own-fields.js'

/** A field that a form offers, and what people call it. */
export interface FieldName {
  value: string
  label: string
}

/** What of somebody the form may set. */
export type SetField = Pick<BulkOrder, 'metadata' | 'names'>

const nameLabels = { firstName: 'First name', lastName: 'Last name' } as const
// The names are columns of a contact: one of its own fields may be called so too.
const ofName = 'name:'
const ofOwn = 'own:'
const isNew = 'new'

/** The fields that people have: their names, those that the account has described, and those that were found. */
export async function fieldNames(read: Read, accountId: string): Promise<FieldName[]> {
  const described = await listContactFields(read, accountId)
  const known = new Map(described.map(({ name, label }) => [name, label]))
  const found = (await fieldsInUse(read, accountId)).filter((name) => !known.has(name))
  return [
    ...Object.entries(nameLabels).map(([name, label]) => ({
      value: `${ofName}${name}`,
      label: known.get(name) ?? label,
    })),
    ...described
      .filter(({ name }) => !isNameField(name))
      .map(({ name, label }) => ({ value: `${ofOwn}${name}`, label })),
    ...found.map((name) => ({ value: `${ofOwn}${name}`, label: name })),
    { value: isNew, label: 'A new field, named below' },
  ]
}

/** What a form says that a field of several people is to be. Throws a 422 for a field that nobody has and none is to be. */
export async function setField(
  read: Read,
  accountId: string,
  { key = '', newKey = '', value = '' }: { key?: string; newKey?: string; value?: string },
): Promise<SetField> {
  if (key === '') throw wrong('Choose the field that is set', 'key')
  const offered = await fieldNames(read, accountId)
  const isOffered = offered.some((one) => one.value === key)
  const column = key.startsWith(ofName) && isOffered ? key.slice(ofName.length) : undefined
  if (column !== undefined) {
    if (isName(value)) return { names: { [column]: value } }
    throw wrong('A name has at most 200 characters, all on one line', 'value')
  }
  if (key !== isNew && !isOffered) {
    const message =
      'None of the contacts that were looked at has this field: choose another, or name it as a new one'
    throw wrong(message, 'key')
  }
  const name = key === isNew ? newName(newKey.trim(), offered) : key.slice(ofOwn.length)
  const described = await listContactFields(read, accountId)
  return { metadata: { [name]: value === '' ? '' : ownValue(described, name, value) } }
}

/** The name of a field that nobody has yet. Throws a 422 for one that no merge tag could say. */
function newName(name: string, offered: readonly FieldName[]): string {
  if (name === '') throw wrong('Name the new field', 'newKey')
  if (!isFieldName(name)) {
    const message = `A field’s name begins with a letter and has letters, digits and _ alone, at most 40: “${nameFrom(name)}” would do`
    throw wrong(message, 'newKey')
  }
  if (isNameField(name) || !isFreeName(name)) {
    throw wrong(`“${name}” is something else already: choose another name`, 'newKey')
  }
  const key = `${ofOwn}${name}`.toLowerCase()
  const twin = offered.find((one) => one.value.toLowerCase() === key)
  if (twin === undefined) return name
  throw wrong(`There is a field “${twin.label}” already: choose it above`, 'newKey')
}

const wrong = (message: string, field: string) =>
  new ApiError('validation_error', message, { status: 422, fields: { field } })
