import { ApiError } from '../errors/index.js'
import type { Field } from '../fields/index.js'

/**
 * What our own fields are called elsewhere, without case, `_` and `-`. Each of them changes what is sent: a
 * mail for tomorrow must not leave today, nor one without its attachment as if all were well.
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
  // Fields of a send. An endpoint that lacks one of them must refuse it: ignored, it would make another mail than
  // was asked for.
  ['to', 'to'],
  ['text', 'text'],
  ['template', 'template'],
  ['variables', 'variables'],
  ['type', 'type'],
])

/** The names of the fields that a body has. */
export const ownFields = ({ schema }: Field<unknown>): ReadonlySet<string> =>
  new Set(Object.keys(schema.properties as object))

/** Throws a 422 that names the fields of this kind, but for its own; a null counts as absent, here as everywhere. */
export function refuseForeignFields(body: object, own: ReadonlySet<string>): void {
  const message = foreignFields(body, own)
  if (message !== undefined) throw new ApiError('validation_error', message, { status: 422 })
}

/** What is to be said of such fields, or undefined where there are none. */
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
