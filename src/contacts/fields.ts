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
