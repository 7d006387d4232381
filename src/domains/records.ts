import { isIP } from 'node:net'
import {
  type Config,
  type PoolsSettings,
  type SeenAs,
  seenSourceAddresses,
} from '../config/index.js'
import { dkimRecord } from '../dkim/index.js'
import { type NodeRecords, recordsBeside } from '../nodes/index.js'
import type { Read } from '../store/index.js'
import type { Domain, DomainKey } from './domain.js'

/** What a record is for; `-next`: of keys that are still to come. */
export type RecordPurpose =
  | 'dkim-rsa'
  | 'dkim-ed25519'
  | 'dkim-rsa-next'
  | 'dkim-ed25519-next'
  | 'return-path-mx'
  | 'return-path-spf'
  | 'dmarc'
  | 'tracking'
  | 'receiving'

/** A record to publish. `host` is the full name, without a trailing dot. */
export interface DnsRecord {
  purpose: RecordPurpose
  type: 'TXT' | 'MX' | 'CNAME'
  host: string
  /** For MX: preference and host, as in a zone file. */
  value: string
  /** Without a required record nothing is sent; the others decide how well mail is received. */
  required: boolean
}

/** One record: what is wanted, what the DNS says, and what to do about it. */
export interface RecordCheck extends DnsRecord {
  /** `unknown`: the DNS gave no answer, so nothing was concluded. */
  state: 'ok' | 'missing' | 'different' | 'unknown'
  found: string[]
  /** The wanted record is there, and beside it others that must not be. */
  hasOthers?: true
  advice: string
}

/** What the records depend on besides the domain: mostly `outbound` of the configuration. */
export interface RecordSettings {
  heloName: string
  sourceAddresses: readonly string[]
  pools?: PoolsSettings
  /** Behind 1:1 NAT: what the world sees of an address from which mail leaves. */
  seenAs?: SeenAs
  /** Where the public listener is reached; the default is the EHLO name. */
  publicHost?: string
  /** Where receivers send their counts about DMARC; undefined: nobody listens. */
  reportsTo?: string
  /** What the other nodes want there too, as any of them may send a mail; whoever passes it keeps it up to date. */
  others?: readonly NodeRecords[]
}

/** The mailbox at each of our hosts for aggregate reports. */
export const dmarcMailbox = 'dmarc'
/** The mailbox to which others send TLS reports (RFC 8460). */
export const tlsReportMailbox = 'tlsrpt'

/** What the records depend on, from the settings and, where there are some, from the other nodes. */
export const recordSettings = (
  { http, inbound, outbound }: Config,
  others: readonly NodeRecords[] = [],
): RecordSettings => ({
  others,
  ...outbound,
  ...(http.public.url !== '' && { publicHost: new URL(http.public.url).hostname }),
  ...(inbound.enabled && { reportsTo: `${dmarcMailbox}@${outbound.heloName}` }),
})

/** The same for callers that can ask the database about the other nodes, once. */
export const recordSettingsOf = async (read: Read, config: Config): Promise<RecordSettings> =>
  recordSettings(config, await recordsBeside(read, config))

/** A name of its own below the domain: its MX is ours, and the domain's own mail goes on as before. */
export const returnPathHost = (domain: string) => `bounce.${domain}`

/** The records that make mail from the domain authentic (`notes/mta.md` §1, 16 and 17). */
export function domainRecords(domain: Domain, settings: RecordSettings): DnsRecord[] {
  const host = returnPathHost(domain.name)
  return [
    ...domain.keys.map((key) => ({
      ...keyRecord(domain, key),
      required: key.algorithm === 'rsa-sha256',
    })),
    ...domain.next.map((key): DnsRecord => {
      const record = keyRecord(domain, key)
      const purpose = key.algorithm === 'rsa-sha256' ? 'dkim-rsa-next' : 'dkim-ed25519-next'
      return { ...record, purpose }
    }),
    // Whichever host takes a bounce, all of them know whose it is.
    ...bounceHosts(settings).map(
      (name): DnsRecord => ({
        purpose: 'return-path-mx',
        type: 'MX',
        host,
        value: `10 ${name}`,
        required: false,
      }),
    ),
    { purpose: 'return-path-spf', type: 'TXT', host, value: spf(settings), required: false },
    {
      purpose: 'dmarc',
      type: 'TXT',
      host: `_dmarc.${domain.name}`,
      value: `v=DMARC1; p=none${settings.reportsTo ? `; rua=mailto:${settings.reportsTo}` : ''}`,
      required: false,
    },
    ...trackingRecord(domain, settings),
    ...receivingRecords(domain, settings),
  ]
}

/** The record of a key. Nothing depends on it before the next key signs. */
function keyRecord(domain: Pick<Domain, 'name'>, key: DomainKey): DnsRecord {
  const { algorithm, publicKey, selector } = key
  return {
    purpose: algorithm === 'rsa-sha256' ? 'dkim-rsa' : 'dkim-ed25519',
    type: 'TXT',
    host: `${selector}._domainkey.${domain.name}`,
    value: dkimRecord({ algorithm, publicKeyBase64: publicKey }),
    required: false,
  }
}

