import { answer, type Contract, operation } from '../contract/index.js'
import { domain } from '../domains/contract.js'
import { closed, count, maybe, queryWhole, shaped, text, time, uuid } from '../fields/index.js'
import { keptDays, usualDays } from './sources.js'

// A source is an address and not a network: reports name addresses (RFC 7489 appendix C, `source_ip`), and owners of
// networks change.
const source = {
  address: text(
    'The IP address that the mail came from; empty: several, which were too many to be told apart',
  ),
  name: text('Its name in the DNS; empty where it has none, or nothing answered'),
  kind: {
    type: 'string',
    enum: ['ours', 'forwarder', 'service', 'other'],
    description:
      '`ours`: the appliance sends from it. `forwarder`: it sends on what was signed for the domain. `service`: SPF of the domain lets it send. `other`: a stranger, or a server that is not set up.',
  },
  messages: count('How many mails receivers counted from it'),
  passed: count(
    'How many of these passed DMARC: DKIM or SPF did, for a domain that aligns with the From',
  ),
  dkimPassed: count('How many of these passed by DKIM'),
  spfPassed: count('How many of these passed by SPF'),
  quarantined: count('How many mails receivers took as spam, as the policy asks'),
  rejected: count('How many mails receivers refused, as the policy asks'),
  unproven: count('How many mails are from reports that nobody has signed'),
  reporters: {
    type: 'array',
    items: { type: 'string' },
    description: 'Some of the receivers that report it',
  },
  identifiers: text('Which domains passed or failed by SPF and DKIM, in one of the reports', {
    examples: ['spf=pass spam.example'],
  }),
  advice: text('What to do about it; empty when there is nothing to do'),
}
// The example has one source of each kind that needs different advice.
const example = {
  id: '01a1fc92-0000-7000-8000-1b2c3d4e5f60',
  name: 'example.com',
  since: '2026-10-23T00:00:00.000Z',
  policy: 'none',
  reports: 2,
  messages: 129,
  passed: 120,
  sources: [
    {
      address: '192.0.2.10',
      name: 'mail.example.com',
      kind: 'ours',
      messages: 120,
      passed: 120,
      dkimPassed: 120,
      spfPassed: 118,
      quarantined: 0,
      rejected: 0,
      unproven: 0,
      reporters: ['google.com'],
      identifiers: 'dkim=pass example.com',
      advice: '',
    },
    {
      address: '198.51.100.77',
      name: '',
      kind: 'other',
      messages: 9,
      passed: 0,
      dkimPassed: 0,
      spfPassed: 0,
      quarantined: 0,
      rejected: 0,
      unproven: 0,
      reporters: ['google.com'],
      identifiers: 'spf=pass spam.example',
      advice:
        'If it is yours, have it sign with DKIM for the domain; else publish p=quarantine, then p=reject',
    },
  ],
  reporters: [{ name: 'google.com', proof: 'google.com', reports: 2 }],
  tls: { reports: 1, successes: 42, failures: 3, types: { 'certificate-expired': 3 } },
}

// Counts of unsigned reports stand apart in `unproven`, since anybody may mail one to the address
// that the domain's DMARC record names.
const known = {
  id: uuid('The id of the domain'),
  name: text('The name of the domain'),
  since: time('When the first day that is counted begins, UTC'),
  policy: text('The DMARC policy (`p`) in the newest signed report; empty without one', {
    examples: ['none'],
  }),
  reports: count('How many DMARC reports were received'),
  messages: count('How many mails in the name of the domain they count'),
  passed: count('How many of these passed DMARC'),
  sources: {
    type: 'array',
    items: shaped('DmarcSource'),
    description: 'The 200 sources with most mail, the largest first',
  },
  reporters: {
    type: 'array',
    items: closed({
      name: text('The receiver that reports'),
      proof: text('The domain whose DKIM signature the report carries; empty if it is not signed'),
      reports: count('How many reports it has sent'),
    }),
    description: 'The 100 receivers with most reports',
  },
  tls: {
    ...closed({
      reports: count('How many TLS reports were received'),
      successes: count('How many TLS sessions succeeded'),
      failures: count('How many TLS sessions failed'),
      types: {
        type: 'object',
        additionalProperties: { type: 'integer', minimum: 0 },
        description: 'Failures by result type (RFC 8460 §4.3)',
      },
    }),
    description:
      'What others report of TLS with the servers of its return path, to which bounces go',
  },
}

// The window ends today and counts whole days of UTC, as nearly all reports do.
export const windowFields = {
  days: maybe(
    queryWhole(
      1,
      keptDays,
      'How many days the figures cover, the last of them today (UTC)',
      usualDays,
    ),
  ),
}

export const getDomainDmarc = operation('GET /v1/domains/:id/dmarc', {
  id: 'getDomainDmarc',
  may: 'read',
  of: domain,
  query: windowFields,
  says: () => ({
    summary: 'What receivers report of mail in its name',
    description:
      'DMARC aggregate reports that came to `dmarc@` the host of the appliance, by the address that the mail came from. Anybody can have written a report that nobody has signed: those are counted as `unproven`.',
    answers: [answer('By source', 'DomainDmarc', known, example)],
  }),
})

/** Beside the other operations of domains: what reports say of them. */
export const dmarc: Omit<Contract, 'tag'> = {
  operations: [getDomainDmarc],
  shapes: () => ({ DmarcSource: closed(source) }),
}
