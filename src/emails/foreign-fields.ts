import { ApiError } from '../errors/index.js'

/**
 * Fields that other mail APIs know and Posthorn does not yet, without case, `_` and `-`. Each of them
 * changes what is sent: a mail without its attachment must not leave as if all were well.
 */
const foreign = new Set(['cc', 'bcc', 'attachment', 'attachments', 'headers', 'tags', 'replyto'])

/** Throws a 422 that names the fields of this kind; a null counts as absent, here as everywhere. */
export function refuseForeignFields(body: object): void {
  const message = foreignFields(body)
  if (message !== undefined) throw new ApiError('validation_error', message, { status: 422 })
}

/** What is to be said of such fields, or undefined where there are none. */
export function foreignFields(body: object): string | undefined {
  const names = Object.entries(body)
    .filter(([name, value]) => value !== null && value !== undefined && isForeign(name))
    .map(([name]) => name)
  if (names.length === 0) return undefined
  const hint = names.some(isReplyTo) ? '; write replyTo for the address that answers go to' : ''
  const what = names.length === 1 ? 'This field is' : 'These fields are'
  return `${what} not supported: ${names.join(', ')}${hint}. Nothing was sent`
}

const plain = (name: string) => name.toLowerCase().replace(/[_-]/g, '')
const isForeign = (name: string) => name !== 'replyTo' && foreign.has(plain(name))
const isReplyTo = (name: string) => plain(name) === 'replyto'
