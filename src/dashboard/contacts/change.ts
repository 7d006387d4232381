import { array, type Infer, optional, string, type } from 'superstruct'
import * as operations from '../../contacts/contract.js'
import { changeContact, deleteContacts, requireContact, toE164 } from '../../contacts/index.js'
import { auditOf, checked } from '../../contract/index.js'
import { ApiError } from '../../errors/index.js'
import { knownFields } from '../../forms/index.js'
import { refuseInexact } from '../../json/index.js'
import * as suppressions from '../../suppression/contract.js'
import { lift, suppress } from '../../suppression/index.js'
import { redirect } from '../shell/answer.js'
import type { Faults } from '../shell/faults.js'
import type { AccountPages } from '../shell/page.js'
import { changedMeanwhile } from '../shell/stale.js'
import type { Visit } from '../shell/visit.js'
import type { ContactPageDeps } from './deps.js'
import { showContact } from './one.js'
import { fieldChanges, sentRows } from './own-fields.js'
import { markOfPerson, storedNow } from './stored-now.js'

const FieldsForm = type({
  firstName: optional(string()),
  lastName: optional(string()),
  phone: optional(string()),
  wasFirstName: optional(string()),
  wasLastName: optional(string()),
  wasPhone: optional(string()),
  key: array(string()),
  value: array(string()),
  was: array(string()),
  newKey: optional(string()),
  newValue: optional(string()),
})
const NoteForm = type({ note: string() })

/** What is done on a person's page. */
export function changePages(pages: AccountPages, deps: ContactPageDeps): void {
  const { store, clock } = deps
  const again = (visit: Visit, faults: Faults) => showContact(deps, visit, faults)
  const { defaultCountry } = deps.contacts

  const fields = { action: 'contacts.write', form: FieldsForm, again } as const
  pages.post('/contacts/:id', fields, async ({ account, base, params, form, fields: sent }) => {
    const { newKey = '', newValue = '' } = form
    const contact = await requireContact(store.read, account.id, params.id ?? '')
    const rows = sentRows(form)
    const added = { key: newKey, value: newValue }
    const described = await knownFields(store.read, account.id, contact.metadata)
    const own = fieldChanges(contact.metadata, [...rows, added], described)
    const asked = { ...namesChanged(form), ...own }
    const given = checked(operations.updateContactIn(defaultCountry), asked)
    refuseInexact('metadata', given.metadata)
    const number = given.phone && toE164(given.phone, defaultCountry)
    if (sent.get('over') !== markOfPerson(contact) && storedNow(contact, sent).length > 0) {
      throw changedMeanwhile()
    }
    await changeContact(deps, account.id, contact.id, { ...given, phone: number })
    const audit = auditOf(operations.updateContactIn(''), { target: contact.id })
    return redirect(`${base}/contacts/${contact.id}`, { flash: 'Saved', audit })
  })

  const noted = { action: 'suppression.write', form: NoteForm, again } as const
  pages.post('/contacts/:id/unsubscribe', noted, async ({ account, base, params, form }) => {
    const { id, email } = await requireContact(store.read, account.id, params.id ?? '')
    const detail = noteOf(form)
    const record = { email, reason: 'unsubscribe', by: 'dashboard', detail } as const
    const isNew = await store.write((tx) => suppress(tx, account.id, record, clock.now()))
    const flash = isNew ? `${email} is unsubscribed` : `${email} had unsubscribed already`
    const did = { target: email, detail: { note: detail } }
    const audit = isNew && auditOf(suppressions.addSuppression, did)
    return redirect(`${base}/contacts/${id}`, { flash, ...(audit && { audit }) })
  })

  // A bounce or a complaint is none of this page's to lift: Suppression says what speaks against it.
  pages.post('/contacts/:id/resubscribe', noted, async ({ account, base, params, form }) => {
    const { id, email } = await requireContact(store.read, account.id, params.id ?? '')
    const note = noteOf(form)
    const reasons = ['unsubscribe'] as const
    const lifting = { by: 'dashboard', at: clock.now(), reasons, note } as const
    const removed = await store.write((tx) => lift(tx, account.id, email, lifting))
    if (removed === 0) throw new ApiError('not_found', `${email} has not unsubscribed`)
    const detail = { reasons, note }
    const audit = auditOf(suppressions.removeSuppression, { target: email, detail })
    return redirect(`${base}/contacts/${id}`, { flash: 'The unsubscribe is taken back', audit })
  })

  const deletion = { action: 'contacts.write', again } as const
  pages.post('/contacts/:id/delete', deletion, async ({ account, base, params }) => {
    const { id, email } = await requireContact(store.read, account.id, params.id ?? '')
    await deleteContacts(deps, account.id, [id])
    const audit = auditOf(operations.deleteContact, { target: id, detail: { email } })
    return redirect(`${base}/contacts`, { flash: `${email} is deleted`, audit })
  })
}

/**
 * Names and phone that the form changes: what stands there as the page showed it is left as it is, whatever it has
 * become since. What was sent empty is not there.
 */
function namesChanged(form: Infer<typeof FieldsForm>): Record<string, string> {
  const { firstName, lastName, phone, wasFirstName, wasLastName, wasPhone } = form
  const rows = { firstName: [firstName, wasFirstName], lastName: [lastName, wasLastName] }
  return Object.fromEntries(
    Object.entries({ ...rows, phone: [phone, wasPhone] }).flatMap(
      ([key, [value = '', was = '']]) =>
        was.replace(/[\r\n]/g, '') === value ? [] : [[key, value]],
    ),
  )
}

// As of a suppression's note by the API.
const maxNote = 1_000

/** Who asked for it. Throws a 422 where nothing says that. */
export function noteOf({ note }: { note: string }): string {
  const text = note.trim()
  if (text !== '' && text.length <= maxNote && text.isWellFormed()) return text
  const message = text === '' ? 'Write who asked for it, and how' : 'At most 1,000 characters'
  throw new ApiError('validation_error', message, { status: 422, fields: { field: 'note' } })
}
