import { isJsonObject } from '../../json/index.js'

/** Is told what is wrong, in words for the person who wrote the definition. */
export type SayFault = (error: string) => void

/** What a field has to be: says what is wrong with a value, beginning with the field's name. */
export type Check = (value: unknown, name: string, say: SayFault) => void

/** The fields of an object, by their names, with what each has to be. */
export type FieldChecks = Record<string, { check: Check; required?: true; takesNull?: true }>

/** A field that has to be there. */
export const must = (check: Check) => ({ check, required: true }) as const
/** A field that may be absent. */
export const may = (check: Check) => ({ check })

/**
 * Holds an object against its table of fields. A field that the table lacks is refused: it does nothing.
 * Null in an optional field means absent (decisions.md, Errors) and is taken out, but where null is a value.
 */
export function checkFields(
  fields: FieldChecks,
  value: unknown,
  name: string,
  say: SayFault,
): void {
  if (!isJsonObject(value)) {
    say(`${name}: expected an object`)
    return
  }
  // What is outermost has no name in what clients send: its fields are named as they stand there.
  const isOutermost = name === 'config' || name === 'definition'
  const within = (field: string) => (isOutermost ? field : `${name}.${field}`)
  for (const [field, { check, required, takesNull }] of Object.entries(fields)) {
    const absent = value[field] === null && required !== true && takesNull !== true
    if (absent) delete value[field]
    else if (Object.hasOwn(value, field)) check(value[field], within(field), say)
    else if (required === true) say(`${within(field)} is missing`)
  }
  for (const field of Object.keys(value)) {
    if (!Object.hasOwn(fields, field))
      say(`${within(shown(field))} is not a field that is known here`)
  }
}

/** A check by a test; `expected` completes 'expected …'. */
export const is =
  (expected: string, test: (value: unknown) => boolean): Check =>
  (value, name, say) => {
    if (!test(value)) say(`${name}: expected ${expected}`)
  }

/** A check of text by a test. */
export const isText = (expected: string, test: (value: string) => boolean): Check =>
  is(expected, (value) => typeof value === 'string' && value.isWellFormed() && test(value))

/** A check for one of these texts. */
export const oneOf = (...values: string[]): Check =>
  is(values.map((value) => `"${value}"`).join(' or '), (value) => values.some((v) => v === value))

/**
 * Checks are functions that are put together, so that a fault is named by its whole path
 * (`settings.sendWindow.from`), wherever the check stands.
 */
export const object =
  (fields: FieldChecks): Check =>
  (value, name, say) =>
    checkFields(fields, value, name, say)

/** A client's text in a message: as much as helps to find it. */
export const shown = (text: string): string =>
  JSON.stringify(text.length > 64 ? `${text.slice(0, 64)}…` : text).slice(1, -1)
