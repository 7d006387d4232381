import { type Json, type JsonObject, jsonBytes } from '../../json/index.js'
import { limits, type RunContact, type UpdateConfig, type Variable } from '../definition/index.js'

/** What `contact_update` changes; null takes a name away, or a key of metadata. */
export interface ContactChanges {
  firstName?: string | null
  lastName?: string | null
  metadata?: JsonObject
}

/**
 * The changes with their variables filled in; a field that is missing changes nothing. Undefined if a name would be no
 * text.
 */
export function changesOf(
  { firstName, lastName, metadata }: UpdateConfig,
  resolve: (value: Json | Variable) => Json | undefined,
): ContactChanges | undefined {
  const changes: ContactChanges = {}
  for (const [name, given] of Object.entries({ firstName, lastName })) {
    const value = given === undefined ? undefined : resolve(given)
    if (value === undefined) continue
    if (value !== null && !isName(value)) return undefined
    const kept = value?.replace(/\s+/g, ' ').trim() || null
    changes[name === 'firstName' ? 'firstName' : 'lastName'] = kept
  }
  if (metadata !== undefined) {
    const values = Object.entries(metadata).flatMap(([name, given]) => {
      const value = resolve(given)
      return value === undefined ? [] : [[name, value] as const]
    })
    changes.metadata = Object.fromEntries(values)
  }
  return changes
}

/** The contact after the changes; undefined if its metadata would be too large. */
export function changed(contact: RunContact, changes: ContactChanges): RunContact | undefined {
  const merged = Object.entries({ ...contact.metadata, ...changes.metadata })
  const metadata = Object.fromEntries(merged.filter(([, value]) => value !== null))
  if (jsonBytes(metadata) > limits.contactMetadataBytes) return undefined
  const { firstName = contact.firstName, lastName = contact.lastName } = changes
  return { ...contact, firstName, lastName, metadata }
}

// The same rule as when contacts are added (decisions.md, 'Sending'): a name stands in headers, on one line.
const isName = (value: Json): value is string =>
  typeof value === 'string' &&
  value.length <= limits.nameLength &&
  value.isWellFormed() &&
  !/\p{Cc}/u.test(value)
