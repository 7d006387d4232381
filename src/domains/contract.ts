import {
  accountRefusals,
  answer,
  byId,
  type Contract,
  closedOf,
  deletedFields,
  invalidField,
  manyOf,
  operation,
  pastDue,
  refusal,
  shape,
} from '../contract/index.js'
import {
  closed,
  flag,
  maybe,
  oneOf,
  orNull,
  table,
  text,
  time,
  uuid,
  words,
} from '../fields/index.js'
import { switchChoices } from './switch.js'

export const domain = byId('domain', 'sending domain')
const name = text('The name of the domain in lower case, as A-labels (`xn--…`)', {
  examples: ['example.com'],
})
// Three values and not a boolean: `default` follows the account, also when the account changes later.
const trackOpens = oneOf(
  switchChoices,
  'Whether opens are tracked; `default`: as the account has it, and in transactional mail not, unless the account says `on`',
)
const trackClicks = oneOf(
  switchChoices,
  'Whether clicks are tracked; `default`: as the account has it',
)
const keysOf = (description: string) => ({
  type: 'array',
  description,
  items: closed({
    selector: text('The selector: the first part of the name of its DNS record'),
    algorithm: { type: 'string', enum: ['rsa-sha256', 'ed25519-sha256'] },
    verified: { type: 'boolean', description: 'Whether mail is signed with this key' },
  }),
})
// What a list shows; the detail adds the records, which are long.
const known = {
  id: uuid('The id of the domain, which never changes'),
  name,
  status: {
    type: 'string',
    enum: ['pending', 'verified'],
    description: 'Mail is sent only from a verified domain',
  },
  trusted: {
    type: 'boolean',
    description: 'True: verified because the operator said so, whatever the DNS says',
  },
  returnPath: {
    type: 'boolean',
    description: 'Whether bounces come back to a host of the domain itself',
  },
  dkim: keysOf('Its keys'),
  dkimNext: keysOf('Keys that sign in their place once their records are seen in the DNS'),
  trackOpens,
  trackClicks,
  trackingHost: orNull(text('The host of the domain for tracked links; null when it has none')),
  trackingHostReady: { type: 'boolean', description: 'Whether the DNS leads that host here' },
  receivingHost: orNull(
    text(
      'The host at which it receives mail: the domain or a name below it; null: it receives none',
    ),
  ),
  receivingHostReady: {
    type: 'boolean',
    description: 'Whether the MX record of that host was seen to lead here',
  },
  createdAt: time('When the domain was added'),
  verifiedAt: orNull(time('Since when it is verified; null while it is not')),
  checkedAt: orNull(time('When its DNS records were last looked up; null: never')),
}
// `name` and `value` are ready to be pasted: DNS panels differ in whether they want a dot at the
// end, and most of them want none.
const record = {
  purpose: {
    type: 'string',
    enum: [
      'dkim-rsa',
      'dkim-ed25519',
      'dkim-rsa-next',
      'dkim-ed25519-next',
      'return-path-mx',
      'return-path-spf',
      'dmarc',
      'tracking',
      'receiving',
    ],
  },
  type: { type: 'string', enum: ['TXT', 'MX', 'CNAME'] },
  name: text('The whole name of the record, without a dot at the end'),
  value: text('The value to publish; for an MX the preference and the host'),
  required: { type: 'boolean', description: 'True: without this record nothing is sent' },
}
// A domain right after it was added, before anything is published.
const example = {
  id: '01a1fc92-0000-7000-8000-1b2c3d4e5f60',
  name: 'example.com',
  status: 'pending',
  trusted: false,
  returnPath: false,
  dkim: [{ selector: 'ph1a2b3cr', algorithm: 'rsa-sha256', verified: false }],
  dkimNext: [],
  trackOpens: 'default',
  trackClicks: 'default',
  trackingHost: null,
  trackingHostReady: false,
  receivingHost: null,
  receivingHostReady: false,
  createdAt: '2026-11-21T10:00:00.000Z',
  verifiedAt: null,
  checkedAt: null,
}
// Long enough to be recognised as a key, too short to be one.
const wanted = {
  purpose: 'dkim-rsa',
  type: 'TXT',
  name: 'ph1a2b3cr._domainkey.example.com',
  value: 'v=DKIM1; k=rsa; p=MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A',
  required: true,
}
// `zone` is the same records as lines of a zone file (RFC 1035 §5.1), for people who run a name server.
const detail = {
  ...example,
  records: [wanted],
  zone: `${wanted.name}. 3600 IN TXT "${wanted.value}"\n`,
  oldRecords: [],
}
const withRecords = {
  ...known,
  records: { type: 'array', items: closed(record), description: 'The records to publish' },
  zone: text('The same records as lines of a zone file'),
  oldRecords: {
    type: 'array',
    description: 'The records of keys that signed before, until they were seen to be gone',
    items: closed({
      name: record.name,
      value: text('Its value'),
      mayGoAt: time(
        'From when on it may go: seven days after the last mail that its key has signed',
      ),
      mayGo: { type: 'boolean', description: 'Whether it may go now' },
    }),
  },
}
// A 422 with the name of the field, and not the validator's 400: the rules of `domains` judge whether a text is a
// domain name, after the shape of the body.
const noName = () =>
  invalidField(
    'It is not a domain name',
    '"localhost" is not a domain name, such as example.com',
    'name',
  )

