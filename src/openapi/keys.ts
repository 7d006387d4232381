import { keyScopes } from '../accounts/index.js'
import {
  accountRefusals,
  ceiling,
  confirmation,
  invalidField,
  pastDue,
  refusal,
} from '../contract/index.js'
import { closed, orNull, type Schema, shaped, text, time, uuid } from '../fields/index.js'
import type { Description } from './description.js'

const id = '01a1fc92-0000-7000-8000-0a1b2c3d4e5f'
const params = { id: 'The UUID of the key' }
const name = text('The name of the key, for yourself', { minLength: 1, maxLength: 100 })
/**
 * interface.md: a key grants full sending access. That is `full`, and the default; the narrower
 * ones are ours.
 */
const scope: Schema = {
  type: 'string',
  enum: keyScopes,
  description:
    'What the key may do. `full`: everything; `sending`: send mail, look at one by its id, cancel a scheduled one; `read`: all that changes nothing',
}
/** Bounded, as each request of the key is compared with all of them. */
const list = (description: string, examples: string[]): Schema => ({
  type: 'array',
  items: { type: 'string' },
  minItems: 1,
  maxItems: 50,
  description,
  examples: [examples],
})
const domains = list('The sender domains of a sending key, which sees only the mails from them', [
  'example.com',
])
const networks = list('The addresses and CIDR ranges that its requests may come from', [
  '10.0.0.0/24',
])
/** Null means absent here as everywhere, so a limit is taken away by a word of its own. */
const orAny = (schema: Schema): Schema => {
  const { description, examples, ...rest } = schema
  return { description: `${description}; \`any\`: no limit`, oneOf: [{ const: 'any' }, rest] }
}
/** The same in answers. */
const orNone = (schema: Schema): Schema =>
  orNull({ ...schema, description: `${schema.description}; null: no limit` })
/** What a key may be made or changed with. */
const given = {
  scope: { ...scope, description: `${scope.description}; default: \`full\`` },
  domains: orAny(domains),
  networks: orAny(networks),
  expiresAt: {
    description: 'When the key expires; `never`: it does not',
    oneOf: [{ const: 'never' }, { type: 'string', format: 'date-time' }],
  },
}
/** The key itself is in none of these: it is shown once, and kept as a hash. */
const known = {
  id: uuid('The id of the key, which never changes'),
  name,
  last4: text('The last four characters of the key, by which people recognise it'),
  scope,
  domains: orNone(domains),
  networks: orNone(networks),
  expiresAt: orNull(time('When the key expires; null: it does not')),
  createdAt: time('When the key was made'),
  lastUsedAt: orNull(time('When it was last used, to the minute; null: never')),
}
/** A limited key, since that is the kind that a printer or a plugin should get. */
const example = {
  id,
  name: 'Printer',
  last4: 'x7Qa',
  scope: 'sending',
  domains: ['example.com'],
  networks: ['10.0.0.0/24'],
  expiresAt: null,
  createdAt: '2026-11-21T10:00:00.000Z',
  lastUsedAt: null,
}
/** Also for a key of another account. */
const noSuchKey = refusal(
  'not_found',
  'The account has no such key',
  'The account has no API key with this id',
)
/**
 * A limit that limits nothing is refused: a key that is thought to be narrow and is not would be
 * worse than none.
 */
const badLimit = invalidField(
  'A limit cannot be read, or limits nothing',
  'The account has no domain "example.com"',
  'domains',
)
/**
 * Without this rule a stolen key could make itself one that is not bound to a network or a time.
 */
const mightier = refusal(
  'forbidden',
  'It could do more than the key that asks',
  'A key cannot give another key rights that it lacks itself: the networks of the other key must be 10.0.0.0/8 or ranges of them',
)
/** A key that was bound to a network or a time could otherwise take away those that are not. */
const isMightier = refusal(
  'forbidden',
  'It may do more than the key that asks',
  'A key cannot change or delete one that is good from more networks than itself; use one with as many rights, or the dashboard',
)
/**
 * An account without a full key could make no other by the API; the operator still can, by command.
 */
const lastFull = refusal(
  'conflict',
  'It is the last full key',
  "This is the account's last key with the scope full; make another full key first",
)

export const keys: Description = {
  tag: {
    name: 'Keys',
    description:
      'API keys, by which applications show who they are. Only a full key sees and makes keys, and none that may do more than itself.',
  },
  schemas: {
    Key: closed(known),
    Keys: closed({ keys: { type: 'array', items: shaped('Key') } }),
    NewKey: {
      type: 'object',
      description:
        'Other fields are refused, because a limit whose name is misspelt would limit nothing.',
      properties: { name, ...given },
      required: ['name'],
      additionalProperties: false,
    },
    KeyChanges: {
      type: 'object',
      minProperties: 1,
      description:
        'At least one field; those that are not given stay as they are. Other fields are refused.',
      properties: { name, ...given, scope },
      additionalProperties: false,
    },
    KeyCreated: closed({
      ...known,
      key: orNull(
        text(
          'The key itself, shown only this once; null in a repeat with the same Idempotency-Key',
        ),
      ),
    }),
    KeyDeleted: closed({
      id: uuid('The id that the request named'),
      deleted: { const: true },
      message: confirmation,
    }),
  },
  operations: {
    'GET /v1/keys': {
      id: 'listKeys',
      summary: 'List the API keys',
      answers: [{ status: 200, when: 'Keys', shape: 'Keys', value: { keys: [example] } }],
      refusals: [],
    },
    'POST /v1/keys': {
      id: 'createKey',
      summary: 'Make an API key',
      description: 'The key is in this answer and in none after it: it is kept as a hash.',
      body: {
        shape: 'NewKey',
        examples: [
          { when: 'For an application', value: { name: 'Web shop' } },
          {
            when: 'For a printer',
            value: {
              name: 'Printer',
              scope: 'sending',
              domains: ['example.com'],
              networks: ['10.0.0.0/24'],
            },
          },
        ],
      },
      answers: [
        {
          status: 201,
          when: 'It was made',
          shape: 'KeyCreated',
          value: { ...example, key: 'ph_dGhpcyBpcyBub3QgYSBrZXkgYnV0IGxvb2tzIGxpa2V' },
        },
      ],
      refusals: [badLimit, mightier, ...accountRefusals, pastDue, ceiling('200 API keys', 'keys')],
    },
    'GET /v1/keys/:id': {
      id: 'getKey',
      summary: 'One API key',
      params,
      answers: [{ status: 200, when: 'The key', shape: 'Key', value: example }],
      refusals: [noSuchKey],
    },
    'PATCH /v1/keys/:id': {
      id: 'updateKey',
      summary: 'Rename or limit an API key',
      description: 'It holds from the next request on.',
      params,
      body: {
        shape: 'KeyChanges',
        examples: [{ when: 'From anywhere', value: { networks: 'any' } }],
      },
      answers: [{ status: 200, when: 'As it is after the request', shape: 'Key', value: example }],
      refusals: [noSuchKey, badLimit, mightier, isMightier, lastFull],
    },
    'DELETE /v1/keys/:id': {
      id: 'deleteKey',
      summary: 'Delete an API key',
      description: 'Requests with it fail from the next one on.',
      params,
      answers: [
        {
          status: 200,
          when: 'It was deleted',
          shape: 'KeyDeleted',
          value: { id, deleted: true, message: 'Key deleted; requests with it fail from now on' },
        },
      ],
      refusals: [noSuchKey, isMightier, lastFull],
    },
  },
}
