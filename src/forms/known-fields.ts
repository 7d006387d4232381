import { type ContactField, listContactFields } from '../contact-fields/index.js'
import type { Read } from '../store/index.js'
import { listForms } from './form.js'

/** What is known of a field: its name for people, and what may be typed into it. */
export type KnownField = Pick<ContactField, 'name' | 'label' | 'type' | 'choices'>

/**
 * The fields that an account has described, and beside these what its forms have asked, in the words of the newest form
 * that asks it.
 */
export async function knownFields(
  read: Read,
  accountId: string,
  metadata: Readonly<Record<string, unknown>>,
): Promise<readonly KnownField[]> {
  const described = await listContactFields(read, accountId)
  const names = new Set(described.map(({ name }) => name.toLowerCase()))
  const others = new Set(Object.keys(metadata).filter((name) => !names.has(name.toLowerCase())))
  if (others.size === 0) return described
  const asked = new Map<string, KnownField>()
  for (const { settings } of await listForms(read, accountId)) {
    for (const { name, label, type, choices = [] } of settings.fields) {
      if (others.has(name) && !asked.has(name)) asked.set(name, { name, label, type, choices })
    }
  }
  return [...described, ...asked.values()]
}
