import type { Contact } from '../../contacts/index.js'
import type { KnownField } from '../../forms/index.js'
import type { Form } from '../../http/index.js'
import type { Read } from '../../store/index.js'
import type { Html } from '../shell/html.js'
import { markOf, type StoredNow, stalePart } from '../shell/stale.js'
import type { Visit } from '../shell/visit.js'
import { sentRows, written } from './own-fields.js'

/** Of what the form about a person is filled with. */
export const markOfPerson = ({ firstName, lastName, phone, metadata }: Contact): string =>
  markOf([firstName, lastName, phone, metadata])

/**
 * What somebody else has written into the very fields that a form changes: what it shows of the others is left as it is,
 * whatever it has become since. A program that says nothing of what was shown writes over all.
 */
export function storedNow(
  { firstName, lastName, phone, metadata }: Contact,
  sent: Form,
  described: readonly KnownField[] = [],
): StoredNow[] {
  const labelOf = (key: string) => described.find(({ name }) => name === key)?.label ?? key
  const own = sentRows({ key: sent.all('key'), value: sent.all('value'), was: sent.all('was') })
  const named = [
    { label: 'First name', value: firstName, typed: 'firstName', was: 'wasFirstName' },
    { label: 'Last name', value: lastName, typed: 'lastName', was: 'wasLastName' },
    { label: 'Phone', value: phone, typed: 'phone', was: 'wasPhone' },
  ].map(({ label, value, typed, was }) => ({
    label,
    value: value ?? '',
    typed: sent.get(typed),
    was: sent.get(was),
  }))
  const owned = own.map(({ key, value: typed, was }) => ({
    label: labelOf(key),
    value: Object.hasOwn(metadata, key) ? written(metadata[key]) : '',
    typed,
    was,
  }))
  // A field of one line loses line ends (HTML §4.10.5.1.2).
  const line = (text: string) => text.replace(/[\r\n]/g, '')
  return [...named, ...owned].flatMap(({ label, value, typed, was }) => {
    if (typed === undefined || was === undefined) return []
    const [stored, given, shown] = [line(value), line(typed), line(was)]
    return given === shown || stored === shown || stored === given ? [] : [{ label, value }]
  })
}

/** What a form says of somebody beside fields of the account's own. */
export interface PersonValues {
  firstName: string
  lastName: string
  phone: string
}

export const valuesOf = ({ firstName, lastName, phone }: Contact): PersonValues => ({
  firstName: firstName ?? '',
  lastName: lastName ?? '',
  phone: phone ?? '',
})

/** What the page showed when it was first open. */
export const shownBefore = (stored: PersonValues, typed: Form | undefined): PersonValues => ({
  firstName: typed?.get('wasFirstName') ?? stored.firstName,
  lastName: typed?.get('wasLastName') ?? stored.lastName,
  phone: typed?.get('wasPhone') ?? stored.phone,
})

/** Told where somebody else has written into the fields that were sent. */
export async function staleFields(
  read: Read,
  visit: Visit,
  contact: Contact,
  described: readonly KnownField[],
): Promise<Html | undefined> {
  const now = storedNow(contact, visit.fields, described)
  const page = `${visit.base}/contacts/${contact.id}`
  const of = { target: contact.id, mark: markOfPerson(contact), page, now }
  return now.length === 0 ? undefined : await stalePart(read, visit, of)
}
