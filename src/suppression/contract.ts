import {
  answer,
  type Contract,
  confirmation,
  foreignCursor,
  invalidField,
  manyOf,
  type Named,
  operation,
  pageFields,
  pageParams,
  refusal,
  shape,
} from '../contract/index.js'
import {
  count,
  list,
  maybe,
  oneOf,
  openObject,
  orNull,
  schemasOf,
  someLines,
  table,
  text,
  textThat,
  time,
  uuid,
  words,
} from '../fields/index.js'
import { suppressionReasons } from './suppress.js'

// How many addresses a request may have; more go in several requests, or as a file by the command line.
const maxImported = 1_000
const maxDetail = 1_000

const params = {
  email: words('The address, in any case of letters', { examples: ['ann@example.org'] }),
}
/** What its paths name. */
export const address: Named<typeof params> = {
  params,
  about: schemasOf(params),
  notFound: 'This is not an email address',
  when: 'It is not an email address',
}
const reasonFor = (about: string) => oneOf(suppressionReasons, about)
const scopeOf = (about: string) => oneOf(['all', 'marketing'], about)

// An unsubscription blocks marketing alone; whoever has unsubscribed still gets receipts (interface.md, `type`).
export const reason = reasonFor('Why the address must not be mailed')
const scope = scopeOf('What is blocked: all mail, or marketing mail only')

/** The fields of a new record, or of all records of a new list. */
export const given = {
  reason: maybe(reason, '`manual`'),
  scope: maybe(scopeOf('What is blocked; default: `marketing` for `unsubscribe`, else `all`')),
  detail: maybe(
    textThat(
      'a string of at most 1,000 characters',
      ({ length }) => length <= maxDetail,
      text('A note of your own, such as who asked for it', { maxLength: maxDetail }),
      someLines(0, maxDetail),
    ),
  ),
}
// A 422 that names the field says whether it is an address, not the shape of the body. A name before the address is
// taken and dropped, because exports of other services have one.
const item = table({ email: words('The address: `a@b` or `Name <a@b>`'), ...given })
const onlyOf = (about: string) => ({ reason: maybe(reasonFor(about)) })

// An address may have several records, one for each reason, because each ends in another way.
const record = {
  email: text('The address in lower case'),
  reason,
  scope,
  emailId: orNull(uuid('The mail that led to it; null: none did')),
  detail: orNull(text("A note, or what the recipient's server said; null: none")),
  createdAt: time('Since when the address is suppressed'),
  expiresAt: orNull(time('When the record ends by itself; null: it does not')),
}
// A bounce, because most records are bounces.
const example = {
  email: 'ann@example.org',
  reason: 'bounce',
  scope: 'all',
  emailId: '01a1fc92-9915-7533-8296-04ee3d91dd72',
  detail: '550 5.1.1 no such user',
  createdAt: '2026-11-21T10:00:00.000Z',
  expiresAt: null,
}
const added = { email: example.email, reason: 'manual', detail: 'asked by phone' }
const isAdded = (when: string, status: number) =>
  answer(when, 'Suppression', record, { ...example, ...added, emailId: null }, status)

export const listSuppressions = operation('GET /v1/suppressions', {
  id: 'listSuppressions',
  may: 'read',
  query: { ...onlyOf('Only records with this reason'), ...pageParams() },
  says: () => ({
    summary: 'List who must not be mailed',
    answers: [
      answer(
        'By address',
        'Suppressions',
        { suppressions: manyOf('Suppression'), ...pageFields },
        { suppressions: [example], hasMore: false, nextCursor: null },
      ),
    ],
    refusals: [foreignCursor],
  }),
})

