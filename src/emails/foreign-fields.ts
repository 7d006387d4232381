import { ApiError } from '../errors/index.js'
import type { Field } from '../fields/index.js'

/**
 * Other APIs' names for our fields, without case, `_` and `-`. Each of them changes what is sent: a mail
 * for tomorrow must not leave today, and no mail without its attachment.
 */
const ours = new Map<string, string>([
  ['cc', 'cc'],
  ['bcc', 'bcc'],
  ['header', 'headers'],
  ['headers', 'headers'],
  ['tag', 'tags'],
  ['tags', 'tags'],
  ['attachment', 'attachments'],
  ['attachments', 'attachments'],
  ['replyto', 'replyTo'],
  ['scheduledat', 'scheduledAt'],
  ['sendat', 'scheduledAt'],
  ['topicid', 'topicId'],
  // Fields of a send. An endpoint that lacks one of them must refuse it, as ignoring it would send another mail
  // than the client meant.
  ['to', 'to'],
  ['text', 'text'],
  ['template', 'template'],
  ['variables', 'variables'],
  ['type', 'type'],
])

/** The names of the fields that a body has. */
export const ownFields = ({ schema }: Field<unknown>): ReadonlySet<string> =>
  new Set(Object.keys(schema.properties as object))

/** Throws a 422 that names such fields, except the endpoint's own; null counts as absent, as everywhere. */
export function refuseForeignFields(body: object, own: ReadonlySet<string>): void {
  const message = foreignFields(body, own)
  if (message !== undefined) throw new ApiError('validation_error', message, { status: 422 })
}

/** A sentence about such fields, or undefined without any. */
export function foreignFields(body: object, own: ReadonlySet<string>): string | undefined {
  const meant = (name: string) => ours.get(plain(name))
  const names = Object.keys(body).filter((name) => {
    if (own.has(name)) return false
    const value: unknown = body[name as keyof typeof body]
    return value !== null && value !== undefined && meant(name) !== undefined
  })
  if (names.length === 0) return undefined
  const hints = names.flatMap((name) => {
    const known = meant(name)
    return known !== undefined && own.has(known) ? `; write ${known} in place of ${name}` : []
  })
  const what = names.length === 1 ? 'This field is' : 'These fields are'
  return `${what} not supported: ${names.join(', ')}${hints.join('')}. Nothing was sent`
}

const plain = (name: string) => name.toLowerCase().replace(/[_-]/g, '')
