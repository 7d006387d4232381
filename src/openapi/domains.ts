import { accountRefusals, confirmation, invalidField, pastDue, refusal } from '../contract/index.js'
import { closed, orNull, shaped, text, time, uuid } from '../fields/index.js'
import type { Description } from './description.js'
import { dmarcSchemas, readDomainDmarc } from './dmarc.js'

const id = '01a1fc92-0000-7000-8000-1b2c3d4e5f60'
const params = { id: 'The UUID of the domain' }
const name = text('The name of the domain in lower case, as A-labels (`xn--…`)', {
  examples: ['example.com'],
})
const choice = { type: 'string', enum: ['on', 'off', 'default'] }
/** Three values and not a boolean: `default` follows the account, also when that changes later. */
const tracking = {
  trackOpens: {
    ...choice,
    description:
      'Whether opens are tracked; `default`: as the account has it, and in transactional mail not, unless the account says `on`',
  },
  trackClicks: {
    ...choice,
    description: 'Whether clicks are tracked; `default`: as the account has it',
  },
}
/** What a list shows; the detail adds the records, which are long. */
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
  dkim: {
    type: 'array',
    items: closed({
      selector: text('The selector: the first part of the name of its DNS record'),
      algorithm: { type: 'string', enum: ['rsa-sha256', 'ed25519-sha256'] },
      verified: { type: 'boolean', description: 'Whether mail is signed with this key' },
    }),
  },
  ...tracking,
  trackingHost: orNull(text('The host of the domain for tracked links; null when it has none')),
  trackingHostReady: { type: 'boolean', description: 'Whether the DNS leads that host here' },
  createdAt: time('When the domain was added'),
  verifiedAt: orNull(time('Since when it is verified; null while it is not')),
  checkedAt: orNull(time('When its DNS records were last looked up; null: never')),
}
/**
 * `name` and `value` are ready to be pasted: DNS panels differ in whether they want a dot at the
 * end, and most of them want none.
 */
const record = {
  purpose: {
    type: 'string',
    enum: ['dkim-rsa', 'dkim-ed25519', 'return-path-mx', 'return-path-spf', 'dmarc', 'tracking'],
  },
  type: { type: 'string', enum: ['TXT', 'MX', 'CNAME'] },
  name: text('The whole name of the record, without a dot at the end'),
  value: text('The value to publish; for an MX the preference and the host'),
  required: { type: 'boolean', description: 'True: without this record nothing is sent' },
}
/** A domain right after it was added, before anything is published. */
const domain = {
  id,
  name: 'example.com',
  status: 'pending',
  trusted: false,
  returnPath: false,
  dkim: [{ selector: 'ph1a2b3cr', algorithm: 'rsa-sha256', verified: false }],
  trackOpens: 'default',
  trackClicks: 'default',
  trackingHost: null,
  trackingHostReady: false,
  createdAt: '2026-11-21T10:00:00.000Z',
  verifiedAt: null,
  checkedAt: null,
}
/** Long enough to be seen for a key, too short to be one. */
const wanted = {
  purpose: 'dkim-rsa',
  type: 'TXT',
  name: 'ph1a2b3cr._domainkey.example.com',
  value: 'v=DKIM1; k=rsa; p=MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8A',
  required: true,
}
/**
 * `zone` is the same records as lines of a zone file (RFC 1035 §5.1), for those who run a name
 * server.
 */
const detail = {
  ...domain,
  records: [wanted],
  zone: `${wanted.name}. 3600 IN TXT "${wanted.value}"\n`,
}
/** Also for a domain of another account. */
const noSuchDomain = refusal(
  'not_found',
  'The account has no such domain',
  'The account has no sending domain with this id',
)
/**
 * A 422 with the name of the field, and not the validator's 400: whether a text is a domain name is judged by the rules
 * of `domains`, after the shape of the body.
 */
const noName = invalidField(
  'It is not a domain name',
  '"localhost" is not a domain name, such as example.com',
  'name',
)