export const listDomains = operation('GET /v1/domains', {
  id: 'listDomains',
  may: 'read',
  says: () => ({
    summary: 'List the domains',
    answers: [answer('Domains', 'Domains', { domains: manyOf('Domain') }, { domains: [example] })],
  }),
})

export const addDomain = operation('POST /v1/domains', {
  id: 'addDomain',
  may: 'full',
  audit: 'domain.add',
  body: shape(
    'NewDomain',
    table({
      name: words('The name of the domain, in Unicode or as A-labels', {
        examples: ['bücher.example'],
      }),
    }),
  ),
  says: () => ({
    summary: 'Add a domain',
    description: 'Its DKIM keys are made, and the answer has the records to publish.',
    examples: { 'A domain': { name: 'example.com' } },
    answers: [answer('It is added', 'DomainDetail', withRecords, detail, 201)],
    refusals: [
      noName(),
      refusal(
        'conflict',
        'The account has it already',
        'The account has the domain example.com already',
      ),
      ...accountRefusals,
      pastDue,
      refusal(
        'plan_limit_exceeded',
        'The plan has no room for another domain',
        'The plan Free allows 1 domain',
      ),
    ],
  }),
})

export const getDomain = operation('GET /v1/domains/:id', {
  id: 'getDomain',
  may: 'read',
  of: domain,
  says: () => ({
    summary: 'One domain with its DNS records',
    answers: [answer('The domain', 'DomainDetail', withRecords, detail)],
  }),
})

export const updateDomain = operation('PATCH /v1/domains/:id', {
  id: 'updateDomain',
  may: 'full',
  audit: 'domain.change',
  of: domain,
  body: shape(
    'DomainChanges',
    table(
      {
        trackOpens: maybe(trackOpens),
        trackClicks: maybe(trackClicks),
        trackingHost: maybe(
          words(
            'A host of the domain for tracked links, with a CNAME record to publish; an empty text takes it away',
          ),
        ),
        receivingHost: maybe(
          words(
            'The host at which mail is received, the domain itself or a name below it, with an MX record to publish: that of the domain itself leads all of its mail here. An empty text ends it',
          ),
        ),
      },
      {
        atLeastOne: true,
        about: 'At least one field; those that are not given stay as they are.',
      },
    ),
  ),
  says: () => ({
    summary: 'Change the tracking of a domain, or where it receives mail',
    description:
      'A host for links is used from the next verification on that sees the DNS lead it here. Mail is received for the addresses that rules name (`/v1/receiving/rules`), as soon as the domain is verified.',
    examples: {
      'No clicks': { trackClicks: 'off' },
      'A host for links': { trackingHost: 'links.example.com' },
      'Mail that comes in': { receivingHost: 'in.example.com' },
    },
    answers: [answer('As it is after the request', 'DomainDetail', withRecords, detail)],
    refusals: [
      noName(),
      refusal(
        'conflict',
        'Another account receives there',
        'Mail to in.example.com is received by another account already',
      ),
    ],
  }),
})

