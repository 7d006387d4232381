import type { Struct } from 'superstruct'
import { ApiError, OperatorError } from '../../errors/index.js'
import { convert, ShapeError } from '../../fields/index.js'
import type { Form } from '../../http/index.js'
import { timesIn } from '../format.js'
import { faultWords } from './fault-words.js'

/** What is wrong with a form that was sent, and what was typed into it; a page shows both again. */
export interface Faults {
  /** What is wrong with the form as a whole. */
  message: string | undefined
  /** By the name of the field. */
  fields: Record<string, string>
  /** What was sent, by the name of the field: a page shows it in place of its own values. */
  values: Record<string, string | string[]>
  /** The fields of the form that was sent: other forms of the page show their own values. */
  asked?: readonly string[]
  /**
   * Where the faults are on the page, for the list above it. The parts of the page fill this in when they are made.
   */
  places?: Map<string, FaultPlace>
}

/** Where a page has the field of a fault, and what it calls that field. */
export interface FaultPlace {
  id: string
  label: string
  /** The fault does not name its field, such as 'Fill this in'. */
  isNameless: boolean
}

/** For a form that is shown for the first time. */
export const noFaults: Faults = { message: undefined, fields: {}, values: {} }

/**
 * Throws a `ShapeError`. A field that is an array in the struct gets all values of that name; others get the first
 * one.
 */
export function formOf<F>(form: Form, struct: Struct<F>): F {
  return convert(valuesOf(form, struct), struct)
}

/**
 * Runs all checks, and throws all faults at once: nobody should mend one fault only to be told of the next. `named`:
 * the form's name for a part of what was checked, where that is not the last name of its path.
 */
export function checkAll(
  checks: readonly (() => void)[],
  named: (path: readonly string[]) => string | undefined = () => undefined,
): void {
  const found: PlacedFault[] = []
  for (const check of checks) {
    try {
      check()
    } catch (error) {
      const placed = placedIn(error)
      if (placed === undefined) throw error
      found.push(...placed.map((one) => ({ ...one, name: named(one.path) })))
    }
  }
  if (found.length > 0) throw new SeveralFaults(found)
}

/** Like `checkAll`, one after the other, for checks that take time. */
export async function checkEach(checks: readonly (() => Promise<void>)[]): Promise<void> {
  const done: (() => void)[] = []
  for (const check of checks) {
    const outcome = await check().then(
      () => () => {},
      (error: unknown) => () => {
        throw error
      },
    )
    done.push(outcome)
  }
  checkAll(done)
}

/** What is wrong at one place of the input. */
interface PlacedFault {
  path: readonly string[]
  says: string
  /** The words do not name their field. */
  isNameless: boolean
  /** The field of the form, where that is known already. */
  name?: string | undefined
}

class SeveralFaults extends Error {
  readonly found: readonly PlacedFault[]

  constructor(found: readonly PlacedFault[]) {
    super(found.map(({ says }) => says).join('; '))
    this.name = 'SeveralFaults'
    this.found = found
  }
}

/** The faults of an error that names places; undefined: it names none. */
function placedIn(error: unknown): readonly PlacedFault[] | undefined {
  if (error instanceof SeveralFaults) return error.found
  if (error instanceof ShapeError) {
    return error.parted.map((issue) => ({
      path: issue.path,
      says: faultWords(issue),
      isNameless: issue.misfit?.wanted !== undefined || issue.misfit?.isMissing === true,
    }))
  }
  if (!(error instanceof ApiError) || error.slips.length === 0) return undefined
  return error.slips.map(({ field, says }) => ({
    path: field.split('.'),
    says,
    isNameless: true,
  }))
}

/** What a refused form shows; undefined for an error that is not the sender's fault. */
export function faultsOf<F>(error: unknown, form: Form, struct?: Struct<F>): Faults | undefined {
  const values = struct === undefined ? {} : valuesOf(form, struct)
  const asked = Object.keys(fieldsOf(struct))
  const placed = placedIn(error)
  if (placed !== undefined) return faultsAt(placed, { values, asked })
  if (error instanceof OperatorError) {
    const { message, advice } = error
    const whole = advice === undefined ? message : `${message}: ${advice}`
    return { message: whole, fields: {}, values, asked }
  }
  if (!(error instanceof ApiError) || isOurs(error)) return undefined
  const at = fieldIn(error, asked)
  if (at === undefined) return { message: error.message, fields: {}, values, asked }
  return faultsAt([at], { values, asked })
}

/** The same with moments in the zone of who reads them. */
export const faultsIn = (faults: Faults, zone: string): Faults => ({
  ...faults,
  message: faults.message && timesIn(faults.message, zone),
  fields: Object.fromEntries(
    Object.entries(faults.fields).map(([name, says]) => [name, timesIn(says, zone)]),
  ),
})

/** Each fault at its field; where a field has several, the first. */
function faultsAt(
  found: readonly PlacedFault[],
  form: { values: Faults['values']; asked: readonly string[] },
): Faults {
  const fields: Record<string, string> = {}
  const places = new Map<string, FaultPlace>()
  for (const { path, says, isNameless, name = askedIn(path, form.asked) } of found) {
    if (fields[name] !== undefined) continue
    fields[name] = says
    places.set(name, { id: `field-${name}`, label: '', isNameless })
  }
  const { '': message, ...named } = fields
  return { message, fields: named, places, ...form }
}

/** The form's field of a fault: forms ask for parts of a table, such as colours, by names of their own. */
function askedIn(path: readonly string[], asked: readonly string[]): string {
  const [first = ''] = path
  return asked.includes(first) ? first : (path.findLast((part) => asked.includes(part)) ?? first)
}

// A 503 does not count as our fault here: with a paused account or a full disk, what was typed must not be lost.
const isOurs = ({ code }: ApiError) => code === 'application_error'

// Finds the form's field that an error is about. Domain functions name it in `fields`, or before the message ('email:
// not an address'), where people read their own word for it.
function fieldIn({ fields, message }: ApiError, names: string[]): PlacedFault | undefined {
  const name = names.find((one) => one === fields.field)
  if (name !== undefined) return { path: [name], says: message, isNameless: false }
  const [before = '', named = ''] = /^(\w+)(?:\[\d+\])?: */.exec(message) ?? []
  if (!names.includes(named)) return undefined
  const says = message.slice(before.length)
  return { path: [named], says: says.charAt(0).toUpperCase() + says.slice(1), isNameless: true }
}

/** What was sent for the fields that the form has; others are left out, so that nobody can add fields. */
function valuesOf<F>(form: Form, struct: Struct<F>): Record<string, string | string[]> {
  const values: Record<string, string | string[]> = {}
  for (const [name, field] of Object.entries(fieldsOf(struct))) {
    const sent = form.all(name).map(withPlainLineEnds)
    if (field.type === 'array') values[name] = sent
    // Browsers send an empty text for a field that nobody filled in.
    else if (sent[0] !== undefined && (sent[0] !== '' || !field.is(undefined))) {
      values[name] = sent[0]
    }
  }
  return values
}

// HTML §4.10.21.4: a text of several lines is sent with CR LF, which the API's clients do not send.
const withPlainLineEnds = (text: string) => text.replace(/\r\n/g, '\n')

const fieldsOf = <F>(struct: Struct<F> | undefined) =>
  (struct?.schema ?? {}) as Record<string, Struct<unknown>>
