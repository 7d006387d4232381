import { array, dynamic, type Infer, refine, type Struct, type } from 'superstruct'
import { isSound, knownBy, optional, rule } from '../fields/index.js'
import { isJsonObject, jsonBytes } from '../json/index.js'
import { parseMailbox } from '../mime/index.js'
import type { MailTag } from '../store/index.js'

/*
 * The body of a send, field by field. Every rule says in its message what it expects, because that
 * is what the client reads, with the beginning of what was given. Limits: decisions.md, 'Sending'.
 */
export const maxRecipients = 50
export const maxContentBytes = 2 * 1024 * 1024
export const maxSubjectBytes = 998
export const maxMetadataBytes = 16 * 1024
export const maxVariablesBytes = 256 * 1024
export const maxReplyTo = 10
export const maxTags = 10
export const maxTagName = 64
export const maxTagValue = 256

// mta.md §4.1: no control character reaches a header, whatever the composer would do with it.
const controls = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/

// An unparsable sender has an error of its own (400 with `domain`), so only its type counts here.
export const Sender = rule<string>(
  'a string: "email@domain" or "Name <email@domain>"',
  (value) => typeof value === 'string',
)

const isRecipient = (value: unknown) =>
  typeof value === 'string' && parseMailbox(value) !== undefined

export const Recipient = rule<string>(
  'an address: "email@domain" or "Name <email@domain>"',
  isRecipient,
)

/** One address, or an array of `least` or more. */
const addresses = (least: 0 | 1, most: number, mayPass: boolean) => {
  const isFew = ({ length }: unknown[]) => length >= least && (mayPass || length <= most)
  const struct = dynamic<string | string[]>((value) => {
    if (!Array.isArray(value)) return Recipient as Struct<string | string[], null>
    const some = rule<string[]>(`an array of ${least} to ${most} addresses`, () => isFew(value))
    const list = !isFew(value) || value.length > most ? some : array(Recipient)
    return list as Struct<string | string[], unknown> as Struct<string | string[], null>
  })
  return knownBy(struct, (value) =>
    Array.isArray(value)
      ? isFew(value) && (value.length > most || value.every(isRecipient))
      : isRecipient(value),
  )
}

// How many are too many has an error of its own too: 400 with `count` and `max`.
const Recipients = addresses(1, maxRecipients, true)
const CopyRecipients = addresses(0, maxRecipients, true)

/** In bytes, because a header line may have 998 of them (RFC 5322 §2.1.1). */
export const Subject = rule<string>(
  `a string of 1 to ${maxSubjectBytes} bytes without control characters`,
  (value) =>
    isFilled(value) &&
    !controls.test(value) &&
    value.isWellFormed() &&
    Buffer.byteLength(value) <= maxSubjectBytes,
)

/** NUL is no character of mail (RFC 5322 §2.3), and SQLite would end the text there. */
export const Content = (least: 0 | 1) =>
  rule<string>(
    `a ${least === 1 ? 'non-empty ' : ''}string of at most ${maxContentBytes} bytes without NUL`,
    (value) =>
      typeof value === 'string' &&
      value.length >= least &&
      !value.includes('\0') &&
      // Half of a surrogate pair is no character: SQLite would store three others in its place.
      value.isWellFormed() &&
      Buffer.byteLength(value) <= maxContentBytes,
  )

export const ReplyTo = addresses(0, maxReplyTo, false)

// Which names and values may be in it has an error of its own: 422 that names the header and says why.
export const Headers = rule<Record<string, string>>(
  'an object of header names and their values, which are strings',
  (value) => isJsonObject(value) && Object.values(value).every((one) => typeof one === 'string'),
)

/** Checked by its characters, as it stands in URLs and CSV. */
const Tag = type({
  name: rule<string>(
    `1 to ${maxTagName} of A-Z, a-z, 0-9, "_" and "-"`,
    (value) => typeof value === 'string' && tagName.test(value),
  ),
  value: rule<string>(
    `1 to ${maxTagValue} of A-Z, a-z, 0-9 and "_-.:@/+="`,
    (value) => typeof value === 'string' && tagValue.test(value),
  ),
})

const tagName = new RegExp(`^[A-Za-z0-9_-]{1,${maxTagName}}$`)
const tagValue = new RegExp(`^[A-Za-z0-9_.:@/+=-]{1,${maxTagValue}}$`)

/** Each name once. */
export const Tags = refine(
  dynamic<MailTag[]>((value) => {
    const few = Array.isArray(value) && value.length <= maxTags
    const list = few ? array(Tag) : rule(`an array of at most ${maxTags} tags`, () => false)
    return list as Struct<MailTag[], unknown> as Struct<MailTag[], null>
  }),
  'names',
  (tags) => {
    const names = new Set(tags.map(({ name }) => name))
    return names.size === tags.length || 'Expected tags with different names'
  },
)

// Whether it is a time, and a possible one, is the domain's to say (400 without `issues`).
export const ScheduledAt = rule<string>(
  'a string: date and time in ISO 8601',
  (value) => typeof value === 'string',
)

const Type = rule<'transactional' | 'marketing'>(
  '"transactional" or "marketing"',
  (value) => value === 'transactional' || value === 'marketing',
)

// What is no UUID is the id of nothing: a 404 when the topic is looked for (`decisions.md`, Names).
const TopicId = rule<string>('a UUID', (value) => typeof value === 'string')

/** Bounded as JSON, since that is how it is stored and sent in webhooks. */
export const Metadata = rule<Record<string, unknown>>(
  `an object of at most ${maxMetadataBytes} bytes as JSON`,
  (value) => isJsonObject(value) && jsonBytes(value) <= maxMetadataBytes,
)

const Variables = rule<Record<string, unknown>>(
  `an object of at most ${maxVariablesBytes} bytes as JSON`,
  (value) => isJsonObject(value) && jsonBytes(value) <= maxVariablesBytes,
)

/** What is in them has an error of its own: 422, which names the attachment and what is wrong. */
export const Attachments = rule<unknown[]>('an array of attachments', Array.isArray)

const Fields = type({
  from: Sender,
  to: Recipients,
  subject: optional(Subject),
  html: optional(Content(1)),
  template: optional(filled('a string: the slug of a saved template')),
  variables: optional(Variables),
  text: optional(Content(0)),
  cc: optional(CopyRecipients),
  bcc: optional(CopyRecipients),
  replyTo: optional(ReplyTo),
  headers: optional(Headers),
  tags: optional(Tags),
  scheduledAt: optional(ScheduledAt),
  metadata: optional(Metadata),
  type: optional(Type),
  topicId: optional(TopicId),
  attachments: optional(Attachments),
})

export type SendInput = Infer<typeof Fields>

/** A template brings its own subject, raw HTML needs one. */
const hasSubject = ({ subject, template }: SendInput) =>
  subject !== undefined || template !== undefined

/** A send as a whole. */
export const SendBody = knownBy(
  refine(Fields, 'required', (body) => {
    if (hasSubject(body)) return true
    const message = 'Expected a string, because html is given'
    return { path: ['subject'], key: 'subject', value: undefined, type: Subject.type, message }
  }),
  (body) => isSound(body, Fields) && hasSubject(body as SendInput),
)

/** A string that is more than white space. */
export function filled(expected: string): Struct<string, null> {
  return rule<string>(expected, isFilled)
}

function isFilled(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== ''
}
