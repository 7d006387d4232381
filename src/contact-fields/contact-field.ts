import type { Clock } from '../clock/index.js'
import type { BodyOf } from '../contract/index.js'
import { ApiError } from '../errors/index.js'
import type { ContactFieldRow, Read, Store, Tx } from '../store/index.js'
import type * as operations from './contract.js'
import { type FieldType, fieldTypes, isNameField, maxContactFields } from './kinds.js'

/** How an account describes a key of its contacts' metadata, or one of their names. */
export interface ContactField {
  id: string
  name: string
  label: string
  type: FieldType
  /** Of a `choice`; else empty. */
  choices: readonly string[]
  position: number
  recipientsMayEdit: boolean
  createdAt: number
}

interface FieldDeps {
  store: Store
  clock: Clock
}

/** Throws a 409 for a name that is taken, a 422 for a choice of nothing. `alongside` is written with it. */
export async function createContactField(
  { store, clock }: FieldDeps,
  accountId: string,
  given: BodyOf<typeof operations.createContactField>,
  alongside: (tx: Tx, field: ContactField) => Promise<void> = async () => {},
): Promise<ContactField> {
  const id = store.ids.uuid()
  const { name, choices = [], recipientsMayEdit = false } = given
  return await store.write(async (tx) => {
    const others = await listContactFields(tx, accountId)
    if (others.length >= maxContactFields) {
      const message = `The account has ${maxContactFields} fields, and may have no more: delete one`
      throw new ApiError('plan_limit_exceeded', message)
    }
    const field: ContactField = {
      id,
      name,
      label: given.label.trim(),
      type: given.type,
      choices,
      position: given.position ?? Math.max(-1, ...others.map(({ position }) => position)) + 1,
      recipientsMayEdit,
      createdAt: clock.now(),
    }
    const row = rowOf(accountId, sound(field))
    const { numInsertedOrUpdatedRows } = await tx
      .insertInto('contact_fields')
      .values(row)
      // The unique index decides: two requests may make the same name at once.
      .onConflict((conflict) => conflict.columns(['account_id', 'name_key']).doNothing())
      .executeTakeFirstOrThrow()
    if (numInsertedOrUpdatedRows === 0n) {
      throw new ApiError('conflict', `There is a field named "${name}" already`)
    }
    const made = toField(row)
    await alongside(tx, made)
    return made
  })
}

/** Changes what is given and nothing else. Throws a 404, and a 422 for a choice of nothing. */
export async function updateContactField(
  { store }: Pick<FieldDeps, 'store'>,
  accountId: string,
  id: string,
  given: BodyOf<typeof operations.updateContactField>,
): Promise<ContactField> {
  return await store.write(async (tx) => {
    const known = await requireContactField(tx, accountId, id)
    const { label = known.label, type = known.type, choices = known.choices } = given
    const { position = known.position, recipientsMayEdit = known.recipientsMayEdit } = given
    const changed = { ...known, label: label.trim(), type, choices, position, recipientsMayEdit }
    const row = rowOf(accountId, sound(changed))
    await tx.updateTable('contact_fields').set(row).where('id', '=', known.id).execute()
    return toField(row)
  })
}

/** Puts a field one place up or down; the first and the last one stay where they are. Throws a 404. */
export async function moveContactField(
  { store }: Pick<FieldDeps, 'store'>,
  accountId: string,
  id: string,
  way: 'up' | 'down',
): Promise<ContactField> {
  return await store.write(async (tx) => {
    const moved = await requireContactField(tx, accountId, id)
    const fields = await listContactFields(tx, accountId)
    const from = fields.findIndex((one) => one.id === moved.id)
    const to = from + (way === 'up' ? -1 : 1)
    if (fields[to] === undefined) return moved
    // Fields of equal positions are in the order of their names, so each gets a position of its own.
    const ordered = fields.toSpliced(from, 1).toSpliced(to, 0, moved)
    for (const [position, one] of ordered.entries()) {
      if (one.position === position) continue
      await tx.updateTable('contact_fields').set({ position }).where('id', '=', one.id).execute()
    }
    return { ...moved, position: to }
  })
}

/** What contacts have in it stays. Throws a 404. */
export async function deleteContactField(
  { store }: Pick<FieldDeps, 'store'>,
  accountId: string,
  id: string,
): Promise<ContactField> {
  return await store.write(async (tx) => {
    const field = await requireContactField(tx, accountId, id)
    await tx.deleteFrom('contact_fields').where('id', '=', field.id).execute()
    return field
  })
}

/** All of an account, in the order in which people see them. */
export async function listContactFields(read: Read, accountId: string): Promise<ContactField[]> {
  const rows = await fieldsOf(read, accountId).orderBy('position').orderBy('name_key').execute()
  return rows.map(toField)
}

/** Throws a 404. */
export async function requireContactField(
  read: Read,
  accountId: string,
  id: string,
): Promise<ContactField> {
  const row = await fieldsOf(read, accountId).where('id', '=', id.toLowerCase()).executeTakeFirst()
  if (row !== undefined) return toField(row)
  throw new ApiError('not_found', 'The account has no field of contacts with this id')
}

const fieldsOf = (read: Read, accountId: string) =>
  read.selectFrom('contact_fields').selectAll().where('account_id', '=', accountId)

/** The field as it may be kept: with each choice once. */
function sound(field: ContactField): ContactField {
  const { label, name, type } = field
  const fail = (message: string, wrong: string) =>
    new ApiError('validation_error', message, { status: 422, fields: { field: wrong } })
  if (isNameField(name) && type !== 'text') {
    throw fail(`${name} is a name of the contact: its type is text`, 'type')
  }
  const choices =
    type === 'choice' ? [...new Set(field.choices.map((choice) => choice.trim()))] : []
  if (type === 'choice' && choices.length === 0) {
    throw fail(`The field “${label}” has nothing to choose from`, 'choices')
  }
  if (choices.includes('')) throw fail('A choice is empty', 'choices')
  return { ...field, choices }
}

const rowOf = (accountId: string, field: ContactField): ContactFieldRow => ({
  id: field.id,
  account_id: accountId,
  name: field.name,
  name_key: field.name.toLowerCase(),
  label: field.label,
  type: field.type,
  choices: JSON.stringify(field.choices),
  position: field.position,
  recipients_may_edit: field.recipientsMayEdit ? 1 : 0,
  created_at: field.createdAt,
})

const toField = (row: ContactFieldRow): ContactField => ({
  id: row.id,
  name: row.name,
  label: row.label,
  type: fieldTypes.find((one) => one === row.type) ?? 'text',
  choices: JSON.parse(row.choices),
  position: row.position,
  recipientsMayEdit: row.recipients_may_edit !== 0,
  createdAt: row.created_at,
})
