import {
  accountRefusals,
  answer,
  byId,
  type Contract,
  ceiling,
  deletedFields,
  invalidField,
  manyOf,
  operation,
  pastDue,
  refusal,
  shape,
} from '../contract/index.js'
import {
  count,
  type Field,
  line,
  list,
  maybe,
  oneOf,
  orNull,
  orWord,
  saying,
  table,
  text,
  time,
  timeOr,
  uuid,
  whole,
  words,
} from '../fields/index.js'
import { keyScopes } from './limits.js'

const key = byId('key', 'API key')
const name = line(1, 100, 'The name of the key, for yourself')
// interface.md: a key grants full sending access. That is `full`, and the default; the narrower ones are ours.
const scope = oneOf(
  keyScopes,
  'What the key may do. `full`: everything; `sending`: send mail, look at one by its id, cancel a scheduled one; `read`: all that changes nothing; `test`: as `sending`, but its mail goes to the test inbox and never to anybody',
)
// Bounded, as each request of the key is compared with all of them.
const some = (about: string, example: string) =>
  list(words(), { least: 1, most: 50, about, examples: [[example]] })
const domains = some(
  'The sender domains of a sending or test key, which sees only the mails from them',
  'example.com',
)
const networks = some(
  'The addresses and CIDR ranges that its requests may come from',
  '10.0.0.0/24',
)

// In every body null means absent, so a word of its own removes a limit.
const orAny = (limit: Field<string[]>) =>
  orWord('any', { expected: '"any" or 1 to 50 strings', meaning: 'no limit' }, limit)
const mostMails = 1e9
const mails = (span: string) =>
  orWord(
    'any',
    { expected: `"any" or a whole number from 1 to ${mostMails}`, meaning: 'no limit' },
    whole(
      `How many mails the key may hand in within a clock ${span}, by the API and SMTP together`,
      {
        least: 1,
        most: mostMails,
      },
    ),
  )
const limits = {
  domains: maybe(orAny(domains)),
  networks: maybe(orAny(networks)),
  expiresAt: maybe(timeOr('never', 'When the key expires; `never`: it does not')),
  perHour: maybe(mails('hour')),
  perMinute: maybe(mails('minute')),
}
const mailsOrNone = (span: string) =>
  orNull(count(`How many mails it may hand in within a clock ${span}; null: any number`))
const orNone = ({ schema }: Field<string[]>) => orNull(saying(schema, '; null: no limit'))
// None of these fields has the key itself: it is shown once, and kept as a hash.
const known = {
  id: uuid('The id of the key, which never changes'),
  name,
  last4: text('The last four characters of the key, by which people recognise it'),
  scope,
  domains: orNone(domains),
  networks: orNone(networks),
  expiresAt: orNull(time('When the key expires; null: it does not')),
  perHour: mailsOrNone('hour'),
  perMinute: mailsOrNone('minute'),
  createdAt: time('When the key was made'),
  lastUsedAt: orNull(time('When it was last used, to the minute; null: never')),
}
// A limited key, since that is the kind that a printer or a plugin should get.
const example = {
  id: '01a1fc92-0000-7000-8000-0a1b2c3d4e5f',
  name: 'Printer',
  last4: 'x7Qa',
  scope: 'sending',
  domains: ['example.com'],
  networks: ['10.0.0.0/24'],
  expiresAt: null,
  perHour: 500,
  perMinute: null,
  createdAt: '2026-11-21T10:00:00.000Z',
  lastUsedAt: null,
}
// A key that people believe to be narrow and is not would be worse than none.
const badLimit = () =>
  invalidField(
    'A limit cannot be read, or limits nothing',
    'The account has no domain "example.com"',
    'domains',
  )
// Otherwise a stolen key could make itself a key that is not bound to a network or a time.
const mightier = () =>
  refusal(
    'forbidden',
    'It could do more than the key that asks',
    'A key cannot give another key rights that it lacks itself: the networks of the other key must be 10.0.0.0/8 or ranges of them',
  )
