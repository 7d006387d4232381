import type { FieldType } from '../../contact-fields/index.js'

/** What each type is called where somebody chooses. */
export const typeWords: Readonly<Record<FieldType, string>> = {
  text: 'Text',
  number: 'Number',
  date: 'Date',
  choice: 'Choice',
}

export const typeChoices = Object.entries(typeWords).map(([value, label]) => ({ value, label }))

/** What a new field may be; the last two are names of the contact. */
export const kindChoices = [
  ...typeChoices,
  { value: 'firstName', label: 'First name' },
  { value: 'lastName', label: 'Last name' },
]
