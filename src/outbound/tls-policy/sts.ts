import { keepNewest } from '../../bounded/index.js'
import { type Clock, dayMs, isRecent } from '../../clock/index.js'
import type { Resolver } from '../../dns/index.js'
import type { Log } from '../../log/index.js'
import type { Store } from '../../store/index.js'
import { readSts, type StsPolicy, saveSts } from './sts-cache.js'
import type { FetchPolicy } from './sts-fetch.js'
import { parseStsPolicy, readStsId } from './sts-text.js'

/** What finding MTA-STS policies needs. */
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
// A policy is fetched again well before it runs out (§10.2), after a day at the latest.
const refreshMs = dayMs
// How many domains one thread remembers.
const maxDomains = 10_000

/** The policy in force, and why an announced one could not be fetched (in the words of RFC 8460 §4.3.2.2). */
export interface StsFound {
  policy?: StsPolicy | undefined
  problem?: StsProblem | undefined
}

/** Why an announced policy could not be fetched. */
export interface StsProblem {
  type: 'sts-policy-fetch-error' | 'sts-policy-invalid' | 'sts-webpki-invalid'
  reason: string
}

/**
 * The policy in force for a domain, if any. A policy that was seen stays in force until its max_age is over, whatever
 * DNS and web server say meanwhile: an attacker may control both (§10.2).
 */
export function makeStsPolicies(deps: StsDeps): (domain: string) => Promise<StsFound> {
  const { clock, log } = deps
  const memo = new Map<string, { found: Promise<StsFound>; at: number }>()
  const failed = new Map<string, { at: number; problem: StsProblem }>()

  const discover = async (domain: string): Promise<StsFound> => {
    const [row, id] = await Promise.all([
      readSts(deps.store.read, domain),
      publishedId(deps.resolver, domain),
    ])
    const now = clock.now()
    const kept = row && isRecent(row.fetchedAt, now, row.maxAgeMs) ? row : undefined
    if (id === undefined) return { policy: kept }
    const isFresh = kept && isRecent(kept.fetchedAt, now, Math.min(refreshMs, kept.maxAgeMs / 2))
    if (isFresh && kept.id === id) return { policy: kept }
    const before = failed.get(domain)
    if (before !== undefined && isRecent(before.at, now, failedMs)) {
      return { policy: kept, problem: before.problem }
    }
    const fetched = await fetchNew(domain, id)
    if (!('type' in fetched)) {
      await deps.store.write((tx) => saveSts(tx, domain, fetched))
      return { policy: fetched }
    }
    keepNewest(failed, domain, { at: clock.now(), problem: fetched }, maxDomains)
    const { reason: cause } = fetched
    log.warn({ domain, id, cause, keptId: kept?.id }, 'MTA-STS policy could not be fetched')
    return { policy: kept, problem: fetched }
  }

  const fetchNew = async (domain: string, id: string): Promise<StsPolicy | StsProblem> => {
    const answer = await deps.fetchPolicy(domain)
    if ('failed' in answer) {
      const type = answer.untrusted ? 'sts-webpki-invalid' : 'sts-policy-fetch-error'
      return { type, reason: answer.failed }
    }
    const text = parseStsPolicy(answer.body)
    if ('wrong' in text) {
      return { type: 'sts-policy-invalid', reason: `not a policy: ${text.wrong}` }
    }
    const { mode, mx, maxAgeS } = text
    const fetchedAt = clock.now()
    const maxAgeMs = maxAgeS * 1_000
    return { id, mode, mx, maxAgeMs, fetchedAt, expiresAt: fetchedAt + maxAgeMs }
  }

  return (domain) => {
    const now = clock.now()
    const known = memo.get(domain)
    if (known !== undefined && isRecent(known.at, now, memoMs)) return known.found
    const found = discover(domain)
    keepNewest(memo, domain, { found, at: now }, maxDomains)
    // A failed read (a broken database) is not remembered, and never counts as 'no policy'.
    found.catch(() => memo.delete(domain))
    return found
  }
}

/** The id of the policy that the DNS announces; undefined where the DNS announces none, or does not answer. */
async function publishedId(resolver: Resolver, domain: string): Promise<string | undefined> {
  const answer = await resolver.txt(`_mta-sts.${domain}`)
  return answer.kind === 'records' ? readStsId(answer.records) : undefined
}
