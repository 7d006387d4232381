import { isIP } from 'node:net'
import type { Config } from '../config/index.js'
import { isBelow, reverseLabels } from '../dns/index.js'
import { type Domain, domainRecords, recordSettings, spfMechanisms } from '../domains/index.js'

/** A record that somebody has to publish, for the appliance itself or for a sending domain. */
export interface WantedRecord {
  purpose: string
  type: 'A' | 'AAAA' | 'MX' | 'TXT' | 'CNAME' | 'PTR'
  /** The full name, without a trailing dot. */
  host: string
  value: string
  /** Without the required ones mail is not sent, or many receivers refuse it. */
  required: boolean
  /** Who can publish it: reverse names are in the hands of the provider of the address. */
  where: 'zone' | 'provider'
}

/**
 * All records that the doctor looks for. `addresses` are those that the world sees; `domain` is left out while its
 * keys are not made.
 */
export function wantedRecords(
  config: Config,
  addresses: readonly string[],
  domain?: Domain,
): WantedRecord[] {
  const { heloName, returnPathHost } = config.outbound
  const linkHost = recordSettings(config).publicHost ?? heloName
  const hosts = [...new Set([heloName, linkHost])]
  return [
    ...hosts.flatMap((host) => addressRecords(host, addresses)),
    ...addresses.map((address) => reverseRecord(address, heloName)),
    ...[...new Set([heloName, returnPathHost || heloName])].flatMap((host) =>
      listenerRecords(config, host),
    ),
    ...(domain === undefined ? [] : ofDomain(config, domain)),
  ]
}

/** The addresses of a host. */
const addressRecords = (host: string, addresses: readonly string[]) =>
  addresses.map(
    (value): WantedRecord => ({
      purpose: 'this machine',
      type: isIP(value) === 6 ? 'AAAA' : 'A',
      host,
      value,
      required: true,
      where: 'zone',
    }),
  )

/** The reverse name of an address; only the provider of the address can publish it. */
function reverseRecord(address: string, value: string): WantedRecord {
  const host = `${reverseLabels(address)}.${isIP(address) === 6 ? 'ip6' : 'in-addr'}.arpa`
  return { purpose: 'reverse name', type: 'PTR', host, value, required: true, where: 'provider' }
}

/** Where bounces, complaints and postmaster's mail arrive, and the permission to send in the host's name. */
function listenerRecords({ outbound, inbound }: Config, host: string): WantedRecord[] {
  const value = `v=spf1 ${spfMechanisms(outbound).join(' ')} -all`
  const of = { host, required: false, where: 'zone' } as const
  return [
    ...(inbound.enabled
      ? [{ ...of, purpose: 'inbound mail', type: 'MX' as const, value: `10 ${outbound.heloName}` }]
      : []),
    { ...of, purpose: 'SPF of the host', type: 'TXT', value },
  ]
}

// The words for each purpose of a domain's records.
const purposes = {
  'dkim-rsa': 'DKIM',
  'dkim-ed25519': 'DKIM, Ed25519',
  'dkim-rsa-next': 'DKIM, next key',
  'dkim-ed25519-next': 'DKIM, next Ed25519 key',
  'return-path-mx': 'return path',
  'return-path-spf': 'SPF',
  dmarc: 'DMARC',
  tracking: 'links',
  receiving: 'incoming mail',
} as const

/** The records of a sending domain, and the one by which DMARC reports may come to this host. */
function ofDomain(config: Config, domain: Domain): WantedRecord[] {
  const settings = recordSettings(config)
  const own = domainRecords(domain, settings).map(
    (record): WantedRecord => ({ ...record, purpose: purposes[record.purpose], where: 'zone' }),
  )
  const host = config.outbound.heloName
  // RFC 7489 §7.1: reports go to another organization only where that one says that it wants them.
  if (!settings.reportsTo || isBelow(host, domain.name) || isBelow(domain.name, host)) return own
  const authorisation: WantedRecord = {
    purpose: 'DMARC reports',
    type: 'TXT',
    value: 'v=DMARC1;',
    required: false,
    where: 'zone',
    host: `${domain.name}._report._dmarc.${host}`,
  }
  return [...own, authorisation]
}
