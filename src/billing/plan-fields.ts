/** Reads one field of a plan: its value, or what was expected instead. */
export type FieldReader<T> = { expected: string; fallback: T; read(value: unknown): T | undefined }

/** The fields of one plan; `name` is read first, as every complaint says whose field it is. */
export interface PlanFields {
  readonly name: string
  take<T>(field: string, kind: FieldReader<T>): T
  fault(field: string, given: unknown, expected: string): void
}

/** Makes a plan of a table; names every field that is wrong, missing or unknown in `problems`. */
export function readFields<P>(
  table: unknown,
  place: string,
  problems: string[],
  plan: (fields: PlanFields) => P,
): P {
  const given: Record<string, unknown> =
    typeof table === 'object' && table !== null ? { ...table } : {}
  const taken = new Set(['name'])
  const name = text.read(given.name)
  const whose = name === undefined ? place : `plan "${name}"`
  const fault: PlanFields['fault'] = (field, value, expected) => {
    const shown = (JSON.stringify(value) ?? 'nothing').slice(0, 80)
    problems.push(`${whose}: ${field}: ${shown} given, expected ${expected}`)
  }
  if (name === undefined) fault('name', given.name, text.expected)
  const made = plan({
    name: name ?? '',
    take(field, kind) {
      taken.add(field)
      const value = kind.read(given[field])
      if (value === undefined) fault(field, given[field], kind.expected)
      return value === undefined ? kind.fallback : value
    },
    fault,
  })
  for (const field of Object.keys(given)) {
    if (!taken.has(field)) {
      problems.push(`${whose}: ${field}: no such field; known: ${[...taken].join(', ')}`)
    }
  }
  return made
}

/** A name in one line, without spaces around it. */
const text: FieldReader<string> = {
  expected: 'a text of 1 to 100 characters',
  fallback: '',
  read: (value) =>
    typeof value === 'string' && value.trim() === value && /^\P{Cc}{1,100}$/u.test(value)
      ? value
      : undefined,
}

/** A text that may be left out. */
export const optionalName: FieldReader<string | null> = {
  expected: `${text.expected}, or nothing`,
  fallback: null,
  read: (value) => (value === undefined ? null : text.read(value)),
}

/** A list of texts, which may be empty. */
export const names: FieldReader<readonly string[]> = {
  expected: `a list of texts, each ${text.expected}`,
  fallback: [],
  read: (value) =>
    Array.isArray(value) && value.every((item) => text.read(item) !== undefined)
      ? value
      : undefined,
}

/** An id. In lower case only, as rows are compared by it. */
export const uuid: FieldReader<string> = {
  expected: 'a UUID in lower case',
  fallback: '',
  read: (value) =>
    typeof value === 'string' &&
    /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(value)
      ? value
      : undefined,
}

/** True or false, said in so many words: there is no default in a plan. */
export const flag: FieldReader<boolean> = {
  expected: 'true or false',
  fallback: false,
  read: (value) => (typeof value === 'boolean' ? value : undefined),
}

/** A number within bounds. The fallback only stands in until the problems are thrown. */
export const wholeNumber = (min: number, max: number): FieldReader<number> => ({
  expected: `a whole number from ${min} to ${max}`,
  fallback: max,
  read: (value) =>
    typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max
      ? value
      : undefined,
})

/** As `limit`; `usual` for a field that is left out. */
export function optionalLimit(min: number, usual: number): FieldReader<number | null> {
  const given = limit(min)
  return {
    expected: `${given.expected}, or nothing`,
    fallback: usual,
    read: (value) => (value === undefined ? usual : given.read(value)),
  }
}

/** Null for "unlimited". */
export function limit(min: number): FieldReader<number | null> {
  const number = wholeNumber(min, 1e12)
  return {
    expected: `${number.expected}, or "unlimited"`,
    fallback: null,
    read: (value) => (value === 'unlimited' ? null : number.read(value)),
  }
}
