import { ownNames, tryUpdates } from '../certificates/index.js'
import { messageOf } from '../errors/index.js'
import { type DoctorDeps, type Finding, findingsOf } from './finding.js'

/**
 * Whether the server of `[tls] dns_server` has a zone for each of the operator's names, and accepts the key. It is
 * asked by an update that changes nothing; only a real change shows which names the key may change.
 */
export async function checkDnsUpdates(deps: DoctorDeps): Promise<Finding[]> {
  const { config } = deps
  const { acme, dnsServer } = config.tls
  if (!acme || dnsServer === '') return []
  const { signal } = new AbortController()
  return await Promise.all(
    ownNames(config).map(async (name) => {
      const of = findingsOf('dns-server', name)
      try {
        const zone = await tryUpdates({ ...deps, signal }, name)
        return of.ok(`${dnsServer} takes updates of the zone ${zone} by the key`)
      } catch (error) {
        return of.fail(
          `${dnsServer}: ${messageOf(error)}`,
          `let tls.dns_server be the primary of the zone, and let it take the key of tls.dns_key_file for _acme-challenge.${name} (in BIND update-policy)`,
        )
      }
    }),
  )
}
