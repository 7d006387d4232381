/**
 * What a column of JSON holds, and null where there is none. Undefined where it is broken (by a bug, a hand
 * in the database, a damaged page): who lists many rows shows the others all the same.
 */
export function storedJson(text: string | null): unknown {
  if (text === null) return null
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The object in such a column; empty where there is none, or what is there is broken. */
export function storedObject<Value>(text: string | null): Record<string, Value> {
  const value = storedJson(text)
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
  return isObject ? (value as Record<string, Value>) : {}
}

/** The texts of the list in such a column; undefined where it is no list of texts. */
export function storedTexts(text: string): string[] | undefined {
  const value = storedJson(text)
  return Array.isArray(value) && value.every((one) => typeof one === 'string') ? value : undefined
}
