/** What a field of a contact takes, in a form, in the preference centre and on a contact's page. */
export const fieldTypes = ['text', 'number', 'date', 'choice'] as const
export type FieldType = (typeof fieldTypes)[number]

/** How many fields an account may have: a page, a menu and the preference centre show all of them. */
export const maxContactFields = 50

/** Of a choice: a menu shows all of them. */
export const maxChoices = 50

/** Whether a field may be called so, as merge tags can say it. */
export const isFieldName = (name: string): boolean => /^[A-Za-z]\w{0,39}$/.test(name)

/** The most characters of a value that somebody types. */
export const maxTypedChars = 300

/** The contact's own names, which are no metadata. */
const nameFields = ['firstName', 'lastName'] as const
export type NameField = (typeof nameFields)[number]
export const isNameField = (name: string): name is NameField =>
  nameFields.some((one) => one === name)

/** What was typed, as a value of the field's type; undefined for anything else. `typed` is trimmed, and not empty. */
export function typedValue(
  { type, choices = [] }: { type: FieldType; choices?: readonly string[] | undefined },
  typed: string,
): string | number | undefined {
  if (typed.length > maxTypedChars || !typed.isWellFormed() || /\p{Cc}/u.test(typed)) {
    return undefined
  }
  switch (type) {
    case 'text':
      return typed
    case 'choice':
      return choices.includes(typed) ? typed : undefined
    case 'date':
      return isDay(typed) ? typed : undefined
    case 'number':
      // At most 15 digits: with more, readers of JSON would change it.
      return /^-?\d{1,15}([.,]\d{1,15})?$/.test(typed) && typed.replace(/\D/g, '').length <= 15
        ? Number(typed.replace(',', '.'))
        : undefined
  }
}

/** Whether the day exists: `2026-02-30` does not. */
function isDay(typed: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(typed)) return false
  const at = Date.parse(`${typed}T00:00:00Z`)
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(typed)
}

/** What a field wants, told to whoever typed something else. */
export function wantedOf({ label, type }: { label: string; type: FieldType }): string {
  const wanted = {
    text: `at most ${maxTypedChars} characters on one line`,
    number: 'a number of at most 15 digits, such as 12 or 3.5',
    date: 'a day, such as 2026-11-29',
    choice: 'one of the choices',
  }[type]
  return `${label}: expected ${wanted}`
}