// A POST, as it changes the domain's status; the limit is there because each look asks the DNS some ten questions.
export const verifyDomain = operation('POST /v1/domains/:id/verify', {
  id: 'verifyDomain',
  may: 'full',
  audit: 'domain.check',
  of: domain,
  says: () => ({
    summary: 'Look the DNS records up',
    description:
      'The domain is verified from then on that the required record is found, and not while it is missing. At most 10 looks a minute for an account.',
    answers: [
      answer(
        'What was found',
        'DomainVerification',
        {
          ...known,
          records: {
            type: 'array',
            items: closed({
              ...record,
              state: {
                type: 'string',
                enum: ['ok', 'missing', 'different', 'unknown'],
                description: '`unknown`: the DNS gave no answer, so nothing was concluded',
              },
              found: {
                type: 'array',
                items: { type: 'string' },
                description: 'What the DNS has there',
              },
              advice: text('What to do about it; empty when there is nothing to do'),
            }),
          },
        },
        {
          ...example,
          checkedAt: '2026-11-21T10:05:00.000Z',
          records: [
            {
              ...wanted,
              state: 'missing',
              found: [],
              advice: 'Publish this TXT record at ph1a2b3cr._domainkey.example.com',
            },
          ],
        },
      ),
    ],
  }),
})

// A POST: a repeat with the same key makes no new keys.
export const rotateDomain = operation('POST /v1/domains/:id/rotate', {
  id: 'rotateDomain',
  may: 'full',
  audit: 'domain.rotate',
  of: domain,
  body: shape(
    'Rotation',
    table({
      atOnce: maybe(
        flag(
          'True, as the key in use has leaked: it signs no more and is forgotten at once, and mail has no signature of the domain before the new records are seen',
        ),
        '`false`',
      ),
    }),
  ),
  says: () => ({
    summary: 'Replace the DKIM keys of a domain',
    description:
      'New keys are made beside those in use, and the answer has their records to publish. Once those are seen in the DNS mail is signed with them, and the private keys before them are forgotten; nothing waits meanwhile.',
    examples: { 'In good time': {}, 'As the key has leaked': { atOnce: true } },
    answers: [
      answer('New keys are made', 'DomainDetail', withRecords, {
        ...detail,
        dkimNext: [{ selector: 'ph4d5e6fr', algorithm: 'rsa-sha256', verified: false }],
      }),
    ],
    refusals: [
      refusal(
        'conflict',
        'New keys wait for their records already',
        'New keys of example.com wait for their records already; publish those, or replace the keys at once',
      ),
      refusal(
        'rate_limit_exceeded',
        'Too many key pairs are being made',
        'Too many domains are being added; try again in a moment',
      ),
    ],
  }),
})

export const deleteDomain = operation('DELETE /v1/domains/:id', {
  id: 'deleteDomain',
  may: 'full',
  audit: 'domain.remove',
  of: domain,
  says: () => ({
    summary: 'Delete a domain and its keys',
    answers: [
      answer(
        'It was deleted',
        'DomainDeleted',
        {
          ...deletedFields,
          automations: {
            type: 'array',
            description:
              'Automations that are enabled, or have live runs, and send from it: their runs wait until it is added and verified again',
            items: closed({
              id: uuid('The id of the automation'),
              name: text('The name of the automation'),
            }),
          },
        },
        {
          id: example.id,
          deleted: true,
          message: 'Domain and its keys deleted',
          automations: [],
        },
      ),
    ],
    refusals: [
      refusal(
        'conflict',
        'Mail or a campaign from it waits',
        'example.com cannot be deleted: 2 deliveries from it are waiting',
        {
          shape: 'DomainInUse',
          fields: {
            broadcastId: uuid('The campaign that waits; absent when it is mail that waits'),
          },
          optional: ['broadcastId'],
        },
      ),
    ],
  }),
})

export const domains: Contract = {
  tag: {
    name: 'Domains',
    description:
      'The domains that an account sends from: the DNS records to publish, and whether they are there.',
  },
  operations: [
    listDomains,
    addDomain,
    getDomain,
    updateDomain,
    verifyDomain,
    rotateDomain,
    deleteDomain,
  ],
  shapes: () => ({ Domain: closedOf(known) }),
}
