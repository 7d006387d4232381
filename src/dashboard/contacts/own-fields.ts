import { type FieldType, isNameField, typedValue, wantedOf } from '../../contact-fields/index.js'
import { ApiError } from '../../errors/index.js'
import type { KnownField } from '../../forms/index.js'
import type { Form } from '../../http/index.js'

/** A field of an account's own, as it stands in a form. */
export interface OwnField {
  key: string
  /** A text as it is; anything else as JSON. */
  value: string
  /** What the page showed; undefined of a new field. */
  was?: string
}

/** One of them with what people read of it. */
export interface OwnFieldRow extends OwnField {
  label: string
  type: FieldType
  choices: readonly string[]
}

type Fields = readonly KnownField[]

// What of those that nobody has described a page has room for; the API has all.
const mostShown = 50

/**
 * The fields that a form shows, those first that the account has described, what was typed into it before those that are
 * stored, and how many more there are.
 */
export function fieldRows(
  metadata: Readonly<Record<string, unknown>>,
  described: Fields,
  typed?: Form,
): { rows: OwnFieldRow[]; left: number } {
  const known = described.filter(({ name }) => !isNameField(name)).map(({ name }) => name)
  const others = Object.keys(metadata).filter((key) => !known.includes(key))
  const stored = [...known, ...others.slice(0, mostShown)].map((key) => {
    const value = Object.hasOwn(metadata, key) ? written(metadata[key]) : ''
    return { key, value, was: value }
  })
  const sent = typed?.all('key') ?? []
  const values = typed?.all('value') ?? []
  const before = typed?.all('was') ?? []
  const rows =
    sent.length > 0
      ? sent.map((key, at) => ({ key, value: values[at] ?? '', was: before[at] ?? '' }))
      : stored
  return {
    rows: rows.map((row) => ({ ...row, ...inputOf(row, described) })),
    left: Math.max(0, others.length - mostShown),
  }
}

/** How it is typed: what is stored and no value of the field's type stays to be seen, as a text or one more choice. */
function inputOf({ key, value }: OwnField, described: Fields): Omit<OwnFieldRow, keyof OwnField> {
  const field = described.find(({ name }) => name === key)
  if (field === undefined) return { label: key, type: 'text', choices: [] }
  const { label, type } = field
  const fits = value === '' || typedValue(field, value) !== undefined
  if (type === 'date' && !fits) return { label, type: 'text', choices: [] }
  return { label, type, choices: fits ? field.choices : [...field.choices, value] }
}

/** The rows as a form has sent them. */
export const sentRows = (
  form: Readonly<Record<'key' | 'value' | 'was', readonly string[]>>,
): OwnField[] =>
  form.key.map((key, at) => ({ key, value: form.value[at] ?? '', was: form.was[at] ?? '' }))

export const written = (value: unknown) =>
  typeof value === 'string' ? value : JSON.stringify(value)

/**
 * What a form changes of the fields that are stored: what stands there as the page showed it is left as it is, whatever
 * it has become since; what is empty goes. A field that the account has described takes what its type says (else a 422);
 * another that was no text stays of its type where what was typed is JSON.
 */
export function fieldChanges(
  metadata: Readonly<Record<string, unknown>>,
  rows: readonly OwnField[],
  described: Fields,
): { metadata: Record<string, unknown>; removeMetadata: string[] } {
  const changed: Record<string, unknown> = {}
  const gone: string[] = []
  for (const { key: given, value, was } of rows) {
    const key = was === undefined ? given.trim() : given
    if (key === '') continue
    const known = Object.hasOwn(metadata, key) ? metadata[key] : undefined
    const shown = was ?? (known === undefined ? undefined : written(known))
    // A field of one line loses line ends (HTML §4.10.5.1.2), and what nobody touched is not changed.
    if (shown?.replace(/[\r\n]/g, '') === value) continue
    refuseName(key, was === undefined ? 'newKey' : 'value')
    if (value !== '') changed[key] = ownValue(described, key, value, known)
    else if (known !== undefined) gone.push(key)
  }
  return { metadata: changed, removeMetadata: gone }
}

/** Programs read this name as something else than a field, some of ours among them: what is in it would be lost. */
function refuseName(key: string, field: string): void {
  if (key !== '__proto__') return
  throw new ApiError('validation_error', 'No field can be called __proto__: choose another name', {
    status: 422,
    fields: { field },
  })
}

/** What was typed as the value of a field; `known`: what it was. Throws a 422 where the account has said that it takes something else. */
export function ownValue(described: Fields, key: string, typed: string, known?: unknown): unknown {
  const field = described.find(({ name }) => name === key)
  if (field === undefined) return typeof known === 'string' ? typed : typedAs(known, typed)
  const value = typedValue(field, typed.trim())
  if (value !== undefined) return value
  throw new ApiError('validation_error', wantedOf(field), {
    status: 422,
    fields: { field: 'value' },
  })
}

function typedAs(known: unknown, value: string): unknown {
  if (known === undefined) return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}
