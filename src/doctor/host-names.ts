import { isIP } from 'node:net'
import { canonicalAddress, canonicalName, liesWithin } from '../dns/index.js'
import { type DoctorDeps, type Finding, findingsOf } from './finding.js'
import {
  addressesOf,
  type FoundSources,
  recordsOf,
  type SourceAddress,
} from './source-addresses.js'

/**
 * PTR = forward = EHLO name, for every address that mail leaves from: the first thing that large
 * receivers check (Gmail's 4.7.23).
 */
export async function checkHostNames(
  deps: DoctorDeps,
  { sources, failed }: FoundSources,
): Promise<Finding[]> {
  const names = [...new Set([deps.config.outbound.heloName, ...sources.map((s) => s.heloName)])]
  const unknown = names.filter((name) => !name.includes('.'))
  const found = await Promise.all([
    ...names
      .filter((name) => !unknown.includes(name))
      .map((name) => checkName(deps, name, sources)),
    ...sources
      .filter(({ heloName }) => !unknown.includes(heloName))
      .map((source) => checkSource(deps, source)),
  ])
  // Nothing is known about addresses that no answer named. If there are none at all, the name itself is
  // told above.
  const { heloName } = deps.config.outbound
  const isPartial = failed !== undefined && sources.some((source) => source.heloName === heloName)
  const partial = isPartial ? [findingsOf('helo', heloName).noAnswer(failed)] : []
  return [...unknown.map(nameMissing), ...partial, ...found.flat()]
}

/** RFC 5321 §4.1.1.1 wants EHLO to have a name that resolves; many receivers refuse others. */
const nameMissing = (heloName: string) =>
  findingsOf('helo', heloName).fail(
    'is not a name that the world knows',
    'set outbound.helo_name = "mail.example.com", the name that your address resolves to',
  )

/** Checks a name without a known source address: it must have one. */
async function checkName(
  deps: DoctorDeps,
  heloName: string,
  sources: readonly SourceAddress[],
): Promise<Finding[]> {
  if (sources.some((source) => source.heloName === heloName)) return []
  const of = findingsOf('helo', heloName)
  const { failed } = await addressesOf(deps.resolver, heloName)
  if (failed !== undefined) return [of.noAnswer(failed)]
  return [
    of.fail(
      'has no address',
      `publish ${heloName}. 3600 IN A <this machine's public address>, and set outbound.source_addresses`,
    ),
  ]
}

/**
 * Each source address is judged with its own EHLO name, as receivers see one connection at a time.
 */
async function checkSource(deps: DoctorDeps, source: SourceAddress): Promise<Finding[]> {
  const { allowPrivateAddresses } = deps.config.outbound
  // A private address may stand behind a public one (NAT); mail from a loopback address never
  // leaves the machine.
  if (!allowPrivateAddresses && liesWithin(source.address, ['127.0.0.0/8', '::1'])) {
    return [
      findingsOf('helo', source.address).fail(
        'is a loopback address: no mail leaves from it',
        `write a public address in its place (outbound.source_addresses, or addresses of its pool), or say in outbound.seen_as which one the world sees; let ${source.heloName} resolve to that`,
      ),
    ]
  }
  return Promise.all([checkForward(deps, source), checkPtr(deps, source)])
}

/**
 * Forward: the name leads to the address. Together with the PTR this is "FCrDNS", which large
 * receivers require.
 */
async function checkForward(
  { resolver }: DoctorDeps,
  { address, heloName }: SourceAddress,
): Promise<Finding> {
  const of = findingsOf('helo', address)
  const { addresses, failed } = await addressesOf(resolver, heloName)
  if (includesAddress(addresses, address)) return of.ok(`${heloName} resolves to it`)
  if (failed !== undefined) return of.noAnswer(failed)
  const type = isIP(address) === 6 ? 'AAAA' : 'A'
  return of.fail(
    `${heloName} resolves to ${addresses.join(', ') || 'nothing'}`,
    `publish ${heloName}. 3600 IN ${type} ${address}`,
  )
}

/** Only the address's owner can set its PTR, so the fix names the owner. */
async function checkPtr(
  { resolver }: DoctorDeps,
  { address, heloName }: SourceAddress,
): Promise<Finding> {
  const of = findingsOf('ptr', address)
  const answer = await resolver.ptr(address)
  if (answer.kind === 'failed') {
    return of.noAnswer(answer.cause)
  }
  const names = recordsOf(answer)
  if (names.includes(canonicalName(heloName))) return of.ok(`leads back to ${heloName}`)
  return of.fail(
    `leads to ${names.join(', ') || 'nothing'}`,
    `in the panel of whoever gave you the address, set its reverse DNS (PTR) to ${heloName}`,
  )
}

const includesAddress = (addresses: readonly string[], address: string) =>
  addresses.some((other) => canonicalAddress(other) === canonicalAddress(address))
