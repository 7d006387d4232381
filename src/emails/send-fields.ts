import { array, dynamic, refine, type Struct } from 'superstruct'
import {
  aLine,
  anAddress,
  type Field,
  field,
  knownBy,
  ownData,
  rule,
  type Schema,
  shaped,
  someLines,
  structOf,
  suchAs,
  table,
  text,
  textThat,
} from '../fields/index.js'
import { isJsonObject, jsonBytes } from '../json/index.js'
import { parseMailbox } from '../mime/index.js'
import type { MailTag } from '../store/index.js'
import { maxHeaderBytes, maxHeaders, maxHeadersBytes } from './header-fields.js'

/*
 * The fields of a mail, one by one. Every rule's message says what it expects, because the client reads it, with the
 * beginning of the given value. Limits: decisions.md, 'Sending'. Those in bytes have the same number in the schema,
 * where `maxLength` counts characters: no text within the byte limit has more characters.
 */
export const maxRecipients = 50
export const maxContentBytes = 2 * 1024 * 1024
export const maxSubjectBytes = 998
export const maxReplyTo = 10
export const maxTags = 10
export const maxTagName = 64
export const maxTagValue = 256

// mta.md §4.1: no control character reaches a header, whatever the composer would do with it.
const controls = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/

const isFilled = (value: string) => value.trim() !== ''

/** A text that is more than white space. */
export const filled = (expected: string, schema: Schema): Field<string> =>
  textThat(expected, isFilled, schema)

const address = (about: string, example: string) =>
  text(`${about}: \`email@domain\` or \`Name <email@domain>\``, { examples: [example] })

/** Who sends it. An unparsable sender has an error of its own (400 with `domain`), so only its type counts here. */
export const sender = (
  schema = address('The sender, on a verified domain', 'Shop <orders@example.com>'),
): Field<string> =>
  textThat('a string: "email@domain" or "Name <email@domain>"', () => true, schema, anAddress)

const isRecipient = (value: unknown) =>
  typeof value === 'string' && parseMailbox(value) !== undefined

/** One address. */
export const recipient = (schema = address('An address', 'Ann <ann@example.org>')): Field<string> =>
  field(
    rule<string>('an address: "email@domain" or "Name <email@domain>"', isRecipient, anAddress),
    schema,
  )

const oneAddress = recipient()

/** One address, or an array of `least` or more; more than `most` only if they `mayPass`. */
function addresses(
  about: string,
  { least, most, mayPass = false }: { least: 0 | 1; most: number; mayPass?: boolean },
  more: Schema = {},
): Field<string | string[]> {
  const one = structOf(oneAddress)
  const isFew = ({ length }: unknown[]) => length >= least && (mayPass || length <= most)
  const struct = dynamic<string | string[]>((value) => {
    if (!Array.isArray(value)) return one as Struct<string | string[], null>
    const some = rule<string[]>(`an array of ${least} to ${most} addresses`, () => isFew(value), {
      is: 'list',
      least,
      most,
    })
    const list = !isFew(value) || value.length > most ? some : array(one)
    return list as Struct<string | string[], unknown> as Struct<string | string[], null>
  })
  const known = knownBy(struct, (value) =>
    Array.isArray(value)
      ? isFew(value) && (value.length > most || value.every(isRecipient))
      : isRecipient(value),
  )
  const { schema } = oneAddress
  return field(known, {
    description: about,
    oneOf: [schema, { type: 'array', items: schema, minItems: least, maxItems: most }],
    ...more,
  })
}

/** Recipients: too many have an error of their own too, 400 with `count` and `max`. */
export const recipients = (about: string, least: 0 | 1 = 0) =>
  addresses(about, { least, most: maxRecipients, mayPass: true })

/** RFC 5322 §3.6.2 allows several addresses, and so does this. */
export const replyTo = addresses(
  'The address, or addresses, that answers go to',
  { least: 0, most: maxReplyTo },
  { examples: ['help@example.com'] },
)

/** In bytes, because a header line may have 998 of them (RFC 5322 §2.1.1). */
export const subject = (about: string): Field<string> =>
  textThat(
    `a string of 1 to ${maxSubjectBytes} bytes without control characters`,
    (value) =>
      isFilled(value) &&
      !controls.test(value) &&
      value.isWellFormed() &&
      Buffer.byteLength(value) <= maxSubjectBytes,
    text(`${about}; at most ${maxSubjectBytes} bytes, no control characters`, {
      minLength: 1,
      maxLength: maxSubjectBytes,
    }),
    aLine(1, maxSubjectBytes),
  )

/**
 * A part of a mail. NUL is no character of mail (RFC 5322 §2.3), and SQLite would end the text there. Two MiB is far
 * over what any client shows: Gmail cuts a mail after 102 kB.
 */
