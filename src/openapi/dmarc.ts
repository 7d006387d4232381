import { closed, count, type Description, shaped, text, time, uuid } from './describe.js'

/**
 * A source is an address and not a network: reports name addresses (RFC 7489 appendix C, `source_ip`), and who owns a
 * network changes.
 */
const source = {
  address: text('An IP address; empty: those that were too many to be told apart'),
  name: text('Its name in the DNS; empty where it has none, or nothing answered'),
  kind: {
    type: 'string',
    enum: ['ours', 'forwarder', 'service', 'other'],
    description:
      '`ours`: the appliance sends from it. `forwarder`: it sends on what was signed for the domain. `service`: SPF of the domain lets it send. `other`: a stranger, or a server that is not set up.',
  },
  messages: count('As counted by receivers'),
  passed: count('Of these, DKIM or SPF passed for a domain that aligns with the From'),
  dkimPassed: count('DKIM did'),
  spfPassed: count('SPF did'),
  quarantined: count('Treated as spam as the policy asks'),
  rejected: count('Refused as the policy asks'),
  unproven: count('Of these, in reports that nobody has signed'),
  reporters: { type: 'array', items: { type: 'string' }, description: 'Some that have seen it' },
  identifiers: text('What passed or failed there, of one of the reports', {
    examples: ['spf=pass spam.example'],
  }),
  advice: text('What to do; empty where nothing is'),
}
/** The example has one source of each kind that needs another advice. */
const value = {
  id: '01a1fc92-0000-7000-8000-1b2c3d4e5f60',
  name: 'example.com',
  since: '2026-10-23T00:00:00.000Z',
  policy: 'none',
  reports: 2,
  messages: 129,
  passed: 120,
  sources: [
    {
      ...{ address: '192.0.2.10', name: 'mail.example.com', kind: 'ours' },
      ...{ messages: 120, passed: 120, dkimPassed: 120, spfPassed: 118 },
      ...{ quarantined: 0, rejected: 0, unproven: 0, reporters: ['google.com'] },
      ...{ identifiers: 'dkim=pass example.com', advice: '' },
    },
    {
      ...{ address: '198.51.100.77', name: '', kind: 'other' },
      ...{ messages: 9, passed: 0, dkimPassed: 0, spfPassed: 0 },
      ...{ quarantined: 0, rejected: 0, unproven: 0, reporters: ['google.com'] },
      identifiers: 'spf=pass spam.example',
      advice:
        'If it is yours, have it sign with DKIM for the domain; else publish p=quarantine, then p=reject',
    },
  ],
  reporters: [{ name: 'google.com', proof: 'google.com', reports: 2 }],
  tls: { reports: 1, successes: 42, failures: 3, types: { 'certificate-expired': 3 } },
}

/**
 * Counts of unsigned reports stand apart in `unproven`, since anybody may mail one to the address
 * that the domain's DMARC record names.
 */
export const dmarcSchemas: Description['schemas'] = {
  DomainDmarc: closed({
    id: uuid('Of the domain'),
    name: text('The domain'),
    since: time('When the first day that is counted begins, UTC'),
    policy: text('`p` of the newest signed report; empty without one', { examples: ['none'] }),
    reports: count('How many were received'),
    messages: count('Mail in the name of the domain'),
    passed: count('Of these, what passed DMARC'),
    sources: {
      type: 'array',
      items: shaped('DmarcSource'),
      description: 'The 200 with most mail, the largest first',
    },
    reporters: {
      type: 'array',
      items: closed({
        name: text('Who reports'),
        proof: text(
          'The domain whose DKIM signature the report carries; empty if it is not signed',
        ),
        reports: count('How many'),
      }),
      description: 'The 100 with most reports',
    },
    tls: {
      ...closed({
        reports: count('How many were received'),
        successes: count('Sessions that went well'),
        failures: count('Sessions that failed'),
        types: {
          type: 'object',
          additionalProperties: { type: 'integer', minimum: 0 },
          description: 'Failures by result type (RFC 8460 §4.3)',
        },
      }),
      description: 'What receivers reported of TLS with the servers of its return path',
    },
  }),
  DmarcSource: closed(source),
}

/**
 * The window ends today and counts whole days of UTC, as nearly all reports do.
 */
export const readDomainDmarc: Description['operations'][string] = {
  id: 'getDomainDmarc',
  summary: 'What receivers report of mail in its name',
  description:
    'DMARC aggregate reports that came to `dmarc@` the host of the appliance, by the address that the mail came from. Anybody can have written a report that nobody has signed: those are counted as `unproven`.',
  params: { id: 'The UUID of the domain' },
  query: {
    days: {
      type: 'integer',
      minimum: 1,
      maximum: 400,
      default: 30,
      description: 'So many days up to today, UTC',
    },
  },
  answers: [{ status: 200, when: 'By source', shape: 'DomainDmarc', value }],
  refusals: [],
}
