import { dayMs } from '../clock/index.js'
import { recordConsent } from '../consent/index.js'
import {
  type ContactField,
  isNameField,
  listContactFields,
  maxTypedChars,
  typedValue,
} from '../contact-fields/index.js'
import { type Contact, changeContact, findContact, isName } from '../contacts/index.js'
import { ApiError } from '../errors/index.js'
import type { Form } from '../http/index.js'
import type { Read } from '../store/index.js'
import type { Recipient } from './link.js'
import { isOfTest, type SubscriptionDeps } from './subscription.js'

/** A field that recipients may change, as the page has it. */
export interface EditableField {
  /** The name of its input. */
  name: string
  /** The name of the input that says what was shown. */
  wasName: string
  field: ContactField
  value: string
  /** The stored value, which the form sends back: a field that nobody touched is not changed. */
  was: string
  isWrong: boolean
}

const inputOf = ({ name }: ContactField) => `field-${name}`
const wasOf = ({ name }: ContactField) => `was-${name}`

/** The fields that a recipient may change; none for a person whom the account does not know, except in the sample. */
export async function editableFields(
  read: Read,
  { accountId, address }: Recipient,
  isSample = false,
): Promise<EditableField[]> {
  const contact = await findContact(read, accountId, address)
  if (contact === undefined && !isSample) return []
  const fields = await listContactFields(read, accountId)
  return fields
    .filter(({ recipientsMayEdit }) => recipientsMayEdit)
    .map((field) => {
      const value = contact === undefined ? '' : storedIn(contact, field)
      return {
        name: inputOf(field),
        wasName: wasOf(field),
        field,
        value,
        was: value,
        isWrong: false,
      }
    })
}

/** The value as an input shows it. A value that no input can show is empty, and stays unless something is typed. */
function storedIn(contact: Contact, field: ContactField): string {
  const { name, type } = field
  const value = isNameField(name)
    ? contact[name]
    : Object.hasOwn(contact.metadata, name)
      ? contact.metadata[name]
      : ''
  const shown = typeof value === 'string' || typeof value === 'number' ? String(value) : ''
  // In these two inputs a browser shows no other value, and would send nothing.
  const mustFit = type === 'date' || type === 'choice'
  return mustFit && typedValue(field, shown) === undefined ? '' : shown
}

// Whoever changes more often lengthens the record no more: anybody may have the link.
const mostADay = 20

/**
 * Saves what a recipient typed, all or nothing, and notes in the consent record that the recipient did it. Resolves
 * with the fields to show again if one is wrong; undefined: it is saved, or nothing was changed.
 */
export async function saveFields(
  deps: SubscriptionDeps,
  recipient: Recipient,
  form: Form,
): Promise<EditableField[] | undefined> {
  const { accountId, address, emailId } = recipient
  const { read } = deps.store
  const contact = await findContact(read, accountId, address)
  const typed = (await editableFields(read, recipient)).map((one) => {
    const was = form.get(one.wasName) ?? one.was
    const value = (form.get(one.name) ?? was).trim()
    // An input of one line loses line ends (HTML §4.10.5.1.2).
    const isTouched = value !== was.replace(/[\r\n]/g, '').trim()
    const isTooLong = isNameField(one.field.name) && !isName(value)
    const parsed = value === '' ? '' : isTooLong ? undefined : typedValue(one.field, value)
    const isWrong = isTouched && parsed === undefined
    return { ...one, was, value: value.slice(0, maxTypedChars + 1), isTouched, parsed, isWrong }
  })
  if (typed.some(({ isWrong }) => isWrong)) return typed
  const changed = typed.filter(({ isTouched }) => isTouched)
  if (contact === undefined || changed.length === 0 || isOfTest({ emailId })) return undefined
  const metadata: Record<string, unknown> = {}
  const removeMetadata: string[] = []
  const names: { firstName?: string; lastName?: string } = {}
  for (const { field, parsed = '' } of changed) {
    if (isNameField(field.name)) names[field.name] = String(parsed)
    else if (parsed === '') removeMetadata.push(field.name)
    else metadata[field.name] = parsed
  }
  const update = {
    ...names,
    removeMetadata,
    ...(Object.keys(metadata).length > 0 && { metadata }),
  }
  const now = deps.clock.now()
  const fields = changed.map(({ field }) => field.label)
  const detail = { by: 'recipient', fields, ...(emailId !== undefined && { emailId }) }
  try {
    await changeContact(deps, accountId, contact.id, update, async (tx) => {
      const told = await tx
        .selectFrom('consent')
        .select((eb) => eb.fn.countAll<number>().as('rows'))
        .where('account_id', '=', accountId)
        .where('address', '=', address.toLowerCase())
        .where('kind', '=', 'changed_fields')
        .where('at', '>', now - dayMs)
        // A row written while the clock was ahead does not count for the last day.
        .where('at', '<', now + dayMs)
        .executeTakeFirstOrThrow()
      if (Number(told.rows) >= mostADay) return
      await recordConsent(tx, accountId, address, { at: now, kind: 'changed_fields', detail })
    })
    return undefined
  } catch (error) {
    // The value does not fit beside what else is kept of them, or they have just been deleted.
    if (!(error instanceof ApiError)) throw error
    return typed.map((one) => ({ ...one, isWrong: one.isTouched }))
  }
}