export const content = (least: 0 | 1, schema: Schema): Field<string> =>
  textThat(
    `a ${least === 1 ? 'non-empty ' : ''}string of at most ${maxContentBytes} bytes without NUL`,
    (value) =>
      value.length >= least &&
      !value.includes('\0') &&
      // Half of a surrogate pair is no character: SQLite would store three others in its place.
      value.isWellFormed() &&
      Buffer.byteLength(value) <= maxContentBytes,
    schema,
    someLines(least, maxContentBytes),
  )

/**
 * Forbidden names and values have an error of their own: a 422 that names the header and says why. The description
 * lists the headers that cannot be set, as a 422 for a header that worked elsewhere would be a riddle.
 */
export const headers = field(
  rule<Record<string, string>>(
    'an object of header names and their values, which are strings',
    (value) => isJsonObject(value) && Object.values(value).every((one) => typeof one === 'string'),
  ),
  {
    type: 'object',
    description: `Header fields of your own, at most ${maxHeaders} with ${maxHeaderBytes / 1024} KiB each and ${maxHeadersBytes / 1024} KiB together; signed with DKIM. In-Reply-To and References stay as they are, other text that is not ASCII is encoded (RFC 2047). Those that Posthorn or the servers on the way write are a 422: From, To, Cc, Bcc, Reply-To, Subject, Date, Sender, Message-ID, MIME-Version, Content-*, List-Unsubscribe*, List-Id, Return-Path, Received, DKIM-*, ARC-*, Authentication-Results, Resent-*, CFBL-*, X-Posthorn-*. Mail of campaigns and automations has a Feedback-ID, in whose place one of yours stands`,
    additionalProperties: { type: 'string', minLength: 1 },
    maxProperties: maxHeaders,
    examples: [{ 'X-Entity-Ref-ID': '4711', 'In-Reply-To': '<123@example.com>' }],
  },
)

/**
 * Only few characters are allowed, as a tag occurs in URLs (`?tag=name:value`), in CSV and in the columns
 * of figures.
 */
const ofCharacters = (pattern: string, expected: string, about: string): Field<string> => {
  const form = new RegExp(pattern)
  return textThat(expected, (value) => form.test(value), text(about, { pattern }))
}

/** A tag; the document has it under the name `Tag`. */
export const tag = table(
  {
    name: ofCharacters(
      `^[A-Za-z0-9_-]{1,${maxTagName}}$`,
      `1 to ${maxTagName} of A-Z, a-z, 0-9, "_" and "-"`,
      'The name: 1 to 64 of A-Z, a-z, 0-9, `_` and `-`',
    ),
    value: ofCharacters(
      `^[A-Za-z0-9_.:@/+=-]{1,${maxTagValue}}$`,
      `1 to ${maxTagValue} of A-Z, a-z, 0-9 and "_-.:@/+="`,
      'The value: 1 to 256 of these and `.:@/+=`',
    ),
  },
  { about: 'A tag: a name and a value. Each name once in a mail' },
)

/** Each name once: a mail counted twice in one group would make the figures wrong. */
export const tags = field(
  refine(
    dynamic<MailTag[]>((value) => {
      const few = Array.isArray(value) && value.length <= maxTags
      const list = few
        ? array(structOf(tag))
        : rule(`an array of at most ${maxTags} tags`, () => false)
      return list as Struct<MailTag[], unknown> as Struct<MailTag[], null>
    }),
    'names',
    (given) => {
      const names = new Set(given.map(({ name }) => name))
      return names.size === given.length || 'Expected tags with different names'
    },
  ),
  {
    type: 'array',
    description:
      'Tags of your own, to find mails by (`GET /v1/emails?tag=name:value`); also in webhooks. Each name once',
    items: shaped('Tag'),
    maxItems: maxTags,
    examples: [[{ name: 'kind', value: 'receipt' }]],
  },
)

/** The domain code judges whether it is a time, and a possible one (400 without `issues`). */
export const scheduledAt = (about: string): Field<string> =>
  textThat(
    'a string: date and time in ISO 8601',
    () => true,
    text(about, { examples: ['2026-12-24T18:00:00Z'] }),
    suchAs('a time', '2026-12-24 18:00'),
  )

/** Bounded as JSON, since that is how it is stored and sent in webhooks: no request can fill the database with it. */
export const json = (about: string, maxBytes: number): Field<Record<string, unknown>> =>
  field(
    rule<Record<string, unknown>>(
      `an object of at most ${maxBytes} bytes as JSON`,
      (value) => isJsonObject(value) && jsonBytes(value) <= maxBytes,
    ),
    ownData(`${about}; at most ${maxBytes / 1024} KiB as JSON`),
  )

/**
 * Faults in attachments have an error of their own: a 422 that names the attachment and what is
 * wrong.
 */
export const attachments = field(rule<unknown[]>('an array of attachments', Array.isArray), {
  type: 'array',
  description:
    'Files that go with the mail: at most 10 MiB together as they are (not in base64) and 50 of them, unless the operator says otherwise. Large receivers refuse programs and scripts (`.exe`, `.js`, also in archives): Posthorn sends them, the refusal is in `recipients`',
  items: shaped('Attachment'),
})
