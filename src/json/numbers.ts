import { ApiError } from '../errors/index.js'

/**
 * What is wrong with a number in a value that came as JSON, by the path of its field; undefined: nothing. Beyond
 * 2^53 − 1 neighbours are read as one (RFC 8259 §6), and what is larger than any number as infinity: an id would be
 * another one's, without a word.
 */
export function numberFault(name: string, value: unknown): string | undefined {
  if (!hasInexact(value)) return undefined
  return `${name}${pathIn(value) ?? ''}: numbers beyond ${Number.MAX_SAFE_INTEGER} (2^53 - 1) lose digits in JSON; send it as text, in quotes`
}

/** Throws a 422 that names the field of a number which is not what its sender wrote. */
export function refuseInexact(name: string, value: unknown): void {
  const fault = numberFault(name, value)
  if (fault !== undefined) throw new ApiError('validation_error', fault, { status: 422 })
}

// All larger ones are whole numbers; NaN fails the comparison as well.
const isInexact = (value: unknown): boolean =>
  typeof value === 'number' && !(Math.abs(value) <= Number.MAX_SAFE_INTEGER)

/** Not by recursion: values may be nested deeper than the stack. Every send with metadata is looked at. */
function hasInexact(whole: unknown): boolean {
  if (typeof whole !== 'object' || whole === null) return isInexact(whole)
  const open: object[] = [whole]
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    for (const name in one) {
      const value: unknown = one[name as keyof typeof one]
      if (typeof value === 'object') {
        if (value !== null) open.push(value)
      } else if (isInexact(value)) return true
    }
  }
  return false
}

/** Where the number stands, as `.order.id` or `[2]`; only asked for where there is one. */
function pathIn(whole: unknown): string | undefined {
  const open: { value: unknown; path: string }[] = [{ value: whole, path: '' }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, path } = next
    if (isInexact(value)) return path
    if (typeof value !== 'object' || value === null) continue
    const isList = Array.isArray(value)
    for (const [name, inner] of Object.entries(value)) {
      // What a path is longer than is told by its beginning.
      const longer = path.length < maxPath ? path + (isList ? `[${name}]` : `.${name}`) : path
      open.push({ value: inner, path: longer })
    }
  }
  return undefined
}

const maxPath = 200
