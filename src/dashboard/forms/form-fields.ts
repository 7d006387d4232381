import { createHash } from 'node:crypto'
import { array, optional, string, type } from 'superstruct'
import type { AskedField, FormSettings } from '../../forms/index.js'

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

/** The types that a row offers; the first two are names of the contact. */
export const fieldTypes = [
  { value: 'text', label: 'Text' },
  { value: 'choice', label: 'Choice' },
  { value: 'date', label: 'Date' },
  { value: 'firstName', label: 'First name' },
  { value: 'lastName', label: 'Last name' },
]

/** One row as it is shown. */
export interface FieldRow {
  name: string
  label: string
  type: string
  required: boolean
  choices: string
}

export const rowsOf = (fields: readonly AskedField[]): FieldRow[] =>
  Array.from({ length: Math.max(fieldRows, fields.length + 1) }, (_, at) => {
    const field = fields[at]
    if (field === undefined)
      return { name: '', label: '', type: 'text', required: false, choices: '' }
    const { name, label, type: kind, required, choices = [] } = field
    const isName = name === 'firstName' || name === 'lastName'
    return { name, label, type: isName ? name : kind, required, choices: choices.join('\n') }
  })

/** What was sent, as the API takes it; rows without a label are none. */
export function givenBy(form: EditedForm) {
  return {
    name: form.name,
    lists: form.lists,
    topics: form.topics,
    consent: form.consent,
    language: form.language as FormSettings['language'],
    from: form.from ?? '',
    thanksUrl: form.thanksUrl ?? '',
    doubleOptIn: form.doubleOptIn !== undefined,
    reminder: form.reminder !== undefined,
    keepAddress: form.keepAddress as FormSettings['keepAddress'],
    confirmAtOnce: form.confirmAtOnce !== undefined,
    api: form.open === undefined ? ('key' as const) : ('open' as const),
    origins: linesOf(form.origins ?? ''),
    fields: fieldsBy(form),
    ...(form.acceptRisk !== undefined && { acceptRisk: true }),
  }
}

const linesOf = (text: string): string[] =>
  text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '')

function fieldsBy(form: EditedForm): object[] {
  const taken = new Set([...form.fieldName, ...form.fieldType])
  return form.fieldLabel.flatMap((given, at) => {
    const label = given.trim()
    if (label === '') return []
    const kind = form.fieldType[at] ?? 'text'
    const isName = kind === 'firstName' || kind === 'lastName'
    const known = form.fieldName[at] ?? ''
    const isKept = known !== '' && known !== 'firstName' && known !== 'lastName'
    const choices = linesOf(form.fieldChoices[at] ?? '')
    return {
      name: isName ? kind : isKept ? known : freeName(nameFrom(label), taken),
      label,
      type: isName ? 'text' : kind,
      required: form.fieldRequired[at] === 'yes',
      ...(kind === 'choice' && { choices }),
    }
  })
}

/** Another one where a question of the form has the name already; `taken` has it from then on. */
function freeName(name: string, taken: Set<string>): string {
  let free = name
  for (let n = 2; taken.has(free); n++) free = `${name.slice(0, 36)}_${n}`
  taken.add(free)
  return free
}

/**
 * The name under which a contact has the answer: 'Favourite book' is `favouriteBook`. Of a label without such letters
 * it is made, the same for the same label in every form.
 */
function nameFrom(label: string): string {
  const plain = label.normalize('NFD').replace(/\p{M}/gu, '')
  const words = plain.toLowerCase().match(/[a-z0-9]+/g) ?? []
  const name = words
    .map((word, at) => (at === 0 ? word : word.charAt(0).toUpperCase() + word.slice(1)))
    .join('')
    .slice(0, 40)
  if (/^[a-z]/i.test(name)) return name
  return `field${createHash('sha256').update(label).digest('hex').slice(0, 8)}`
}
