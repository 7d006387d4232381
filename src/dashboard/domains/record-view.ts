import type { DnsRecord, Domain, RecordCheck } from '../../domains/index.js'
import type { Tone } from '../shell/parts.js'

/** A record to publish, with what the last look at it found. */
export interface RecordView {
  /** What the record is for. */
  title: string
  why: string
  required: boolean
  type: string
  host: string
  /** The name in the form that most DNS panels want: the part before the panel's domain. */
  label: string
  zone: string
  value: string
  state: { text: string; tone: Tone }
  /** What the DNS has there now. */
  found: string[]
  advice: string
}

/** What each record is for, told to somebody who hears of it for the first time. */
const words: Readonly<Record<DnsRecord['purpose'], { title: string; why: string }>> = {
  'dkim-rsa': {
    title: 'DKIM key (RSA)',
    why: 'Shows that the domain is yours, and lets receivers check the signature of its mail.',
  },
  'dkim-ed25519': {
    title: 'DKIM key (Ed25519)',
    why: 'A second, shorter signature, for receivers that know it.',
  },
  'dkim-rsa-next': {
    title: 'Next DKIM key (RSA)',
    why: 'Signs in the place of the key before it, once this record is seen. Keep the record of that key beside it.',
  },
  'dkim-ed25519-next': {
    title: 'Next DKIM key (Ed25519)',
    why: 'The same for the second, shorter signature.',
  },
  'return-path-mx': {
    title: 'Return path: MX',
    why: 'Brings bounces back here under the domain’s own name.',
  },
  'return-path-spf': {
    title: 'Return path: SPF',
    why: 'Says that mail with this return path comes from this appliance.',
  },
  dmarc: {
    title: 'DMARC policy',
    why: 'Says what receivers do with mail that only pretends to be yours, and where they report it.',
  },
  tracking: {
    title: 'Host for links',
    why: 'Tracked links then show your own name in place of the appliance’s.',
  },
  receiving: {
    title: 'Incoming mail: MX',
    why: 'Leads mail to this name here. If other MX records stand there, that mail still goes where they lead.',
  },
}

/** A record with what the last look at the DNS found; `seen` is undefined before the first look. */
export function recordView(
  domain: Domain,
  record: DnsRecord & { seen: RecordCheck | undefined },
): RecordView {
  const { purpose, type, host, value, required, seen } = record
  return {
    ...words[purpose],
    type,
    host,
    value,
    required,
    label: labelIn(host, domain.name),
    zone: domain.name,
    state: stateIn(seen, domain),
    found: seen?.found ?? [],
    advice: seen?.advice ?? '',
  }
}

/** Panels call the domain itself `@`. */
function labelIn(host: string, domain: string): string {
  if (host === domain) return '@'
  return host.endsWith(`.${domain}`) ? host.slice(0, -domain.length - 1) : host
}

/** The state of a record. A domain that the operator trusts has no faults: its mail leaves whatever the DNS says. */
function stateIn(seen: RecordCheck | undefined, { trusted }: Domain): RecordView['state'] {
  switch (seen?.state) {
    case 'ok':
      return { text: 'found', tone: 'good' }
    case 'missing':
      return { text: 'missing', tone: trusted ? 'none' : 'bad' }
    case 'different':
      return { text: 'another value', tone: trusted ? 'none' : 'bad' }
    case 'unknown':
      return { text: 'no answer', tone: 'doubt' }
    case undefined:
      return { text: 'not looked yet', tone: 'none' }
  }
}
