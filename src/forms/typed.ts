import { isNameField, maxTypedChars, typedValue } from '../contact-fields/index.js'
import { type Mailbox, parseMailbox } from '../mime/index.js'
import type { Typed } from './entry.js'
import type { FormSettings } from './form.js'
import type { FormWords } from './words/words.js'

/** The page's own fields have names too, so a field of the form is sent as `field-` and its name. */
export const sentName = (name: string): string => `field-${name}`

/** A submission before it is checked. */
export interface SentFields {
  email: string
  agreed: boolean
  /** By the field's name. */
  values: ReadonlyMap<string, string>
  topics: readonly string[]
  /** The shown topics; undefined: none were shown, and nothing was chosen. */
  offered: readonly string[] | undefined
}

/** What is wrong, by field; `email` and `agreed` are two of them. */
export type TypedFaults = ReadonlyMap<string, string>

const misfits = {
  text: 'missing',
  choice: 'noChoice',
  number: 'noNumber',
  date: 'noDate',
} as const

/** A wrong choice is sent by no page, only by programs: they are told what there is. */
const misfit = (
  words: FormWords,
  type: keyof typeof misfits,
  choices: readonly string[],
): string => (type === 'choice' ? `${words.noChoice} ${choices.join(', ')}` : words[misfits[type]])

/** Checks a submission against what the form asks. */
export function readTyped(
  settings: FormSettings,
  given: SentFields,
  words: FormWords,
): { faults: TypedFaults } | { mailbox: Mailbox; typed: Typed } {
  const faults = new Map<string, string>()
  const mailbox = given.email.length > 320 ? undefined : parseMailbox(given.email.trim())
  if (mailbox === undefined || mailbox.address.endsWith('.')) faults.set('email', words.noAddress)
  if (!given.agreed) faults.set('agreed', words.agree)
  const typed: Typed = { metadata: {}, offered: [] }
  for (const { name, type, required, choices = [] } of settings.fields) {
    const value = (given.values.get(name) ?? '').trim()
    if (value === '') {
      if (required) faults.set(name, words.missing)
      continue
    }
    const kept = typedValue({ type, choices }, value)
    if (value.length > maxTypedChars) faults.set(name, words.tooLong)
    else if (kept === undefined) faults.set(name, misfit(words, type, choices))
    else if (isNameField(name)) typed[name] = value
    else typed.metadata[name] = kept
  }
  if (mailbox === undefined || faults.size > 0) return { faults }
  if (given.offered !== undefined) {
    const among = (ids: readonly string[]) => {
      const given = new Set(ids.map((id) => id.toLowerCase()))
      return settings.topics.map((id) => id.toLowerCase()).filter((id) => given.has(id))
    }
    typed.topics = among(given.topics)
    typed.offered = among([...given.offered, ...given.topics])
  }
  return { mailbox, typed }
}
