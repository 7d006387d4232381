import { isJsonObject, type JsonObject, jsonObjectIn } from '../../json/index.js'

/** What an event says, as it is typed: `total = 5` a line, or JSON as programs write it. Undefined for what is neither. */
export function eventFields(typed: string): JsonObject | undefined {
  if (typed.startsWith('{')) return jsonObjectIn(typed)
  const lines = typed.split('\n').map((line) => /^\s*([^=]+?)\s*=\s*(.*?)\s*$/.exec(line))
  if (lines.some((line) => line === null)) return undefined
  return Object.fromEntries(
    lines.map((line) => {
      const [, name = '', value = ''] = line ?? []
      return [name, /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value]
    }),
  )
}

const places: Readonly<Record<string, string>> = {
  listId: 'List',
  segmentId: 'Segment',
  formId: 'Form',
}

/** What an event of the appliance said, with what is named by an id: `List “Readers”`. Undefined for what has no such words. */
export function ownFieldWords(
  sample: unknown,
  names: ReadonlyMap<string, string>,
): string | undefined {
  if (!isJsonObject(sample)) return undefined
  const words = Object.entries(sample).map(([field, value]) => {
    const place = places[field]
    if (place === undefined || typeof value !== 'string') return undefined
    const name = names.get(value.toLowerCase())
    return name === undefined ? `${place} that is deleted` : `${place} “${name}”`
  })
  const known = words.filter((one) => one !== undefined)
  return words.length > 0 && known.length === words.length ? known.join(', ') : undefined
}