/** A record of a key that does not sign any more: it stays until mail that the key has signed has arrived. */
export interface OldRecord {
  host: string
  value: string
  mayGoAt: number
  mayGo: boolean
}

/** The records of the domain's earlier keys, first those that may go. */
export const oldRecords = (domain: Domain, now: number): OldRecord[] =>
  domain.past
    .map((key) => {
      const { host, value } = keyRecord(domain, key)
      return { host, value, mayGoAt: key.mayGoAt, mayGo: key.mayGoAt <= now }
    })
    .sort((a, b) => a.mayGoAt - b.mayGoAt)

/** The key whose record stands at this host. */
export const keyAt = (domain: Domain, host: string): DomainKey | undefined =>
  [...domain.keys, ...domain.next].find(
    ({ selector }) => host === `${selector}._domainkey.${domain.name}`,
  )

/**
 * Which of the looked-up records the domain still wants. A look takes seconds: meanwhile somebody may have set another
 * host for links, or a key may have changed. Nothing is known of the others.
 */
export function stillWanted<R extends DnsRecord>(
  domain: Domain,
  settings: RecordSettings,
  looked: readonly R[],
): R[] {
  const wanted = domainRecords(domain, settings)
  return looked.filter((record) =>
    wanted.some(
      ({ purpose, host, value }) =>
        purpose === record.purpose && host === record.host && value === record.value,
    ),
  )
}

/** The CNAME of the domain's host for links, where it has one. */
function trackingRecord(domain: Domain, settings: RecordSettings): DnsRecord[] {
  if (domain.trackingHost === null) return []
  const value = settings.publicHost ?? settings.heloName
  return [{ purpose: 'tracking', type: 'CNAME', host: domain.trackingHost, value, required: false }]
}

/** The MX of the host at which the domain takes mail: whichever of our hosts takes it, all of them know whose it is. */
function receivingRecords(domain: Domain, settings: RecordSettings): DnsRecord[] {
  const { receivingHost: host } = domain
  if (host === null) return []
  return bounceHosts(settings).map((name) => ({
    purpose: 'receiving',
    type: 'MX',
    host,
    value: `10 ${name}`,
    required: false,
  }))
}

/** RFC 7208: these addresses and no others. It stands at the return path's host, from which nobody else sends. */
const spf = (settings: RecordSettings) => `v=spf1 ${spfMechanisms(settings).join(' ')} -all`

/** Where bounces may come in, our own host first. */
const bounceHosts = ({ heloName, others = [] }: RecordSettings): string[] => [
  ...new Set([heloName, ...others.flatMap(({ mx }) => mx ?? [])]),
]

/** The mechanisms of the SPF record: every address from which mail may leave, including those of the other nodes. */
export const spfMechanisms = (settings: RecordSettings): string[] => [
  ...new Set([
    ...ownMechanisms(settings),
    ...(settings.others ?? []).flatMap(({ spf: theirs }) => theirs),
  ]),
]

/** The mechanisms of this node alone. */
export function ownMechanisms(settings: RecordSettings): string[] {
  const { heloName, sourceAddresses } = settings
  // Addresses of pools are added to the usual ones, which may be whatever the EHLO name resolves to.
  const usual = sourceAddresses.length === 0 ? [`a:${heloName}`] : []
  const named = seenSourceAddresses(settings).map((address) => `ip${isIP(address)}:${address}`)
  return [...usual, ...named]
}

/** What a zone file needs of a record. */
type ZoneRecord = Pick<DnsRecord, 'host' | 'value'> & { type: string }

// RFC 1035 §3.3: a string of a TXT record has at most 255 octets.
const maxStringLength = 255

/** The records as lines of a zone file. */
export function zoneFile(records: readonly ZoneRecord[]): string {
  const width = Math.max(...records.map((record) => record.host.length)) + 1
  return records
    .map(({ host, type, value }) => {
      const isAddress = type === 'A' || type === 'AAAA'
      const data = type === 'TXT' ? quoted(value) : isAddress ? value : `${value}.`
      return `${`${host}.`.padEnd(width)} 3600 IN ${type.padEnd(3)} ${data}\n`
    })
    .join('')
}

/** One record as a line of a zone file, with single spaces. */
export const zoneLine = (record: ZoneRecord) => zoneFile([record]).trim().replace(/ {2,}/g, ' ')

/** RFC 1035 §5.1: a text in strings of at most 255 octets, quotes and backslashes escaped. */
function quoted(value: string): string {
  const strings = value.match(new RegExp(`.{1,${maxStringLength}}`, 'g')) ?? ['']
  return strings.map((text) => `"${text.replaceAll(/["\\]/g, '\\$&')}"`).join(' ')
}
