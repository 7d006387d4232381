/*
 * What a contact's fields may hold. Limits: decisions.md, 'Sending' (metadata, names). A name is
 * one line, whatever a spreadsheet had in its cell, since it is used in subjects.
 */
export const maxNameLength = 200
export const maxMetadataBytes = 16 * 1024

/** A name as it is stored: on one line, trimmed; null for an empty one. */
export const cleanName = (name: string): string | null => name.replace(/\s+/g, ' ').trim() || null

/** Whether a name can be stored. SQLite would store half a surrogate pair as something else. */
export const isName = (name: string): boolean =>
  name.length <= maxNameLength && !/[^\P{Cc}\s]/u.test(name) && name.isWellFormed()

/**
 * The keys by which names are found, in lower case: the whole name, `ann obi`, and the last name alone. Null where
 * there is none, or it equals the whole. Composed letters make no difference (Unicode NFKC).
 */
export function nameKeys(
  first: string | null,
  last: string | null,
): { name_key: string | null; last_name_key: string | null } {
  const whole = [first, last].filter((name) => name !== null).join(' ')
  return {
    name_key: whole === '' ? null : nameKey(whole),
    last_name_key: first === null || last === null ? null : nameKey(last),
  }
}

/** A name, or its beginning, in the form in which names are compared. */
export const nameKey = (name: string): string => name.normalize('NFKC').toLowerCase()

/** Both as one JSON, the later over the earlier; undefined when it is too large to store. */
export function mergedMetadata(
  known: Record<string, unknown>,
  given: Record<string, unknown>,
): string | undefined {
  const merged = jsonOf({ ...known, ...given })
  return merged !== undefined && Buffer.byteLength(merged) <= maxMetadataBytes ? merged : undefined
}

/** The value as JSON; undefined for a value that JSON does not have. */
function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    // The value is nested deeper than the stack.
    return undefined
  }
}