export const addSuppression = operation('POST /v1/suppressions', {
  id: 'addSuppression',
  may: 'full',
  audit: 'suppression.add',
  body: shape('NewSuppression', item),
  says: () => ({
    summary: 'Suppress an address',
    description:
      'A record with the same reason stays as it is, except that its scope can become wider.',
    examples: { 'By phone': added },
    // Two statuses, so that a program that repeats itself sees whether it has changed anything.
    answers: [isAdded('It is suppressed', 201), isAdded('It was suppressed already', 200)],
    refusals: [
      invalidField('It is not an email address', '"ann" is not an email address', 'email'),
    ],
  }),
})

export const importSuppressions = operation('POST /v1/suppressions/import', {
  id: 'importSuppressions',
  may: 'full',
  audit: 'suppression.import',
  body: shape(
    'NewSuppressions',
    table({ suppressions: list(item, { least: 1, most: maxImported }) }),
  ),
  says: () => ({
    summary: 'Suppress up to 1,000 addresses',
    // Not all or nothing, unlike a batch of mails: one bad line must not leave the other addresses without protection.
    description: 'The answer names those that are not addresses; all others are suppressed.',
    examples: {
      'From another service': {
        suppressions: [
          { email: 'ann@example.org', reason: 'unsubscribe' },
          { email: 'bob@example.org', reason: 'bounce', detail: '550 5.1.1' },
        ],
      },
    },
    answers: [
      answer(
        'How many were added',
        'SuppressionsImported',
        {
          added: count('How many records are new'),
          known: count('How many records were there already'),
          refused: manyOf({
            index: count('The place of the item in `suppressions`, from 0'),
            error: text('What is wrong with it'),
          }),
        },
        { added: 2, known: 0, refused: [] },
      ),
    ],
  }),
})

export const getSuppression = operation('GET /v1/suppressions/:email', {
  id: 'getSuppression',
  may: 'read',
  of: address,
  says: () => ({
    // An unknown address gets a 200 too: that nothing blocks it is an answer and not a fault.
    summary: 'Why an address is (not) mailed',
    answers: [
      answer(
        'Whether it is mailed, and why not',
        'SuppressedAddress',
        {
          email: record.email,
          blocks: orNull(
            scopeOf('What is not sent to it, all mail or marketing mail; null: everything is sent')
              .schema,
          ),
          suppressions: manyOf('Suppression'),
          history: {
            ...manyOf({
              at: time('When it happened'),
              kind: text('What happened', { examples: ['unsubscribed', 'lifted'] }),
              detail: openObject('What else is known: who did it, and which mail it came from'),
            }),
            description:
              'How the address came in, what it left, and who took that back; the last 200',
          },
        },
        {
          email: example.email,
          blocks: 'all',
          suppressions: [example],
          history: [
            { at: example.createdAt, kind: 'bounced', detail: { emailId: example.emailId } },
          ],
        },
      ),
    ],
  }),
})

// A DELETE without a reason takes back all of them: after it the address is mailed, as the answer says.
export const removeSuppression = operation('DELETE /v1/suppressions/:email', {
  id: 'removeSuppression',
  may: 'full',
  audit: 'suppression.remove',
  of: address,
  query: onlyOf('Remove only the record with this reason; default: all records'),
  says: () => ({
    summary: 'Let an address be mailed again',
    answers: [
      answer(
        'It is off the list',
        'SuppressionRemoved',
        {
          email: record.email,
          removed: count('How many records were removed'),
          message: confirmation,
        },
        { email: example.email, removed: 1, message: 'The address may be mailed again' },
      ),
    ],
    refusals: [refusal('not_found', 'It is not suppressed', 'ann@example.org is not suppressed')],
  }),
})

// Deleting a record does not bring back consent: that is why the description says so, and the operator sees who did it.
export const suppressions: Contract = {
  tag: {
    name: 'Suppressions',
    description:
      'Who must not be mailed, and why. Bounces and complaints come here by themselves; whoever has unsubscribed or complained must not be taken off before asking for it.',
  },
  operations: [
    listSuppressions,
    addSuppression,
    importSuppressions,
    getSuppression,
    removeSuppression,
  ],
}
