import { isIP } from 'node:net'
import { canonicalAddress, canonicalName } from '../dns/index.js'
import type { DoctorDeps } from './deps.js'
import { type Finding, findingsOf } from './finding.js'
import { addressesOf, recordsOf } from './source-addresses.js'

/**
 * PTR = forward = EHLO name, for every address that mail leaves from (RFC 8499 calls it
 * forward-confirmed; Gmail's 4.7.23 and most others' first test).
 */
export async function checkHostNames(
  deps: DoctorDeps,
  addresses: readonly string[],
): Promise<Finding[]> {
  const { heloName } = deps.config.outbound
  const of = findingsOf('helo', heloName)
  if (!heloName.includes('.')) {
    return [
      of.fail(
        'outbound.helo_name is no name that the world knows',
        'set outbound.helo_name = "mail.example.com", the name that your address resolves to',
      ),
    ]
  }
  if (addresses.length === 0) {
    const { failed } = await addressesOf(deps.resolver, heloName)
    if (failed !== undefined) return [of.warn(`the DNS did not answer (${failed})`, 'try again')]
    return [
      of.fail(
        'has no address',
        `publish ${heloName}. 3600 IN A <this machine's public address>, and set outbound.source_addresses`,
      ),
    ]
  }
  const found = await Promise.all(addresses.map((address) => checkAddress(deps, address)))
  return found.flat()
}

async function checkAddress(deps: DoctorDeps, address: string): Promise<Finding[]> {
  return Promise.all([checkForward(deps, address), checkPtr(deps, address)])
}

async function checkForward(deps: DoctorDeps, address: string): Promise<Finding> {
  const { heloName } = deps.config.outbound
  const of = findingsOf('helo', address)
  const { addresses, failed } = await addressesOf(deps.resolver, heloName)
  if (includesAddress(addresses, address)) return of.ok(`${heloName} resolves to it`)
  if (failed !== undefined) return of.warn(`the DNS did not answer (${failed})`, 'try again')
  const type = isIP(address) === 6 ? 'AAAA' : 'A'
  return of.fail(
    `${heloName} resolves to ${addresses.join(', ') || 'nothing'}`,
    `publish ${heloName}. 3600 IN ${type} ${address}`,
  )
}

async function checkPtr(deps: DoctorDeps, address: string): Promise<Finding> {
  const { heloName } = deps.config.outbound
  const of = findingsOf('ptr', address)
  const answer = await deps.resolver.ptr(address)
  if (answer.kind === 'failed')
    return of.warn(`the DNS did not answer (${answer.cause})`, 'try again')
  const names = recordsOf(answer)
  if (names.includes(canonicalName(heloName))) return of.ok(`leads back to ${heloName}`)
  return of.fail(
    `leads to ${names.join(', ') || 'nothing'}`,
    `in the panel of whoever gave you the address, set its reverse DNS (PTR) to ${heloName}`,
  )
}

export const includesAddress = (addresses: readonly string[], address: string) =>
  addresses.some((other) => canonicalAddress(other) === canonicalAddress(address))
