import type { Clock } from '../../clock/index.js'
import type { Resolver } from '../../dns/index.js'
import type { Log } from '../../log/index.js'
import type { Store } from '../../store/index.js'
import { readSts, type StsPolicy, saveSts } from './sts-cache.js'
import type { FetchPolicy } from './sts-fetch.js'
import { parseStsPolicy, readStsId } from './sts-text.js'

export interface StsDeps {
  store: Pick<Store, 'read' | 'write'>
  clock: Clock
  resolver: Resolver
  log: Log
  fetchPolicy: FetchPolicy
}

// How long an answer serves all mail to the domain before TXT and table are looked at again.
const memoMs = 60_000
// RFC 8461 §3.3: after a failure not again for five minutes.
const failedMs = 300_000
// A policy is fetched again well before it runs out (§10.2), at the latest after a day.
const refreshMs = 86_400_000
const maxDomains = 10_000

/**
 * The policy in force for a domain, or undefined. One that was seen stays in force until its
 * max_age is over, whatever DNS and web server say meanwhile: both may be the attacker's (§10.2).
 */
export function makeStsPolicies(deps: StsDeps): (domain: string) => Promise<StsPolicy | undefined> {
  const { clock, log } = deps
  const memo = new Map<string, { policy: Promise<StsPolicy | undefined>; until: number }>()
  const failedUntil = new Map<string, number>()

  const discover = async (domain: string): Promise<StsPolicy | undefined> => {
    const [row, id] = await Promise.all([
      readSts(deps.store.read, domain),
      publishedId(deps.resolver, domain),
    ])
    const now = clock.now()
    const kept = row !== undefined && row.expiresAt > now ? row : undefined
    if (id === undefined) return kept
    const isFresh = kept && now - kept.fetchedAt < Math.min(refreshMs, kept.maxAgeMs / 2)
    if (isFresh && kept.id === id) return kept
    if ((failedUntil.get(domain) ?? 0) > now) return kept
    const fetched = await fetchNew(domain, id)
    if (!('failed' in fetched)) {
      await deps.store.write((tx) => saveSts(tx, domain, fetched))
      return fetched
    }
    remember(failedUntil, domain, clock.now() + failedMs)
    const { failed: cause } = fetched
    log.warn({ domain, id, cause, keptId: kept?.id }, 'MTA-STS policy could not be fetched')
    return kept
  }

  const fetchNew = async (domain: string, id: string): Promise<StsPolicy | { failed: string }> => {
    const answer = await deps.fetchPolicy(domain)
    if ('failed' in answer) return answer
    const text = parseStsPolicy(answer.body)
    if ('wrong' in text) return { failed: `not a policy: ${text.wrong}` }
    const { mode, mx, maxAgeS } = text
    const fetchedAt = clock.now()
    const maxAgeMs = maxAgeS * 1_000
    return { id, mode, mx, maxAgeMs, fetchedAt, expiresAt: fetchedAt + maxAgeMs }
  }

  return (domain) => {
    const now = clock.now()
    const known = memo.get(domain)
    if (known !== undefined && known.until > now) return known.policy
    const policy = discover(domain)
    remember(memo, domain, { policy, until: now + memoMs })
    // What cannot be read (a broken database) is not remembered, and never taken for 'no policy'.
    policy.catch(() => memo.delete(domain))
    return policy
  }
}

async function publishedId(resolver: Resolver, domain: string): Promise<string | undefined> {
  const answer = await resolver.txt(`_mta-sts.${domain}`)
  return answer.kind === 'records' ? readStsId(answer.records) : undefined
}

/** Bounded: the oldest entry makes room. */
function remember<T>(map: Map<string, T>, domain: string, value: T): void {
  map.delete(domain)
  map.set(domain, value)
  const [oldest] = map.keys()
  if (map.size > maxDomains && oldest !== undefined) map.delete(oldest)
}
