import type { Clock } from '../clock/index.js'
import { notice, openOfKind, settled } from '../notices/index.js'
import type { Store } from '../store/index.js'
import { askBlocklists } from './blocklists.js'
import type { DoctorDeps } from './deps.js'
import { findSources } from './source-addresses.js'

/**
 * Asks the blocklists about every address that mail leaves from, and tells the operator of each listing and of
 * its end. A list that gives no answer (it refuses public resolvers) changes nothing.
 */
export async function tellBlocklists(
  deps: Pick<DoctorDeps, 'config' | 'resolver'> & { store: Store; clock: Clock },
): Promise<{ asked: number; unanswered: number; listed: number }> {
  const { store, clock, config } = deps
  const answers = await askBlocklists(deps, await findSources(deps))
  const of = (state: 'unchecked' | 'fail') =>
    answers.filter(({ finding }) => finding.state === state)
  const nameOf = ({ address, zone }: { address: string; zone: string }) => `${address} ${zone}`
  const silent = new Set(of('unchecked').map(nameOf))
  const listed = of('fail')
  await store.write(async (tx) => {
    const now = clock.now()
    for (const one of listed) {
      const { address, zone, finding } = one
      await notice(tx, {
        ...{ kind: 'blocklist', key: nameOf(one), now },
        severity: config.outbound.route === 'sandbox' ? 'daily' : 'burning',
        text: [`${address}, from which mail leaves, is on the blocklist ${zone}`, finding.found],
        fix: [finding.fix, 'posthorn account list; posthorn stats', 'posthorn doctor'],
      })
    }
    const still = new Set(listed.map(nameOf))
    for (const { key } of await openOfKind(tx, 'blocklist')) {
      // Also of an address, or a list, that is not asked about any more.
      if (!still.has(key) && !silent.has(key)) await settled(tx, { kind: 'blocklist', key, now })
    }
  })
  return { asked: answers.length, unanswered: silent.size, listed: listed.length }
}
