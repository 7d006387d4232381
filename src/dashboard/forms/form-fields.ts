import { array, optional, string, type } from 'superstruct'
import { isLanguage } from '../../accounts/index.js'
import {
  type ContactField,
  type FieldType,
  isNameField,
  nameFrom,
} from '../../contact-fields/index.js'
import { type AskedField, consentIn, type FormSettings } from '../../forms/index.js'
import { checkAll } from '../shell/faults.js'

/** The form about a form, as a browser sends it: a question of it is a row of four values. */
export const EditedForm = type({
  name: string(),
  lists: array(string()),
  topics: array(string()),
  consent: string(),
  language: string(),
  from: optional(string()),
  thanksUrl: optional(string()),
  doubleOptIn: optional(string()),
  acceptRisk: optional(string()),
  reminder: optional(string()),
  keepAddress: string(),
  confirmAtOnce: optional(string()),
  open: optional(string()),
  origins: optional(string()),
  fieldName: array(string()),
  fieldLabel: array(string()),
  fieldType: array(string()),
  fieldRequired: array(string()),
  fieldChoices: array(string()),
})
export type EditedForm = (typeof EditedForm)['TYPE']

/** How many rows of questions a page has. */
export const fieldRows = 6

/** What a row may ask for: something new, a name of the contact, or a field that the account has described. */
export function questionKinds(own: readonly ContactField[]): { value: string; label: string }[] {
  return [
    { value: 'text', label: 'Text' },
    { value: 'number', label: 'Number' },
    { value: 'choice', label: 'Choice' },
    { value: 'date', label: 'Date' },
    { value: 'firstName', label: 'First name' },
    { value: 'lastName', label: 'Last name' },
    ...own
      .filter(({ name }) => !isNameField(name))
      .map(({ name, label }) => ({ value: ownKind(name), label: `Your field “${label}”` })),
  ]
}

const ownKind = (name: string) => `own:${name}`

/** One row as it is shown. */
export interface FieldRow {
  name: string
  label: string
  type: string
  required: boolean
  choices: string
}

export const rowsOf = (fields: readonly AskedField[], own: readonly ContactField[]): FieldRow[] =>
  Array.from({ length: Math.max(fieldRows, fields.length + 1) }, (_, at) => {
    const field = fields[at]
    if (field === undefined)
      return { name: '', label: '', type: 'text', required: false, choices: '' }
    const { name, label, type: kind, required, choices = [] } = field
    const isOwn = own.some((one) => one.name === name)
    const type = isNameField(name) ? name : isOwn ? ownKind(name) : kind
    return { name, label, type, required, choices: isOwn ? '' : choices.join('\n') }
  })

/** Whether a row asks for something. */
export const isAsked = ({ label, type }: FieldRow): boolean =>
  label.trim() !== '' || type.startsWith(ownKind(''))

/** The rows as they were typed. */
export const rowsTyped = (form: { all(name: string): readonly string[] }): FieldRow[] =>
  form.all('fieldName').map((name, at) => ({
    name,
    label: form.all('fieldLabel')[at] ?? '',
    type: form.all('fieldType')[at] ?? 'text',
    required: form.all('fieldRequired')[at] === 'yes',
    choices: form.all('fieldChoices')[at] ?? '',
  }))

/** What was sent, as the API takes it; rows without a label are none, but for a field of the account's. */
export function givenBy(form: EditedForm, own: readonly ContactField[]) {
  return {
    name: form.name,
    lists: form.lists,
    topics: form.topics,
    consent: isLanguage(form.language) ? consentIn(form.language, form.consent) : form.consent,
    language: form.language as FormSettings['language'],
    from: form.from ?? '',
    thanksUrl: form.thanksUrl?.trim() ?? '',
    doubleOptIn: form.doubleOptIn !== undefined,
    reminder: form.reminder !== undefined,
    keepAddress: form.keepAddress as FormSettings['keepAddress'],
    confirmAtOnce: form.confirmAtOnce !== undefined,
    api: form.open === undefined ? ('key' as const) : ('open' as const),
    origins: linesOf(form.origins ?? ''),
    fields: questionsBy(form, own).map(({ at: _, ...question }) => question),
    ...(form.acceptRisk !== undefined && { acceptRisk: true }),
  }
}

const linesOf = (text: string): string[] =>
  text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '')

interface TypedQuestion {
  /** Its row. */
  at: number
  name: string
  label?: string
  type?: FieldType
  required: boolean
  choices?: string[]
}

function questionsBy(form: EditedForm, own: readonly ContactField[]): TypedQuestion[] {
  const taken = new Set([...form.fieldName, ...form.fieldType])
  return form.fieldLabel.flatMap((given, at) => {
    const label = given.trim()
    const kind = form.fieldType[at] ?? 'text'
    const required = form.fieldRequired[at] === 'yes'
    const ours = own.find(({ name }) => ownKind(name) === kind)
    if (ours !== undefined) return { at, name: ours.name, required, ...(label !== '' && { label }) }
    if (label === '') return []
    const isName = isNameField(kind)
    const known = form.fieldName[at] ?? ''
    // A row that asked for a field of the account's and now asks for something new gets a name of its own.
    const isKept = known !== '' && !isNameField(known) && !own.some(({ name }) => name === known)
    const choices = linesOf(form.fieldChoices[at] ?? '')
    return {
      at,
      name: isName ? kind : isKept ? known : freeName(nameFrom(label), taken),
      label,
      type: isName ? 'text' : (kind as FieldType),
      required,
      ...(kind === 'choice' && { choices }),
    }
  })
}

/** Throws all that is wrong with a form, each at its field; of a question in its row. */
export function checkTyped(
  form: EditedForm,
  own: readonly ContactField[],
  checks: readonly (() => void)[],
): void {
  const rows = questionsBy(form, own).map(({ at }) => at)
  checkAll(checks, ([first, place, part = 'label']) => {
    const row = first === 'fields' ? rows[Number(place)] : undefined
    return row === undefined ? undefined : `${partsOfRow[part] ?? 'label'}-${row}`
  })
}

/** What a row calls the parts of a question; its name is chosen by its kind. */
const partsOfRow: Readonly<Record<string, string>> = {
  name: 'type',
  type: 'type',
  choices: 'choices',
}

/** Another one where a question of the form has the name already; `taken` has it from then on. */
function freeName(name: string, taken: Set<string>): string {
  let free = name
  for (let n = 2; taken.has(free); n++) free = `${name.slice(0, 36)}_${n}`
  taken.add(free)
  return free
}
