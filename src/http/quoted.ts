/*
 * What came, in a message that says what was expected instead: enough to find it by, never a secret.
 */
const maxShown = 60
const secretField = /pass|secret|token|api_?key|authorization|credential/i
// Our own keys and secrets, wherever somebody has put them by mistake.
const secret = /\b(ph|whsec)_[\w-]{4,}/g

/** A value in at most about 80 characters on one line; `field` is the name of the one that it is in. */
export function quoted(value: unknown, field = ''): string {
  if (value === null || typeof value === 'boolean' || typeof value === 'number') return `${value}`
  if (Array.isArray(value)) return `an array of ${counted(value.length, 'item')}`
  if (typeof value === 'object') {
    return `an object of ${counted(Object.keys(value).length, 'field')}`
  }
  if (typeof value !== 'string') return typeof value
  if (secretField.test(field)) return 'a text that is not shown'
  const shown = JSON.stringify(value.slice(0, maxShown).replace(secret, '$1_…').toWellFormed())
  return value.length > maxShown ? `${shown}… (${value.length} characters)` : shown
}

const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`