// Otherwise a key that is bound to a network or a time could delete keys that are not.
const isMightier = () =>
  refusal(
    'forbidden',
    'It may do more than the key that asks',
    'A key cannot change or delete one that is good from more networks than itself; use one with as many rights, or the dashboard',
  )
// An account without a full key could make no other by the API; the operator still can, by command.
const lastFull = () =>
  refusal(
    'conflict',
    'It is the last full key',
    "This is the account's last key with the scope full; make another full key first",
  )

export const listKeys = operation('GET /v1/keys', {
  id: 'listKeys',
  may: 'full',
  says: () => ({
    summary: 'List the API keys',
    answers: [answer('Keys', 'Keys', { keys: manyOf('Key') }, { keys: [example] })],
  }),
})

export const createKey = operation('POST /v1/keys', {
  id: 'createKey',
  may: 'full',
  audit: 'key.create',
  body: shape(
    'NewKey',
    table(
      { name, scope: maybe(scope, '`full`'), ...limits },
      {
        noOthers: true,
        about:
          'Other fields are refused, because a limit whose name is misspelt would limit nothing.',
      },
    ),
  ),
  says: () => ({
    summary: 'Make an API key',
    description: 'The key is in this answer and in none after it: it is kept as a hash.',
    examples: {
      'For an application': { name: 'Web shop' },
      'For a printer': {
        name: 'Printer',
        scope: 'sending',
        domains: ['example.com'],
        networks: ['10.0.0.0/24'],
        perHour: 500,
      },
    },
    answers: [
      answer(
        'It was made',
        'KeyCreated',
        {
          ...known,
          key: orNull(
            text(
              'The key itself, shown only this once; null in a repeat with the same Idempotency-Key',
            ),
          ),
        },
        { ...example, key: 'ph_dGhpcyBpcyBub3QgYSBrZXkgYnV0IGxvb2tzIGxpa2V' },
        201,
      ),
    ],
    refusals: [
      badLimit(),
      mightier(),
      ...accountRefusals,
      pastDue,
      ceiling('200 API keys', 'keys'),
    ],
  }),
})

export const getKey = operation('GET /v1/keys/:id', {
  id: 'getKey',
  may: 'full',
  of: key,
  says: () => ({
    summary: 'One API key',
    answers: [answer('The key', 'Key', known, example)],
  }),
})

export const updateKey = operation('PATCH /v1/keys/:id', {
  id: 'updateKey',
  may: 'full',
  audit: 'key.change',
  of: key,
  body: shape(
    'KeyChanges',
    table(
      { name: maybe(name), scope: maybe(scope), ...limits },
      {
        atLeastOne: true,
        noOthers: true,
        about:
          'At least one field; those that are not given stay as they are. Other fields are refused.',
      },
    ),
  ),
  says: () => ({
    summary: 'Rename or limit an API key',
    description:
      'It holds from the next request on. The scope `test` is neither given nor taken away later: make another key.',
    examples: {
      'From anywhere': { networks: 'any' },
      'At most 60 mails a minute': { perMinute: 60 },
    },
    answers: [answer('As it is after the request', 'Key', known, example)],
    refusals: [badLimit(), mightier(), isMightier(), lastFull()],
  }),
})

export const deleteKey = operation('DELETE /v1/keys/:id', {
  id: 'deleteKey',
  may: 'full',
  audit: 'key.delete',
  of: key,
  says: () => ({
    summary: 'Delete an API key',
    description: 'Requests with it fail from the next one on.',
    answers: [
      answer('It was deleted', 'KeyDeleted', deletedFields, {
        id: example.id,
        deleted: true,
        message: 'Key deleted; requests with it fail from now on',
      }),
    ],
    refusals: [isMightier(), lastFull()],
  }),
})

export const keys: Contract = {
  tag: {
    name: 'Keys',
    description:
      'API keys, by which applications show who they are. Only a full key sees and makes keys, and none that may do more than itself.',
  },
  operations: [listKeys, createKey, getKey, updateKey, deleteKey],
}

export { brand, getBrand, updateBrand } from './contract-brand.js'