export const domains: Description = {
  tag: {
    name: 'Domains',
    description:
      'The domains that an account sends from: the DNS records to publish, and whether they are there.',
  },
  schemas: {
    Domain: closed(known),
    Domains: closed({ domains: { type: 'array', items: shaped('Domain') } }),
    DomainDetail: closed({
      ...known,
      records: { type: 'array', items: closed(record), description: 'The records to publish' },
      zone: text('The same records as lines of a zone file'),
    }),
    DomainVerification: closed({
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
    }),
    NewDomain: {
      type: 'object',
      properties: {
        name: text('The name of the domain, in Unicode or as A-labels', {
          examples: ['bücher.example'],
        }),
      },
      required: ['name'],
    },
    DomainChanges: {
      type: 'object',
      minProperties: 1,
      description: 'At least one field; those that are not given stay as they are.',
      properties: {
        ...tracking,
        trackingHost: text(
          'A host of the domain for tracked links, with a CNAME record to publish; an empty text takes it away',
        ),
      },
    },
    ...dmarcSchemas,
    DomainDeleted: closed({
      id: uuid('The id that the request named'),
      deleted: { const: true },
      message: confirmation,
      automations: {
        type: 'array',
        description:
          'Automations that are enabled, or have live runs, and send from it: their runs wait until it is added and verified again',
        items: closed({
          id: uuid('The id of the automation'),
          name: text('The name of the automation'),
        }),
      },
    }),
  },
  operations: {
    'GET /v1/domains': {
      id: 'listDomains',
      summary: 'List the domains',
      answers: [{ status: 200, when: 'Domains', shape: 'Domains', value: { domains: [domain] } }],
      refusals: [],
    },
    'POST /v1/domains': {
      id: 'addDomain',
      summary: 'Add a domain',
      description: 'Its DKIM keys are made, and the answer has the records to publish.',
      body: {
        shape: 'NewDomain',
        examples: [{ when: 'A domain', value: { name: 'example.com' } }],
      },
      answers: [{ status: 201, when: 'It is added', shape: 'DomainDetail', value: detail }],
      refusals: [
        noName,
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
    },
    'GET /v1/domains/:id': {
      id: 'getDomain',
      summary: 'One domain with its DNS records',
      params,
      answers: [{ status: 200, when: 'The domain', shape: 'DomainDetail', value: detail }],
      refusals: [noSuchDomain],
    },
    'GET /v1/domains/:id/dmarc': { ...readDomainDmarc, refusals: [noSuchDomain] },
    'PATCH /v1/domains/:id': {
      id: 'updateDomain',
      summary: 'Change the tracking of a domain',
      description:
        'A host for links is used from the next verification on that sees the DNS lead it here.',
      params,
      body: {
        shape: 'DomainChanges',
        examples: [
          { when: 'No clicks', value: { trackClicks: 'off' } },
          { when: 'A host for links', value: { trackingHost: 'links.example.com' } },
        ],
      },
      answers: [
        { status: 200, when: 'As it is after the request', shape: 'DomainDetail', value: detail },
      ],
      refusals: [noSuchDomain, noName],
    },
    // A POST, as it changes the domain's status; the limit is there because each look asks the DNS some ten questions.
    'POST /v1/domains/:id/verify': {
      id: 'verifyDomain',
      summary: 'Look the DNS records up',
      description:
        'The domain is verified from then on that the required record is found, and not while it is missing. At most 10 looks a minute for an account.',
      params,
      answers: [
        {
          status: 200,
          when: 'What was found',
          shape: 'DomainVerification',
          value: {
            ...domain,
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
        },
      ],
      refusals: [noSuchDomain],
    },
    'DELETE /v1/domains/:id': {
      id: 'deleteDomain',
      summary: 'Delete a domain and its keys',
      params,
      answers: [
        {
          status: 200,
          when: 'It was deleted',
          shape: 'DomainDeleted',
          value: {
            id,
            deleted: true,
            message: 'Domain and its keys deleted',
            automations: [],
          },
        },
      ],
      refusals: [
        noSuchDomain,
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
    },
  },
}
