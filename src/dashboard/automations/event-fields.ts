import { isJsonObject, type JsonObject, jsonObjectIn } from '../../json/index.js'

/** An event's payload as it is typed: `total = 5` a line, or JSON as programs write it. Undefined for anything else. */
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

/** An event's payload as people read it: `total = 5, customer.town = Lagos`. */
export function sampleWords(sample: unknown): string {
  const parts: string[] = []
  const gather = (value: unknown, path: string): void => {
    if (isJsonObject(value) || (Array.isArray(value) && value.length > 0)) {
      for (const [name, inner] of Object.entries(value)) {
        gather(inner, path === '' ? name : `${path}.${name}`)
      }
    } else parts.push(`${path === '' ? '' : `${path} = `}${valueWords(value)}`)
  }
  gather(sample, '')
  return parts.join(', ')
}

function valueWords(value: unknown): string {
  if (value === null || value === '' || Array.isArray(value)) return 'empty'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return String(value)
}

const places: Readonly<Record<string, string>> = {
  listId: 'List',
  segmentId: 'Segment',
  formId: 'Form',
}

/**
 * The payload of the appliance's own event, with names for ids: `List “Readers”`. Undefined for events without such
 * words.
 */
export function ownFieldWords(
  sample: unknown,
  names: ReadonlyMap<string, string>,
): string | undefined {
  if (!isJsonObject(sample)) return undefined
  // Segments and forms are also given by their names at that time; those fields are left out here.
  const asked = Object.entries(sample).filter(([field]) => sample[`${field}Id`] === undefined)
  const words = asked.map(([field, value]) => {
    const place = places[field]
    if (place === undefined || typeof value !== 'string') return undefined
    const name = names.get(value.toLowerCase())
    return name === undefined ? `${place} that is deleted` : `${place} “${name}”`
  })
  const known = words.filter((one) => one !== undefined)
  return words.length > 0 && known.length === words.length ? known.join(', ') : undefined
}
