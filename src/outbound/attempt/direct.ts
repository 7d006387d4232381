import type { Claimed } from '../../deliveries/index.js'
import type { SendResult } from '../../smtp/index.js'
import type { Read } from '../../store/index.js'
import type { Composed, DeliverySlot } from '../admission/index.js'
import type { Connections, SessionTarget, SmtpSession } from '../connections/index.js'
import type { SignedMessage } from '../content/index.js'
import type { MailRoute } from '../routing/index.js'
import {
  nothingPublished,
  type TlsPolicies,
  type TlsPolicy,
  usualDemand,
} from '../tls-policy/index.js'
import { countRefused, isTlsReport, type TlsCount, watchSessions } from '../tls-sessions/index.js'
import { envelopeOf, type Prepare } from './prepare.js'
import { type AttemptResult, resultOfFailure, resultOfSend } from './result.js'

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
/** What is watched of the sessions that one mail takes, for the reports about TLS. */
type Watch = ReturnType<typeof watchSessions> | undefined

// For sites that nobody knows yet, while there are many of them: half of the usual time to connect,
// as most of those that do not answer are dead.
const hurriedDeadlines = { connectMs: 15_000 }

/**
 * Reports about TLS go without a policy: RFC 8460 §3 and §5.3 want them delivered even where TLS is what has failed.
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
      return { kind: 'deferred', reply: policy.deferred }
    }
    const { hosts, demandOf, publishedFor } = policy
    const watch = count && watchSessions(count, claimed.lane, publishedFor)
    const target = { hosts, demandOf, tried: watch?.tried, ...limitsAt(slot, route) }
    return await sendInSession(options, { claimed, slot, target, watch })
  }
}

/**
 * No route: the domain has a null MX (RFC 7505), does not exist, has no usable server, or the DNS
 * did not answer. Only the last says something about the site, which is then left alone for a
 * while.
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
 * What the connection is bound by. `hurried` gives sites that do not answer a shorter time to connect while slow connections are scarce.
 */
function limitsAt(
  { site, source, hurried, cut, goesTo }: DeliverySlot,
  { site: { key }, inside }: HostsRoute,
): Omit<SessionTarget, 'hosts' | 'demandOf' | 'tried'> {
  const { messagesPerConnection } = site.policy
  const limits = { site: key, maxConnections: site.connections, messagesPerConnection, inside }
  return { source, ...limits, deadlines: hurried ? hurriedDeadlines : undefined, cut, goesTo }
}

/**
 * Whether the session may carry another mail. Who puts off the first one may do so with all of this connection: Postfix's
 * postscreen lets a client pass that it did not know only when it connects again.
 */
function mayGoOn(session: SmtpSession, result: SendResult): boolean {
  if (result.kind === 'lost' || !result.reusable) return false
  const { kind, phase } = result
  return kind !== 'deferred' || session.reused || (phase !== 'mail' && phase !== 'rcpt')
}

/** One mail, and the session that is wanted for it. */
interface Sending {
  claimed: Claimed
  slot: DeliverySlot
  target: SessionTarget
  watch: Watch
}

/** One transaction, in an idle session or a new one. */
async function sendInSession(
  { connections, prepare }: Pick<DirectOptions, 'connections' | 'prepare'>,
  { claimed, slot: { cut, giveUp }, target, watch }: Sending,
): Promise<AttemptResult> {
  let mail: Composed<SignedMessage> | undefined
  try {
    for (;;) {
      const acquired = await connections.acquire(target)
      if ('failure' in acquired) return resultOfFailure(acquired, claimed.lane)
      const { session } = acquired
      if (session.reused) watch?.reused(session)
      else session.countedFor.add(claimed.lane)
      const demand = target.demandOf(session.exchange) ?? usualDemand
      // Not sooner: thousands of mails to servers that do not answer cost no message each.
      mail ??= await prepare(claimed, giveUp).catch((error: unknown) => {
        connections.release(session, true)
        throw error
      })
      const { composed } = mail
      const envelope = envelopeOf(claimed, composed)
      const result = await session.connection.send(envelope, composed.message, cut)
      const reached = session.reused ? undefined : true
      const found = { reached, ...resultOfSend(session, result, demand) }
      connections.release(session, mayGoOn(session, result))
      // A session that ended while it was idle says nothing about this mail: it takes another one.
      const isUntried = result.kind === 'lost' && !result.offered && session.reused
      if (isUntried && cut?.why === undefined) continue
      return found
    }
  } finally {
    mail?.done()
  }
}
