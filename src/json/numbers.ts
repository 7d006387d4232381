import { ApiError } from '../errors/index.js'

/**
 * The fault of a number in a value that came as JSON, with the path of its field; undefined without a fault. Beyond
 * 2^53 − 1 neighbours are read as one number (RFC 8259 §6), and larger ones as infinity: an id would silently
 * become another's.
 */
export function numberFault(name: string, value: unknown): string | undefined {
  if (!hasInexact(value)) return undefined
  return `${name}${pathIn(value) ?? ''}: numbers beyond ${Number.MAX_SAFE_INTEGER} (2^53 - 1) lose digits in JSON; send it as text, in quotes`
}

/** Throws a 422 that names the field of a number that was not read exactly. */
export function refuseInexact(name: string, value: unknown): void {
  const fault = numberFault(name, value)
  if (fault !== undefined)
    throw new ApiError('validation_error', fault, { status: 422, is: 'inexact' })
}

// All larger ones are whole numbers; NaN fails the comparison as well.
const isInexact = (value: unknown): boolean =>
  typeof value === 'number' && !(Math.abs(value) <= Number.MAX_SAFE_INTEGER)

/**
 * Without recursion, as values may be nested deeper than the stack. It checks every send with metadata.
 */
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

/** The number's path, such as `.order.id` or `[2]`; only called if there is such a number. */
function pathIn(whole: unknown): string | undefined {
  const open: { value: unknown; path: string }[] = [{ value: whole, path: '' }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { value, path } = next
    if (isInexact(value)) return path
    if (typeof value !== 'object' || value === null) continue
    const isList = Array.isArray(value)
    for (const [name, inner] of Object.entries(value)) {
      // Of a longer path only the beginning is told.
      const longer = path.length < maxPath ? path + (isList ? `[${name}]` : `.${name}`) : path
      open.push({ value: inner, path: longer })
    }
  }
  return undefined
}

const maxPath = 200
