import { closedOf, manyOf } from '../contract/index.js'
import { count, oneOf, orNull, text, time, uuid } from '../fields/index.js'
import { receivingActions } from './rule.js'
import { receivedStates } from './shown.js'

const result = (about: string) => text(`${about} (RFC 8601)`, { examples: ['pass'] })
const checks = {
  spf: result('SPF of the envelope’s sender'),
  dkim: result('DKIM: the best of its signatures'),
  dmarc: result('DMARC of the From'),
  arc: result('ARC: the seals of those who have sent it on'),
}

/** What a list shows of a mail. */
export const summary = {
  id: uuid('The id of the mail, which `email.received` has as `emailId` and as `receivedId`'),
  domainId: uuid('The domain at whose host it came in'),
  ruleId: uuid('The rule that has decided; it may be gone'),
  action: oneOf(receivingActions, 'What the rule did with it'),
  recipient: text('The address that it was sent to, in lower case'),
  from: text('The From of its header, decoded: whatever its sender has written'),
  envelopeFrom: text('The sender of the envelope; empty for the null sender'),
  subject: text('The subject, decoded'),
  receivedAt: time('When it came in'),
  size: count('How many bytes it has'),
  state: oneOf(
    receivedStates,
    '`reading`: it came in a moment ago; `unreadable`: it is too broken to be taken apart: there are its header and its source',
  ),
  messageId: text('Its Message-ID, with angle brackets; empty: it has none'),
  inReplyTo: text('The Message-ID that it answers; empty: it answers none'),
  emailId: orNull(uuid('The mail of yours that it answers; null: none that is known')),
  answers: orNull(uuid('The same as `emailId`, by the name that webhooks have for it')),
  automatic: orNull(
    text('Why a machine seems to have sent it, such as a vacation notice; null: nothing says so'),
  ),
  loop: { type: 'boolean', description: 'True: it has been sent on from here before' },
  checks: orNull(closedOf(checks)),
  spam: orNull(
    closedOf({
      score: { type: 'number', description: 'How much it looks like spam' },
      required: { type: 'number', description: 'From which score on the filter calls it spam' },
      action: text('What the filter advises', { examples: ['no action', 'add header'] }),
      symbols: {
        type: 'array',
        items: text('The name of a rule of the filter'),
        description: 'Which of the filter’s rules have fired',
      },
    }),
  ),
  attachmentCount: count('How many files it has'),
}
/** A file of a mail. */
export const file = {
  number: count('Its place among the files, counted from 1'),
  filename: text('Its name, without any path'),
  contentType: text('Its type, as the sender has named it'),
  size: count('How many bytes it has'),
  disposition: { type: 'string', enum: ['attachment', 'inline'] },
  contentId: orNull(text('The id by which the HTML shows it; null: it has none')),
  sha256: text('The SHA-256 of its bytes, in hex'),
  path: text('Where its bytes are, on the API'),
}
const verdict = { result: text('The result'), domain: text('Whose'), info: text('In full') }
/** The whole mail. */
export const wholeMail = {
  ...summary,
  to: text('The To of its header, decoded'),
  references: {
    type: 'array',
    items: text('A Message-ID'),
    description: 'The thread that it is of, the oldest first',
  },
  fault: orNull(text('Why it cannot be read; null: it can')),
  text: orNull(text('What its sender has written, without what is quoted; null: nothing')),
  quoted: orNull(text('What its text quotes of the mail before; null: nothing')),
  html: orNull(text('The HTML as it came: clean it before you show it; null: it has none')),
  headers: manyOf({ name: text('The name'), value: text('The value, decoded, on one line') }),
  attachments: manyOf(file),
  results: orNull(
    closedOf({
      dkim: manyOf({
        ...verdict,
        selector: text('Of the key'),
        algorithm: text('Of the signature'),
      }),
      spf: closedOf(verdict),
      dmarc: closedOf({ ...verdict, policy: text('What the domain asks for') }),
      arc: closedOf({
        result: verdict.result,
        instances: count('How many seals it has'),
        info: verdict.info,
      }),
    }),
  ),
  forward: orNull(
    closedOf({
      to: text('Where to'),
      status: orNull(
        text(
          'How the mail that sends it on stands; `refused`: it was not sent on; `gone`: it was, and the log of that is kept no longer (7 days with the plans as they come); null: not yet',
        ),
      ),
      detail: orNull(text('Why not, or what the last server said')),
    }),
  ),
}
export const exampleOfMail = {
  id: '01a1fc92-9915-7533-8296-04ee3d91dd72',
  domainId: '01a1fc92-0000-7000-8000-1b2c3d4e5f60',
  ruleId: '01a1fc92-0000-7000-8000-3d4e5f607182',
  action: 'webhook',
  recipient: 'support+7@in.example.com',
  from: 'Ann <ann@example.org>',
  envelopeFrom: 'ann@example.org',
  subject: 'Re: Your order',
  receivedAt: '2026-11-21T12:00:00.120Z',
  size: 2_412,
  state: 'read',
  messageId: '<7f@example.org>',
  inReplyTo: '<019a9c1e-5b7c-7d3a-9d51-2f6a4f0c8e11@example.com>',
  emailId: '019a9c1e-5b7c-7d3a-9d51-2f6a4f0c8e11',
  answers: '019a9c1e-5b7c-7d3a-9d51-2f6a4f0c8e11',
  automatic: null,
  loop: false,
  checks: { spf: 'pass', dkim: 'pass', dmarc: 'pass', arc: 'none' },
  spam: null,
  attachmentCount: 0,
}
export const exampleInFull = {
  ...exampleOfMail,
  to: 'support+7@in.example.com',
  references: ['<019a9c1e-5b7c-7d3a-9d51-2f6a4f0c8e11@example.com>'],
  fault: null,
  text: 'It has arrived, thank you!',
  quoted: 'On Friday, shop@example.com wrote:\n> Your order is on its way.',
  html: null,
  headers: [{ name: 'Subject', value: 'Re: Your order' }],
  attachments: [],
  results: null,
  forward: null,
}
