import { optional, string, type } from 'superstruct'
import { checkOpen, readBilling } from '../../billing/index.js'
import * as operations from '../../contact-fields/contract.js'
import {
  type ContactField,
  createContactField,
  deleteContactField,
  isFieldName,
  isNameField,
  maxChoices,
  moveContactField,
  nameFrom,
  requireContactField,
  updateContactField,
} from '../../contact-fields/index.js'
import { auditOf, checked } from '../../contract/index.js'
import { ApiError } from '../../errors/index.js'
import { oneOf, structOf, table } from '../../fields/index.js'
import { type PageAnswer, page, redirect } from '../shell/answer.js'
import { type Faults, noFaults } from '../shell/faults.js'
import type { AccountPages } from '../shell/page.js'
import type { Visit } from '../shell/visit.js'
import type { FieldPageDeps } from './deps.js'
import { kindChoices, typeChoices } from './words.js'

/** The form of a field, a new one or one that is there. */
interface EditFieldView {
  base: string
  accountId: string
  mayWrite: boolean
  /** Undefined of a new one. */
  field: ContactField | undefined
  action: string
  values: { name: string; label: string; type: string; choices: string; mayEdit: boolean }
  types: { value: string; label: string }[]
  faults: Faults
}

const FieldForm = type({
  label: string(),
  type: optional(string()),
  choices: optional(string()),
  recipientsMayEdit: optional(string()),
  name: optional(string()),
})
const MoveForm = structOf(table({ way: oneOf(['up', 'down'], 'Where to') }))

/** All that is done to fields of contacts. */
export function changePages(pages: AccountPages, deps: FieldPageDeps): void {
  const showNew = async (visit: Visit, faults: Faults) => showField(visit, undefined, faults)
  pages.get('/fields/new', 'contacts.write', (visit) => showNew(visit, noFaults))
  const making = { action: 'contacts.write', form: FieldForm, again: showNew } as const
  pages.post('/fields/new', making, async ({ account, base, form }) => {
    checkOpen(await readBilling(deps.store.read, deps.plans, account.id))
    const { label, type: kind = 'text', name } = form
    refuseSlips(form)
    const asked = {
      ...givenBy(form),
      name: isNameField(kind) ? kind : name?.trim() || nameFrom(label),
      type: isNameField(kind) ? 'text' : kind,
    }
    const field = await createContactField(
      deps,
      account.id,
      checked(operations.createContactField, asked),
    )
    return redirect(`${base}/fields`, {
      flash: `The field “${field.label}” is made`,
      audit: auditOf(operations.createContactField, { target: field.id }),
    })
  })

  const fieldOf = ({ account, params }: Visit) =>
    requireContactField(deps.store.read, account.id, params.id ?? '')
  const showOld = async (visit: Visit, faults: Faults) =>
    showField(visit, await fieldOf(visit), faults)
  pages.get('/fields/:id', 'contacts.read', (visit) => showOld(visit, noFaults))
  const changing = { action: 'contacts.write', form: FieldForm, again: showOld } as const
  pages.post('/fields/:id', changing, async ({ account, base, params, form }) => {
    refuseSlips(form)
    const asked = { ...givenBy(form), ...(form.type !== undefined && { type: form.type }) }
    const given = checked(operations.updateContactField, asked)
    const { id, label } = await updateContactField(deps, account.id, params.id ?? '', given)
    return redirect(`${base}/fields`, {
      flash: `“${label}” is saved`,
      audit: auditOf(operations.updateContactField, { target: id }),
    })
  })
  const moving = { action: 'contacts.write', form: MoveForm } as const
  pages.post('/fields/:id/move', moving, async ({ account, base, params, form }) => {
    const { id, label, position } = await moveContactField(
      deps,
      account.id,
      params.id ?? '',
      form.way,
    )
    return redirect(`${base}/fields`, {
      flash: `“${label}” is at place ${position + 1} now`,
      audit: auditOf(operations.updateContactField, { target: id, detail: { moved: form.way } }),
    })
  })
  const deleting = { action: 'contacts.write', again: showOld } as const
  pages.post('/fields/:id/delete', deleting, async ({ account, base, params }) => {
    const { id, label } = await deleteContactField(deps, account.id, params.id ?? '')
    return redirect(`${base}/fields`, {
      flash: `“${label}” is deleted; what contacts have in it stays`,
      audit: auditOf(operations.deleteContactField, { target: id, detail: { name: label } }),
    })
  })
}

/** What a form says, but for name and type; each choice has a line of its own. */
const givenBy = ({ label, choices, recipientsMayEdit }: (typeof FieldForm)['TYPE']) => ({
  label,
  choices: (choices ?? '')
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== ''),
  recipientsMayEdit: recipientsMayEdit !== undefined,
})

const maxChars = 80

/** What people type wrong, told in words for them: the contract's are for programs. Throws a 422. */
function refuseSlips(form: (typeof FieldForm)['TYPE']): void {
  const { label, choices } = givenBy(form)
  const name = form.name?.trim() ?? ''
  const length = [...label.trim()].length
  const tooLong = choices.find((choice) => [...choice].length > maxChars)
  const slip = (message: string, field: string) =>
    new ApiError('validation_error', message, { status: 422, fields: { field } })
  if (length === 0) throw slip('Write a label: what people read beside it', 'label')
  if (length > maxChars) {
    throw slip(`A label has at most ${maxChars} characters; this one has ${length}`, 'label')
  }
  if (choices.length > maxChoices) {
    const message = `A field has at most ${maxChoices} choices; these are ${choices.length}`
    throw slip(message, 'choices')
  }
  if (tooLong !== undefined) {
    const message = `A choice has at most ${maxChars} characters: “${tooLong.slice(0, 40)}…” has more`
    throw slip(message, 'choices')
  }
  if (name !== '' && !isFieldName(name)) {
    const rule = `at most 40 letters of a to z, digits and _, the first one a letter`
    throw slip(`A name in merge tags has ${rule}: leave it empty to have it made`, 'name')
  }
}

function showField(visit: Visit, field: ContactField | undefined, faults: Faults): PageAnswer {
  const { account, base, query } = visit
  const name = (query.get('name') ?? '').slice(0, 40)
  const view: EditFieldView = {
    base,
    accountId: account.id,
    mayWrite: visit.may('contacts.write'),
    field,
    action: `${base}/fields/${field?.id ?? 'new'}`,
    values: {
      name: field?.name ?? name,
      label: field?.label ?? name,
      type: field?.type ?? 'text',
      choices: (field?.choices ?? []).join('\n'),
      mayEdit: field?.recipientsMayEdit ?? false,
    },
    types: field === undefined ? kindChoices : isNameField(field.name) ? [] : typeChoices,
    faults,
  }
  return page('fields/one', view, { title: field?.label ?? 'New field' })
}
