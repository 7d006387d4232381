import { updateKeyOf, updateServerOf } from '../config/index.js'
import { hostAddresses, type Resolver, type TxtChange, updateZone, zoneAt } from '../dns/index.js'
import { messageOf } from '../errors/index.js'
import { type DnsRecordsDeps, type PublishRecord, recordOf } from './dns-record.js'
import { AcmeProblem } from './problem.js'

// The record may be in another zone, made for challenges. This ends circles of such names.
const mostAliases = 4

/** Updates (RFC 2136) to `tls.dns_server`, signed with its key. */
export function updatesOf(deps: DnsRecordsDeps): PublishRecord {
  const { dnsServer } = deps.config.tls
  return async (kind, record, value) => {
    try {
      const name = await placeOf(deps.resolver, record)
      await updateAt(deps, name, [{ kind, name, value }])
    } catch (error) {
      const message = `tls.dns_server (${dnsServer}) ${kind === 'add' ? 'does not take' : 'keeps'} ${record}: ${messageOf(error)}`
      throw new AcmeProblem('dnsUpdate', message.slice(0, 400), 400, undefined)
    }
  }
}

/** For the doctor: resolves with the zone where the key may ask for changes; rejects with why it may not. */
export async function tryUpdates(deps: DnsRecordsDeps, name: string): Promise<string> {
  return await updateAt(deps, await placeOf(deps.resolver, recordOf(name)), [])
}

/** RFC 8555 §8.4: the directory follows CNAME records, so the record is put at their end. */
async function placeOf(resolver: Resolver, record: string): Promise<string> {
  let name = record
  for (let i = 0; i < mostAliases; i++) {
    const alias = await resolver.cname(name)
    if (alias.kind !== 'records' || alias.records[0] === undefined) break
    name = alias.records[0]
  }
  return name
}

/** Tries the addresses of the server in turn; resolves with the zone. */
async function updateAt(
  { config, clock, resolver, signal }: DnsRecordsDeps,
  name: string,
  changes: readonly TxtChange[],
): Promise<string> {
  const key = updateKeyOf(config.tls)
  if (key === undefined) throw new Error('tls.dns_server is not set')
  const { host, port } = updateServerOf(config.tls)
  const found = await hostAddresses(resolver, host)
  if ('failed' in found) throw new Error(found.failed)
  let failure: unknown
  for (const address of found.addresses) {
    const server = { host: address, port }
    try {
      const zone = await zoneAt({ server, clock, signal }, name)
      await updateZone({ server, key, clock, signal }, zone, changes)
      return zone
    } catch (error) {
      if (signal.aborted) throw error
      failure ??= error
    }
  }
  throw failure
}
