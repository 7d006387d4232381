import type { Json } from '../json/index.js'

/** Whether both exist and are the same JSON value; the order of an object's names does not count. */
export function equals(actual: Json | undefined, value: Json | undefined): boolean {
  if (actual === undefined || value === undefined) return false
  if (!isStructure(actual) || !isStructure(value)) return actual === value
  return actual === value || textOf(actual) === textOf(value)
}

/** Whether one of the items is the same JSON value. */
export function includes(items: readonly Json[], value: Json | undefined): boolean {
  if (value === undefined) return false
  const known = sets.get(items) ?? new Set(items.map(textOf))
  sets.set(items, known)
  return known.has(textOf(value))
}

/**
 * Whether a text contains another, in a time that grows with the sum of their lengths: the time of
 * `String.includes` grows with their product for texts made to be slow.
 */
export function hasText(text: string, part: string): boolean {
  if (text.length * part.length < worthMore) return text.includes(part)
  // Knuth, Morris and Pratt: how long a beginning of the part ends at each of its places.
  const borders = new Uint32Array(part.length)
  for (let at = 1, length = 0; at < part.length; at += 1) {
    length = step(part, borders, length, part.charCodeAt(at))
    borders[at] = length
  }
  for (let at = 0, length = 0; at < text.length; at += 1) {
    length = step(part, borders, length, text.charCodeAt(at))
    if (length === part.length) return true
  }
  return false
}

// Below this many comparisons the plain search is always quick.
const worthMore = 10_000

/**
 * One step of the automaton of Knuth, Morris and Pratt: how much of the searched text stands at the
 * end of what was read. The time is linear, whatever a client has put into both texts.
 */
function step(part: string, borders: Uint32Array, from: number, code: number): number {
  let length = from
  while (length > 0 && part.charCodeAt(length) !== code) length = borders[length - 1] ?? 0
  return part.charCodeAt(length) === code ? length + 1 : length
}

/** Whether it is an object or an array. */
const isStructure = (value: Json): value is Json[] | { [key: string]: Json } =>
  typeof value === 'object' && value !== null

// A rule has up to 100 parts, 50 automations may judge one event, and triggers are judged inside a write. Without this
// memory, the text of a payload of 16 KiB would take a millisecond each time.
const texts = new WeakMap<object, string>()
const sets = new WeakMap<readonly Json[], Set<string>>()

/** A value as text, the same for the same value: names in order, no spaces. */
function textOf(value: Json): string {
  if (!isStructure(value)) return JSON.stringify(value)
  const known = texts.get(value)
  if (known !== undefined) return known
  const text = writtenOut(value)
  texts.set(value, text)
  return text
}

/** Without recursion: 16 KiB of payload can hold arrays nested deeper than the stack. */
function writtenOut(whole: Json): string {
  const parts: string[] = []
  const open: ({ text: string } | { value: Json })[] = [{ value: whole }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if ('text' in next) {
      parts.push(next.text)
      continue
    }
    const { value } = next
    if (Array.isArray(value)) {
      open.push({ text: ']' })
      for (const item of value.toReversed()) open.push({ text: ',' }, { value: item })
      open.push({ text: '[' })
    } else if (isStructure(value)) {
      open.push({ text: '}' })
      const names = Object.keys(value).sort().reverse()
      for (const name of names) {
        const item = value[name]
        if (item === undefined) continue
        open.push({ text: ',' }, { value: item }, { text: `${JSON.stringify(name)}:` })
      }
      open.push({ text: '{' })
    } else parts.push(JSON.stringify(value))
  }
  return parts.join('')
}
