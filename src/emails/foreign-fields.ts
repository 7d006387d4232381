import { ApiError } from '../errors/index.js'

/**
 * What our own fields are called elsewhere, without case, `_` and `-`. Each of them changes what is sent: a
 * mail for tomorrow must not leave today, nor one without its attachment as if all were well.
 */
const ours = new Map<string, OwnField>([
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

/** What most mails have, and mean nothing else anywhere. */
const harmless: ReadonlySet<string> = new Set(['from', 'subject', 'html'])

type OwnField = (typeof all)[number]
const all = [
  'cc',
  'bcc',
  'headers',
  'tags',
  'attachments',
  'replyTo',
  'scheduledAt',
  'topicId',
  'to',
  'text',
  'template',
  'variables',
  'type',
] as const

/**
 * Throws a 422 that names the fields of this kind; a null counts as absent, here as everywhere.
 * `own` are those of `OwnField` that the endpoint has.
 */
export function refuseForeignFields(body: object, own: readonly OwnField[] = all): void {
  const message = foreignFields(body, own)
  if (message !== undefined) throw new ApiError('validation_error', message, { status: 422 })
}

/** What is to be said of such fields, or undefined where there are none. */
export function foreignFields(body: object, own: readonly OwnField[] = all): string | undefined {
  const meant = (name: string) => ours.get(plain(name))
  const isForeign = (name: string) => !own.some((one) => one === name) && meant(name) !== undefined
  const names = Object.keys(body).filter((name) => {
    const value: unknown = body[name as keyof typeof body]
    return !harmless.has(name) && value !== null && value !== undefined && isForeign(name)
  })
  if (names.length === 0) return undefined
  const hints = names.flatMap((name) =>
    own.filter((one) => one === meant(name)).map((one) => `; write ${one} in place of ${name}`),
  )
  const what = names.length === 1 ? 'This field is' : 'These fields are'
  return `${what} not supported: ${names.join(', ')}${hints.join('')}. Nothing was sent`
}

const plain = (name: string) => name.toLowerCase().replace(/[_-]/g, '')
