/** What is merged into a contact's mail. */
export interface MergedContact {
  email: string
  firstName: string | null
  lastName: string | null
  /** JSON. */
  metadata: string | null
}

/** Somebody of whom nothing is known. */
export const stranger: MergedContact = {
  email: 'someone@example.org',
  firstName: null,
  lastName: null,
  metadata: null,
}

/**
 * The names of merge tags: those of the contact, and each of its metadata, by itself where that is no
 * other's name and under `metadata` always.
 */
export function mergeValues({ email, firstName, lastName, metadata }: MergedContact) {
  const own: Record<string, unknown> = metadata === null ? {} : JSON.parse(metadata)
  return { ...own, metadata: own, email, firstName, lastName }
}
