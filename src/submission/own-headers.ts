import { ApiError } from '../errors/index.js'
import { jsonObjectIn } from '../json/index.js'
import { type HeaderField, readableValue } from '../mime/index.js'

/** What a message asks for with `X-Posthorn-*` fields, which recipients never see. */
export interface OwnHeaders {
  type?: 'transactional' | 'marketing'
  topicId?: string
  template?: string
  variables?: Record<string, unknown>
  scheduledAt?: string
  metadata?: Record<string, unknown>
  tags?: { name: string; value: string }[]
  idempotencyKey?: string
}

// Headers are compared in lower case, as their names have no case (RFC 5322 §1.2.2).
const prefix = 'x-posthorn-'

/** A field of ours: where its value goes, and how it is read; undefined means that the value cannot be read. */
interface OwnHeader {
  field: keyof OwnHeaders
  read(value: string): unknown
}

// These are checked where the API checks the same field.
const text = (value: string) => value
const own: Readonly<Record<string, OwnHeader>> = {
  Type: { field: 'type', read: (value) => value.toLowerCase() },
  Topic: { field: 'topicId', read: text },
  Template: { field: 'template', read: text },
  Variables: { field: 'variables', read: jsonObjectIn },
  'Scheduled-At': { field: 'scheduledAt', read: text },
  Metadata: { field: 'metadata', read: jsonObjectIn },
  Tags: { field: 'tags', read: tags },
  'Idempotency-Key': { field: 'idempotencyKey', read: text },
}

/** The name of a field in SMTP, for the messages of checks. */
export const headerOf = (field: string): string => {
  const name = Object.keys(own).find((key) => own[key]?.field === field)
  return name === undefined ? field : `X-Posthorn-${name}`
}

/** Reads them; throws a `validation_error` for one that is unknown, occurs twice or cannot be read. */
export function readOwnHeaders(fields: readonly HeaderField[]): OwnHeaders {
  const ownHeaders: Record<string, unknown> = {}
  for (const { name, value } of fields) {
    if (!name.startsWith(prefix)) continue
    const known = Object.keys(own).find((key) => `${prefix}${key.toLowerCase()}` === name)
    const header = known === undefined ? undefined : own[known]
    if (known === undefined || header === undefined) {
      // A typo must not stay silent: a mail that was meant for tomorrow would leave today.
      const all = Object.keys(own).map((key) => `X-Posthorn-${key}`)
      throw wrong(`${name} is not a header of Posthorn; there are ${all.join(', ')}`)
    }
    if (header.field in ownHeaders) throw wrong(`X-Posthorn-${known} is given twice`)
    const read = header.read(readableValue(value))
    if (read === undefined) throw wrong(`X-Posthorn-${known} cannot be read: ${expected(known)}`)
    ownHeaders[header.field] = read
  }
  return ownHeaders as OwnHeaders
}

/** Whether a header field, its name in lower case, is one of ours: such a field never leaves. */
export const isOwnHeader = (name: string): boolean => name.startsWith(prefix)

/** What the value should have been, for the message of the refusal. */
const expected = (name: string) =>
  name === 'Tags' ? 'expected name=value, separated by commas' : 'expected a JSON object'

const wrong = (message: string) => new ApiError('validation_error', message)

/** `campaign=spring, plan=pro` */
function tags(value: string): OwnHeaders['tags'] | undefined {
  const pairs = value.split(',').map((pair) => /^([^=\s]+)\s*=(.*)$/.exec(pair.trim()))
  const read = pairs.flatMap((pair) =>
    pair === null ? [] : [{ name: pair[1] ?? '', value: (pair[2] ?? '').trim() }],
  )
  return read.length === pairs.length ? read : undefined
}
