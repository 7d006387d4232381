import { isIP } from 'node:net'
import type { Clock } from '../clock/index.js'
import { nameBesideOthers } from '../config/index.js'
import { type DnsAnswer, type Resolver, reverseLabels } from '../dns/index.js'
import { notice, noticesOf, openOfKind, settled } from '../notices/index.js'
import type { Store } from '../store/index.js'
import { type DoctorDeps, type Finding, findingsOf } from './finding.js'
import {
  type FoundSources,
  findSources,
  recordsOf,
  type SourceAddress,
} from './source-addresses.js'

/** Whether DNS blocklists (RFC 5782) name the addresses that mail leaves from. */
export async function checkBlocklists(
  deps: DoctorDeps,
  { sources, failed }: FoundSources,
): Promise<Finding[]> {
  if (sources.length === 0) {
    const of = findingsOf('blocklist', 'any address')
    if (failed !== undefined) return [of.noAnswer(failed)]
    const fix = 'set outbound.source_addresses, or publish the addresses of outbound.helo_name'
    return [of.unchecked('no address is known that mail leaves from', fix)]
  }
  return (await askBlocklists(deps, sources)).map(({ finding }) => finding)
}

/** `fail`: listed. `unchecked`: the list gave no answer, so nothing is known. */
function askBlocklists(
  { config, resolver }: Pick<DoctorDeps, 'config' | 'resolver'>,
  sources: readonly SourceAddress[],
): Promise<{ address: string; zone: string; finding: Finding }[]> {
  const pairs = sources.flatMap(({ address }) =>
    config.doctor.blocklists.map((zone) => ({ address, zone })),
  )
  return Promise.all(
    pairs.map(async ({ address, zone }) => {
      return { address, zone, finding: await ask(resolver, address, zone) }
    }),
  )
}

// RFC 5782 §5: every list has these entries; a client that does not get them is not being answered.
const testEntry = '127.0.0.2'

/**
 * A list is asked for its own test entry as well (RFC 5782 §5): a list that does not name it would
 * call everybody clean, as a list does that refuses our resolver.
 */
async function ask(resolver: Resolver, address: string, zone: string): Promise<Finding> {
  const of = findingsOf('blocklist', address)
  const notAsked = (why: string) =>
    of.unchecked(
      `could not ask ${zone}: ${why}`,
      'set dns.servers to a resolver of your own (such as Unbound on this machine): lists refuse shared ones',
    )
  const name = `${reverseLabels(address)}.${zone}`
  const [test, answer] = await Promise.all([
    resolver.a(`${reverseLabels(testEntry)}.${zone}`),
    resolver.a(name),
  ])
  const trouble = refusal(answer) ?? refusal(test)
  if (trouble !== undefined) {
    const isSilent = answer.kind === 'failed' || test.kind === 'failed'
    return { ...notAsked(trouble), ...(isSilent && { lacksDns: true }) }
  }
  const codes = recordsOf(answer).filter((code) => code.startsWith('127.'))
  if (codes.length > 0) {
    const reasons = recordsOf(await resolver.txt(name))
      .join(' ')
      .slice(0, 200)
    return of.fail(
      `listed by ${zone} (${codes.join(', ')})${reasons === '' ? '' : `: ${reasons}`}`,
      `find out why mail of yours was unwanted, then ask for removal at the site of ${zone}`,
    )
  }
  if (recordsOf(test).length === 0) return notAsked('it does not name its own test entry')
  if (isIP(address) === 6 && !(await namesIpv6(resolver, zone))) {
    return of.ok(`${zone} names no IPv6 addresses`)
  }
  return of.ok(`not listed by ${zone}`)
}

/** RFC 5782 §5 has a test entry for IPv6 too; lists without one know no IPv6 at all. */
async function namesIpv6(resolver: Resolver, zone: string): Promise<boolean> {
  // ipaddr.js would read the mapped form as IPv4: its labels are spelt out here.
  const labels = '2.0.0.0.0.0.f.7.f.f.f.f'.padEnd(63, '.0')
  return recordsOf(await resolver.a(`${labels}.${zone}`)).length > 0
}

/**
 * Why an answer says nothing about the address: Spamhaus' codes for clients that it does not serve.
 */
function refusal(answer: DnsAnswer<string>): string | undefined {
  if (answer.kind === 'failed') return answer.cause
  const [code] = recordsOf(answer).filter((record) => record.startsWith('127.255.255.'))
  if (code === undefined) {
    const [foreign] = recordsOf(answer).filter((record) => !record.startsWith('127.'))
    return foreign === undefined
      ? undefined
      : `it answers ${foreign}, which is not an answer of a list`
  }
  return refusalCodes[code] ?? `it answers ${code}`
}

/**
 * Answers in 127.255.255.0/24 are about the asking client and not about the address (Spamhaus);
 * reading them as a listing would be a false alarm.
 */
const refusalCodes: Readonly<Record<string, string>> = {
  '127.255.255.252': 'the name of the list is misspelt (127.255.255.252)',
  '127.255.255.254': 'it refuses public resolvers (127.255.255.254)',
  '127.255.255.255': 'it was asked too often from here (127.255.255.255)',
}

/**
 * Asks the blocklists about every address that mail leaves from, and tells the operator of each listing and of its
 * end. A list that gives no answer (it refuses public resolvers) changes nothing; neither do addresses that the DNS
 * does not name just now.
 */
export async function tellBlocklists(
  deps: Pick<DoctorDeps, 'config' | 'resolver'> & { store: Store; clock: Clock },
): Promise<{ asked: number; unanswered: number; listed: number }> {
  const { store, clock, config } = deps
  const ownNotices = noticesOf(nameBesideOthers(config))
  const { sources, failed } = await findSources(deps)
  const answers = await askBlocklists(deps, sources)
  const of = (state: 'unchecked' | 'fail') =>
    answers.filter(({ finding }) => finding.state === state)
  const nameOf = ({ address, zone }: { address: string; zone: string }) => `${address} ${zone}`
  const silent = new Set(of('unchecked').map(nameOf))
  const asked = new Set(answers.map(nameOf))
  const listed = of('fail')
  await store.write(async (tx) => {
    const now = clock.now()
    for (const one of listed) {
      const { address, zone, finding } = one
      await notice(tx, {
        kind: 'blocklist',
        key: ownNotices.key(nameOf(one)),
        now,
        severity: config.outbound.route === 'sandbox' ? 'daily' : 'burning',
        text: ownNotices.text([
          `${address}, from which mail leaves, is on the blocklist ${zone}`,
          finding.found,
        ]),
        fix: [finding.fix, 'posthorn account list; posthorn stats', 'posthorn doctor'],
      })
    }
    const still = new Set(listed.map(nameOf))
    for (const { key: whole } of await openOfKind(tx, 'blocklist')) {
      if (!ownNotices.isOwn(whole)) continue
      const key = ownNotices.plain(whole)
      // Also settled for an address or a list that is no longer checked, unless the address may still be ours.
      const isUnknown = silent.has(key) || (failed !== undefined && !asked.has(key))
      if (!still.has(key) && !isUnknown) await settled(tx, { kind: 'blocklist', key: whole, now })
    }
  })
  return { asked: answers.length, unanswered: silent.size, listed: listed.length }
}
