import {
  confirmation,
  foreignCursor,
  invalidField,
  pageFields,
  pageQuery,
  refusal,
} from '../contract/index.js'
import {
  closed,
  count,
  openObject,
  orNull,
  type Schema,
  shaped,
  text,
  time,
  uuid,
} from '../fields/index.js'
import { suppressionReasons } from '../suppression/index.js'
import type { Description } from './description.js'

const params = {
  email: text('The address, in any case of letters', { examples: ['ann@example.org'] }),
}
const reason: Schema = {
  type: 'string',
  enum: suppressionReasons,
  description: 'Why the address must not be mailed',
}
/**
 * An unsubscription blocks marketing alone; whoever has unsubscribed still gets receipts
 * (interface.md, `type`).
 */
const scope: Schema = {
  type: 'string',
  enum: ['all', 'marketing'],
  description: 'What is blocked: all mail, or marketing mail only',
}
/** There may be several records for an address, one a reason, since each ends in another way. */
const record = {
  email: text('The address in lower case'),
  reason,
  scope,
  emailId: orNull(uuid('The mail that led to it; null: none did')),
  detail: orNull(text("A note, or what the recipient's server said; null: none")),
  createdAt: time('Since when the address is suppressed'),
  expiresAt: orNull(time('When the record ends by itself; null: it does not')),
}
/** A name before the address is taken and dropped, because exports of other services have one. */
const item: Schema = {
  type: 'object',
  properties: {
    email: text('The address: `a@b` or `Name <a@b>`'),
    reason: { ...reason, description: `${reason.description}; default: \`manual\`` },
    scope: {
      ...scope,
      description: 'What is blocked; default: `marketing` for `unsubscribe`, else `all`',
    },
    detail: text('A note of your own, such as who asked for it', { maxLength: 1_000 }),
  },
  required: ['email'],
}
/** A bounce, as that is what most records are. */
const example = {
  email: 'ann@example.org',
  reason: 'bounce',
  scope: 'all',
  emailId: '01a1fc92-9915-7533-8296-04ee3d91dd72',
  detail: '550 5.1.1 no such user',
  createdAt: '2026-11-21T10:00:00.000Z',
  expiresAt: null,
}
const added = { email: 'ann@example.org', reason: 'manual', detail: 'asked by phone' }
const shown = { ...example, ...added, emailId: null }
const noAddress = refusal('not_found', 'It is not an email address', 'This is not an email address')

/**
 * Deleting a record does not bring back consent: that is why the description says so, and the
 * operator sees who did it.
 */
export const suppressions: Description = {
  tag: {
    name: 'Suppressions',
    description:
      'Who must not be mailed, and why. Bounces and complaints come here by themselves; whoever has unsubscribed or complained must not be taken off before asking for it.',
  },
  schemas: {
    Suppression: closed(record),
    Suppressions: closed({
      suppressions: { type: 'array', items: shaped('Suppression') },
      ...pageFields,
    }),
    NewSuppression: item,
    NewSuppressions: {
      type: 'object',
      properties: { suppressions: { type: 'array', items: item, minItems: 1, maxItems: 1_000 } },
      required: ['suppressions'],
    },
    SuppressionsImported: closed({
      added: count('How many records are new'),
      known: count('How many records were there already'),
      refused: {
        type: 'array',
        items: closed({
          index: count('The place of the item in `suppressions`, from 0'),
          error: text('What is wrong with it'),
        }),
      },
    }),
    SuppressedAddress: closed({
      email: text('The address in lower case'),
      blocks: orNull({
        ...scope,
        description: 'What is not sent to it, all mail or marketing mail; null: everything is sent',
      }),
      suppressions: { type: 'array', items: shaped('Suppression') },
      history: {
        type: 'array',
        description: 'How the address came in, what it left, and who took that back; the last 200',
        items: closed({
          at: time('When it happened'),
          kind: text('What happened', { examples: ['unsubscribed', 'lifted'] }),
          detail: openObject('What else is known: who did it, and which mail it came from'),
        }),
      },
    }),
    SuppressionRemoved: closed({
      email: text('The address in lower case'),
      removed: count('How many records were removed'),
      message: confirmation,
    }),
  },
  operations: {
    'GET /v1/suppressions': {
      id: 'listSuppressions',
      summary: 'List who must not be mailed',
      query: { reason: { ...reason, description: 'Only records with this reason' }, ...pageQuery },
      answers: [
        {
          status: 200,
          when: 'By address',
          shape: 'Suppressions',
          value: { suppressions: [example], hasMore: false, nextCursor: null },
        },
      ],
      refusals: [foreignCursor],
    },
    'POST /v1/suppressions': {
      id: 'addSuppression',
      summary: 'Suppress an address',
      description:
        'A record with the same reason stays as it is, except that its scope can become wider.',
      body: { shape: 'NewSuppression', examples: [{ when: 'By phone', value: added }] },
      answers: [
        // Two statuses, so that a program that repeats itself sees whether it has changed anything.
        { status: 201, when: 'It is suppressed', shape: 'Suppression', value: shown },
        { status: 200, when: 'It was suppressed already', shape: 'Suppression', value: shown },
      ],
      refusals: [
        invalidField('It is not an email address', '"ann" is not an email address', 'email'),
      ],
    },
    'POST /v1/suppressions/import': {
      id: 'importSuppressions',
      summary: 'Suppress up to 1,000 addresses',
      // Not all or nothing, unlike a batch of mails: one bad line must not leave the other addresses without protection.
      description: 'The answer names those that are not addresses; all others are suppressed.',
      body: {
        shape: 'NewSuppressions',
        examples: [
          {
            when: 'From another service',
            value: {
              suppressions: [
                { email: 'ann@example.org', reason: 'unsubscribe' },
                { email: 'bob@example.org', reason: 'bounce', detail: '550 5.1.1' },
              ],
            },
          },
        ],
      },
      answers: [
        {
          status: 200,
          when: 'How many were added',
          shape: 'SuppressionsImported',
          value: { added: 2, known: 0, refused: [] },
        },
      ],
      refusals: [],
    },
    'GET /v1/suppressions/:email': {
      id: 'getSuppression',
      // 200 also for an address that nobody knows: that nothing blocks it is the answer, and no fault.
      summary: 'Why an address is (not) mailed',
      params,
      answers: [
        {
          status: 200,
          when: 'Whether it is mailed, and why not',
          shape: 'SuppressedAddress',
          value: {
            email: 'ann@example.org',
            blocks: 'all',
            suppressions: [example],
            history: [
              {
                at: '2026-11-21T10:00:00.000Z',
                kind: 'bounced',
                detail: { emailId: example.emailId },
              },
            ],
          },
        },
      ],
      refusals: [noAddress],
    },
    // A DELETE without a reason takes back all of them: after it the address is mailed, as the answer says.
    'DELETE /v1/suppressions/:email': {
      id: 'removeSuppression',
      summary: 'Let an address be mailed again',
      params,
      query: {
        reason: {
          ...reason,
          description: 'Remove only the record with this reason; default: all records',
        },
      },
      answers: [
        {
          status: 200,
          when: 'It is off the list',
          shape: 'SuppressionRemoved',
          value: {
            email: 'ann@example.org',
            removed: 1,
            message: 'The address may be mailed again',
          },
        },
      ],
      refusals: [refusal('not_found', 'It is not suppressed', 'ann@example.org is not suppressed')],
    },
  },
}
