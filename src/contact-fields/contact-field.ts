import type { Clock } from '../clock/index.js'
import type { BodyOf } from '../contract/index.js'
import { ApiError } from '../errors/index.js'
import { turnsDirection } from '../fields/index.js'
import type { ContactFieldRow, Read, Store, Tx } from '../store/index.js'
import type * as operations from './contract.js'
import { type FieldType, fieldTypes, isNameField, maxContactFields } from './kinds.js'
import { isFreeName, otherName } from './name-from.js'

/** How an account describes a key of its contacts' metadata, or one of their names. */
export interface ContactField {
  id: string
  name: string
  label: string
  type: FieldType
  /** The choices of a field of type `choice`; else empty. */
  choices: readonly string[]
  position: number
  recipientsMayEdit: boolean
  createdAt: number
}

interface FieldDeps {
  store: Store
  clock: Clock
}

/**
 * Throws a 409 for a name that is taken, a 422 for what is not valid. `alongside` is written in the same transaction.
 */
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
    if (others.some((one) => alike(one.name, name))) throw nameTaken(name)
    if (!isFreeName(name)) {
      throw refused(
        `"${name}" is a merge tag of its own: choose another name, such as "${otherName(name)}"`,
        'name',
      )
    }
    refuseLabel(field.label, others)
    const row = rowOf(accountId, sound(field))
    const { numInsertedOrUpdatedRows } = await tx
      .insertInto('contact_fields')
      .values(row)
      // The unique index decides: two requests may make the same name at once.
      .onConflict((conflict) => conflict.columns(['account_id', 'name_key']).doNothing())
      .executeTakeFirstOrThrow()
    if (numInsertedOrUpdatedRows === 0n) throw nameTaken(name)
    const made = toField(row)
    await alongside(tx, made)
    return made
  })
}

/** Changes what is given and nothing else. Throws a 404, and a 422 for what is not valid. */
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
    // Two fields that already have one label keep it until somebody gives one of them another.
    if (!alike(changed.label, known.label)) {
      const fields = await listContactFields(tx, accountId)
      refuseLabel(
        changed.label,
        fields.filter((one) => one.id !== known.id),
      )
    }
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
    // Fields with equal positions are in the order of their names, so each gets a position of its own.
    const ordered = fields.toSpliced(from, 1).toSpliced(to, 0, moved)
    for (const [position, one] of ordered.entries()) {
      if (one.position === position) continue
      await tx.updateTable('contact_fields').set({ position }).where('id', '=', one.id).execute()
    }
    return { ...moved, position: to }
  })
}

/** Deletes a description; what contacts have in the field stays. Throws a 404. */
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

/** All fields of an account, in the order in which people see them. */
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

/** Whether two labels or names are the same to people. */
const alike = (one: string, other: string) => comparable(one) === comparable(other)
const comparable = (text: string) => text.normalize('NFKC').trim().toLowerCase()

const nameTaken = (name: string) =>
  new ApiError('conflict', `There is a field named "${name}" already`)

const refused = (message: string, field: string) =>
  new ApiError('validation_error', message, { status: 422, fields: { field } })

/** People tell fields apart by their labels. Throws a 422. */
function refuseLabel(label: string, others: readonly ContactField[]): void {
  const twin = others.find((one) => alike(one.label, label))
  if (twin === undefined) return
  throw refused(`There is a field “${twin.label}” already: choose another label`, 'label')
}

/** The field as it may be stored: with each choice once. Throws a 422. */
function sound(field: ContactField): ContactField {
  const { label, name, type } = field
  const choices = [...new Set(field.choices.map((choice) => choice.trim()))]
  const turned = 'A character in it turns the direction of the text around: write it without'
  if (turnsDirection(label)) throw refused(turned, 'label')
  if (choices.some(turnsDirection)) throw refused(turned, 'choices')
  if (isNameField(name) && type !== 'text') {
    throw refused(`${name} is a name of the contact: its type is text`, 'type')
  }
  if (type === 'choice' && choices.length === 0) {
    throw refused(`The field “${label}” has nothing to choose from`, 'choices')
  }
  // Choices dropped silently would be lost for good.
  if (type !== 'choice' && choices.length > 0) {
    const message = `Only a choice has choices, and those of “${label}” would be lost: leave them empty, or make it a choice`
    throw refused(message, 'choices')
  }
  if (choices.includes('')) throw refused('A choice is empty', 'choices')
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
