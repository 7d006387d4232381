/*
 * What a contact's fields may hold. Limits: decisions.md, 'Sending' (metadata, names); a name is
 * one line, whatever a spreadsheet had in its cell, since it ends up in subjects.
 */
export const maxNameLength = 200
export const maxMetadataBytes = 16 * 1024

/** A name as it is kept: on one line, trimmed; null for an empty one. */
export const cleanName = (name: string): string | null => name.replace(/\s+/g, ' ').trim() || null

/** Whether a name can be kept. SQLite would store half a surrogate pair as something else. */
export const isName = (name: string): boolean =>
  name.length <= maxNameLength && !/[^\P{Cc}\s]/u.test(name) && name.isWellFormed()

/**
 * What names are found by, in small letters: both as they are said, `ann obi`, and the last one alone. Null where there
 * is none, or the whole is the same. Composed letters do not tell two apart (Unicode NFKC).
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

/** A name, or the beginning of one, as names are compared. */
export const nameKey = (name: string): string => name.normalize('NFKC').toLowerCase()

/** Both as JSON, the later over the earlier; undefined when that is too large to keep. */
export function mergedMetadata(
  known: Record<string, unknown>,
  given: Record<string, unknown>,
): string | undefined {
  const merged = jsonOf({ ...known, ...given })
  return merged !== undefined && Buffer.byteLength(merged) <= maxMetadataBytes ? merged : undefined
}

/** The value as JSON; undefined for one that has none. */
function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch {
    // Nested deeper than the stack.
    return undefined
  }
}
