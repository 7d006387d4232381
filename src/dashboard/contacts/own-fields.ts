import type { Form } from '../../http/index.js'

/** A field of an account's own, as it stands in a form. */
export interface OwnField {
  key: string
  /** A text as it is; anything else as JSON. */
  value: string
  /** What the page showed; undefined of a new field. */
  was?: string
}

// What of them a page has room for; the API has all.
const mostShown = 50

/** The fields that a form shows, what was typed into it before those that are stored, and how many more there are. */
export function fieldRows(
  metadata: Readonly<Record<string, unknown>>,
  typed: Form | undefined,
): { rows: OwnField[]; left: number } {
  const keys = Object.keys(metadata)
  const stored = keys.slice(0, mostShown).map((key) => {
    const value = written(metadata[key])
    return { key, value, was: value }
  })
  const sent = typed?.all('key') ?? []
  const values = typed?.all('value') ?? []
  const before = typed?.all('was') ?? []
  const rows =
    sent.length > 0
      ? sent.map((key, at) => ({ key, value: values[at] ?? '', was: before[at] ?? '' }))
      : stored
  return { rows, left: Math.max(0, keys.length - mostShown) }
}

const written = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))

/**
 * What a form changes of the fields that are stored: what stands there as the page showed it is left as it is, whatever
 * it has become since; what is empty goes. A field that was no text stays of its type where what was typed is JSON.
 */
export function fieldChanges(
  metadata: Readonly<Record<string, unknown>>,
  rows: readonly OwnField[],
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
    if (value !== '') changed[key] = typeof known === 'string' ? value : typedAs(known, value)
    else if (known !== undefined) gone.push(key)
  }
  return { metadata: changed, removeMetadata: gone }
}

function typedAs(known: unknown, value: string): unknown {
  if (known === undefined) return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}
