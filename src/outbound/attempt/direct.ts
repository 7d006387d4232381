import type { Claimed } from '../../deliveries/index.js'
import type { Read } from '../../store/index.js'
import type { DeliverySlot } from '../admission/index.js'
import type { Connections, SessionTarget } from '../connections/index.js'
import type { MailRoute } from '../routing/index.js'
import {
  nothingPublished,
  type TlsPolicies,
  type TlsPolicy,
  usualDemand,
} from '../tls-policy/index.js'
import { countRefused, isTlsReport, type TlsCount, watchSessions } from '../tls-sessions/index.js'
import { sendInTurn } from './hosts-in-turn.js'
import type { Prepare } from './prepare.js'
import type { AttemptResult } from './result.js'

/** What a direct attempt needs. */
export interface DirectOptions {
  read: Read
  connections: Connections
  tlsPolicies: TlsPolicies
  /** Undefined: no reports about TLS are made. */
  tlsCount: TlsCount | undefined
  prepare: Prepare
}

/** Sends one mail straight to the recipient's servers, in a slot of their site. */
export type SendDirect = (
  claimed: Claimed,
  slot: DeliverySlot,
  route: MailRoute,
) => Promise<AttemptResult>

/** A route that leads to servers. */
type HostsRoute = Extract<MailRoute, { hosts: unknown }>

// For sites that nobody knows yet, while there are many of them: half of the usual time to connect, because most
// that do not answer are dead.
const hurriedDeadlines = { connectMs: 15_000 }

/**
 * Reports about TLS are sent without a policy: RFC 8460 §3 and §5.3 want them delivered even where TLS has failed.
 */
export function makeSendDirect(options: DirectOptions): SendDirect {
  const { read, tlsPolicies, tlsCount } = options
  return async (claimed, slot, route) => {
    if ('outcome' in route) return resultWithoutRoute(claimed, route)
    const { tls, from } = slot.site.policy
    const requiredBy = tls === 'required' ? from.tls : undefined
    const isFree = route.inside !== undefined || (await isTlsReport(read, claimed))
    const policy: TlsPolicy = isFree
      ? { hosts: route.hosts, demandOf: () => usualDemand, publishedFor: () => nothingPublished }
      : await tlsPolicies.policyFor(claimed.lane, route.hosts, requiredBy)
    const count = isFree ? undefined : tlsCount
    if ('deferred' in policy) {
      if (count !== undefined) countRefused(count, claimed.lane, policy)
      return { kind: 'deferred', reply: policy.deferred, cause: 'tls-policy' }
    }
    const { hosts, demandOf, publishedFor } = policy
    const watch = count && watchSessions(count, claimed.lane, publishedFor)
    const target = { hosts, demandOf, tried: watch?.tried, ...limitsAt(slot, route) }
    return await sendInTurn(options, { claimed, slot, target, watch })
  }
}

/**
 * No route: the domain has a null MX (RFC 7505), does not exist, has no usable server, or the DNS did not answer.
 * Only a DNS that does not answer says something about the site, which is then left alone for a while.
 */
function resultWithoutRoute(
  claimed: Claimed,
  route: Exclude<MailRoute, HostsRoute>,
): AttemptResult {
  const outcome = route.outcome(claimed)
  const isDown = outcome.kind === 'deferred' && route.site.key !== 'nowhere'
  if (!isDown) return outcome
  return { ...outcome, site: { kind: 'connect-failed', cause: 'dns', why: outcome.reply } }
}

/**
 * The limits of the connection. `hurried` gives sites that do not answer a shorter time to connect while slow
 * connections are scarce.
 */
function limitsAt(
  { site, source, hurried, cut, goesTo }: DeliverySlot,
  { site: { key }, inside }: HostsRoute,
): Omit<SessionTarget, 'hosts' | 'demandOf' | 'tried'> {
  const { messagesPerConnection } = site.policy
  const limits = { site: key, maxConnections: site.connections, messagesPerConnection, inside }
  return { source, ...limits, deadlines: hurried ? hurriedDeadlines : undefined, cut, goesTo }
}
