import { refine, type Struct, unknown } from 'superstruct'
import {
  alternative,
  bodyId,
  type FieldValues,
  field,
  isSound,
  knownBy,
  list,
  maybe,
  rule,
  shaped,
  structOf,
  table,
  text,
} from '../fields/index.js'
import {
  attachments,
  content,
  filled,
  headers,
  json,
  maxContentBytes,
  maxRecipients,
  recipient,
  recipients,
  replyTo,
  scheduledAt,
  sender,
  subject,
  tags,
} from './send-fields.js'

/*
 * The bodies that become mail: a send, a batch, and a USSD callback's request. Which fields are required depends on
 * other fields. JSON Schema could say this fully only in alternatives that generated clients cannot use, so these
 * alternatives have only `required`, and `openapi/client-types.ts` makes a union of them.
 */
export const unknownFields =
  'Unknown fields are ignored, but those that other mail APIs know and that would change what is sent are a 422'

const transactional = 'Only for `transactional` mail'
const html = content(
  1,
  text(`The HTML, at most ${maxContentBytes / 1024 ** 2} MiB`, {
    minLength: 1,
    maxLength: maxContentBytes,
  }),
)
const plainText = (about: string) => content(0, text(about, { maxLength: maxContentBytes }))
const metadata = json('Data of your own, kept with the email and given back', 16 * 1024)
const givenSubject = subject(
  "The subject: needed with `html`; with `template` it is Liquid and takes the place of the template's",
)

// The contract's fields, and ours after them (cc, bcc, headers, tags, attachments).
const fields = {
  from: sender(),
  to: recipients(
    `The recipients, who see each other. An address that is there twice, also in \`cc\` or \`bcc\`, is mailed once; all three fields have at most ${maxRecipients} together`,
    1,
  ),
  cc: maybe(recipients(`${transactional}. Recipients of a copy, whom everybody sees in Cc`)),
  bcc: maybe(
    recipients(
      `${transactional}. Recipients of a copy, whom nobody sees: no copy of the mail names them`,
    ),
  ),
  subject: maybe(givenSubject),
  html: maybe(html),
  template: maybe(
    filled(
      'a string: the slug of a saved template',
      text('The slug of a saved template', { examples: ['welcome'] }),
    ),
  ),
  variables: maybe(
    json(
      'The values of the variables of the template; those that it uses only within `if`, `unless` and `case` may be missing',
      256 * 1024,
    ),
  ),
  text: maybe(
    plainText(
      'The text part, made from the HTML if absent. Beside a template it is Liquid too, at most 256 KiB; a template that has a text part wins',
    ),
  ),
  replyTo: maybe(replyTo),
  headers: maybe(headers),
  tags: maybe(tags),
  scheduledAt: maybe(
    scheduledAt(
      'When to send it: ISO 8601, in the future and at most 90 days ahead; UTC if it has no zone',
    ),
  ),
  type: maybe(
    field(
      rule<'transactional' | 'marketing'>(
        '"transactional" or "marketing"',
        (value) => value === 'transactional' || value === 'marketing',
      ),
      {
        type: 'string',
        enum: ['transactional', 'marketing'],
        description:
          'Default: `transactional`. Marketing mail needs a marketing plan, honours unsubscribes and carries the means to unsubscribe (RFC 8058)',
      },
    ),
  ),
  topicId: maybe(
    bodyId('The topic, only for `marketing` mail: unsubscribing is then from this topic only'),
  ),
  attachments: maybe(attachments),
  metadata: maybe(metadata),
}

/** A mail as a client gave it, after the check. */
export type SendInput = FieldValues<typeof fields>

const loose = table(fields, {
  about: `Exactly one of \`html\` and \`template\`. ${unknownFields}.`,
})

/** A template brings its own subject, raw HTML needs one. */
const hasSubject = ({ subject, template }: SendInput) =>
  subject !== undefined || template !== undefined

/** A send as a whole. */
export const sendBody = field(
  knownBy(
    refine(structOf(loose), 'required', (body) =>
      hasSubject(body)
        ? true
        : missing('subject', givenSubject, 'Expected a string, because html is given'),
    ),
    (body) => isSound(body, structOf(loose)) && hasSubject(body as SendInput),
  ),
  {
    ...loose.schema,
    oneOf: [alternative('Raw HTML', 'html', 'subject'), alternative('From a template', 'template')],
  },
)

const missing = (
  name: string,
  { struct }: { struct: Struct<unknown, unknown> },
  message: string,
) => ({
  path: [name],
  key: name,
  value: undefined,
  type: struct.type,
  message,
})

/** The most mails of a batch. */
export const maxBatch = 100

/** Its items are judged one by one later, because interface.md wants every wrong one named with its index. */
export const batchBody = table(
  {
    emails: list(field(unknown(), shaped('Send')), { least: 1, most: maxBatch }),
    attachments: maybe(
      field(structOf(attachments), {
        ...attachments.schema,
        description:
          'Each of the emails has these beside its own: a file that all of them carry is sent and read once',
      }),
    ),
  },
  { about: 'All or none of them are queued.' },
)

const looseUssd = table(
  {
    from: sender(),
    to: maybe(recipient()),
    phoneNumber: maybe(
      filled(
        'a string: a phone number',
        text(
          'The phone number of the recipient in any notation, looked up among all contacts of the account',
          { examples: ['+2348031234567'] },
        ),
      ),
    ),
    subject: subject('The subject, as the recipient sees it'),
    html,
    text: maybe(plainText('The text part, made from the HTML if absent')),
    replyTo: maybe(replyTo),
    metadata: maybe(
      field(structOf(metadata), {
        ...metadata.schema,
        examples: [{ ussd: { sessionId: 'ATUid_1' } }],
      }),
    ),
  },
  { about: `At least one of \`to\` and \`phoneNumber\`; \`to\` wins. ${unknownFields}.` },
)

/** A mail that a USSD callback asks for: to an address, or to the contact with a phone number, in any notation. */
export const ussdBody = field(
  refine(structOf(looseUssd), 'required', ({ to, phoneNumber }) =>
    to !== undefined || phoneNumber !== undefined
      ? true
      : missing('to', recipient(), 'Expected an address, because phoneNumber is absent'),
  ),
  {
    ...looseUssd.schema,
    anyOf: [alternative('To an address', 'to'), alternative('By phone number', 'phoneNumber')],
  },
)
