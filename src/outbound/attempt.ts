import {
  blockedAmong,
  type Claimed,
  makeReturnPaths,
  type Settlement,
} from '../deliveries/index.js'
import { messageOf } from '../errors/index.js'
import type { SendResult } from '../smtp/index.js'
import { queueClass, type Read } from '../store/index.js'
import { type Composer, makeComposer, type SignedMessage } from './compose.js'
import { type Connections, type NotAcquired, openConnections, type Session } from './connections.js'
import type { OutboundDeps } from './deps.js'
import { type Outcome, outcomeOfSend, replyText } from './outcome.js'
import { nextAttempt, type RetryPolicy } from './retry.js'
import { findRoute } from './route.js'
import {
  makePolicyFetcher,
  makeTlsPolicies,
  type TlsDemand,
  type TlsPolicies,
  tlsInWords,
  usualDemand,
} from './tls-policy/index.js'

export interface Attempts {
  /** Tries one claimed delivery, start to end. Never rejects: whatever happens is a settlement. */
  attempt(claimed: Claimed): Promise<Settlement>
  readonly connections: Connections
}

const suppressedReply = 'Not sent: the address is on the suppression list'

/** What an attempt found out beside its outcome. */
interface Finding extends Outcome {
  remote?: string
  tls?: string | undefined
  transcript?: string
}

export function makeAttempts(deps: OutboundDeps): Attempts {
  const { clock, config, log } = deps
  const compose = makeComposer(deps)
  const returnPaths = makeReturnPaths(deps.key)
  const retry: RetryPolicy = { delaysMs: config.retrySchedule, random: deps.random }
  const sandbox = config.route === 'sandbox'
  const connections = openConnections({
    clock,
    port: sandbox ? (deps.sandbox?.port ?? 0) : config.port,
    heloName: config.heloName,
    sourceAddresses: sandbox ? [] : config.sourceAddresses,
    messagesPerConnection: config.messagesPerConnection,
    maxConnections: config.maxConnections,
    ...(deps.tls?.ca === undefined ? {} : { ca: deps.tls.ca }),
  })
  const stopFetching = new AbortController()
  const tlsPolicies = openTlsPolicies(deps, stopFetching.signal)

  const tryOnce = async (claimed: Claimed): Promise<Finding> => {
    if (await isBlocked(deps, claimed)) return { kind: 'suppressed', reply: suppressedReply }
    const route = await findRoute(deps, claimed)
    if ('outcome' in route) return route.outcome
    const policy = await tlsPolicies.policyFor(claimed.lane, route.hosts)
    if ('deferred' in policy) return { kind: 'deferred', reply: policy.deferred }
    const message = await compose(claimed.emailId, claimed.recipient)
    const host = message.returnPathHost ?? (config.returnPathHost || config.heloName)
    const envelope = {
      from: returnPaths.addressOf(claimed.id, host),
      to: claimed.recipient,
      smtpUtf8: message.smtpUtf8,
    }
    for (;;) {
      const acquired = await connections.acquire(route.site, policy.hosts, policy.demandOf)
      if ('failure' in acquired) return describeFailure(acquired, claimed.lane)
      const { session } = acquired
      const demand = policy.demandOf(session.exchange) ?? usualDemand
      const result = await session.connection.send(envelope, message.pieces)
      const finding = describe(session, result, demand)
      connections.release(session, result.kind !== 'lost' && result.reusable)
      // A session that ended while it was idle says nothing about this mail: take another one.
      if (result.kind === 'lost' && !result.offered && session.reused) continue
      return finding
    }
  }

  const settle = (claimed: Claimed, startedAt: number, finding: Finding): Settlement => {
    const attempts = claimed.attempts + (finding.kind === 'suppressed' ? 0 : 1)
    const base = {
      id: claimed.id,
      emailId: claimed.emailId,
      accountId: claimed.accountId,
      class: claimed.class,
      recipient: claimed.recipient,
      startedAt,
      attempts,
      reply: finding.reply,
      remote: finding.remote ?? null,
      tls: finding.tls ?? null,
      transcript: finding.transcript ?? '',
    }
    if (finding.kind !== 'deferred') return { ...base, kind: finding.kind }
    const dueAt = nextAttempt(retry, { attempts, expiresAt: claimed.expiresAt }, clock.now())
    if (dueAt !== undefined) return { ...base, kind: 'deferred', dueAt }
    const reply = `Given up after ${attempts} attempts. The last one: ${finding.reply}`
    return { ...base, kind: 'failed', reply }
  }

  return {
    connections: {
      ...connections,
      destroy() {
        stopFetching.abort()
        connections.destroy()
      },
    },
    async attempt(claimed) {
      const startedAt = clock.now()
      const finding = await tryOnce(claimed).catch((error: unknown): Finding => {
        // A bug, not the world: the mail keeps its place in the queue and somebody is told.
        log.error({ error, deliveryId: claimed.id, emailId: claimed.emailId }, 'Attempt failed')
        return { kind: 'deferred', reply: `Internal error: ${messageOf(error).slice(0, 200)}` }
      })
      return settle(claimed, startedAt, finding)
    },
  }
}

/** Checked again at departure: the recipient may have bounced, complained or left since. */
async function isBlocked({ store }: OutboundDeps, claimed: Claimed): Promise<boolean> {
  const { accountId, recipient, emailId } = claimed
  const marketing = claimed.class === queueClass.campaign
  const topicId = marketing ? await topicOf(store.read, emailId) : null
  const type = marketing ? 'marketing' : 'transactional'
  return (await blockedAmong(store.read, { accountId, type, topicId }, [recipient])).size > 0
}

async function topicOf(read: Read, emailId: string): Promise<string | null> {
  const email = await read
    .selectFrom('emails')
    .select('topic_id')
    .where('id', '=', emailId)
    .executeTakeFirst()
  return email?.topic_id ?? null
}

function openTlsPolicies(deps: OutboundDeps, signal: AbortSignal): TlsPolicies {
  const { config } = deps
  // The built-in inbox has no policy.
  if (config.route === 'sandbox') {
    return { policyFor: async (_domain, hosts) => ({ hosts, demandOf: () => usualDemand }) }
  }
  const { allowPrivateAddresses, port } = config
  const fetchPolicy =
    deps.tls?.fetchPolicy ?? makePolicyFetcher({ ...deps, allowPrivateAddresses, signal })
  return makeTlsPolicies({ ...deps, settings: config.tls, port, fetchPolicy })
}

function describe(session: Session, result: SendResult, demand: TlsDemand): Finding {
  const { connection, remote } = session
  const tls = tlsInWords(connection.tls, demand)
  const transcript = withPolicy(connection.transcript(), demand)
  return { ...outcomeOfSend(result), remote, tls, transcript }
}

function describeFailure({ failure, remote, demand }: NotAcquired, domain: string): Finding {
  const { phase, cause, reply, tlsFailed, transcript } = failure
  const words = reply ? replyText(reply) : `No connection (${phase}): ${cause}`
  const unmet = `TLS policy of ${domain} (${demand.by}) is not met by ${remote}: ${cause}`
  return {
    kind: 'deferred',
    reply: tlsFailed === true && demand.by !== '' ? unmet : words,
    remote,
    tls: demand.by === '' ? undefined : `none (${demand.by})`,
    transcript: withPolicy(transcript, demand),
  }
}

const withPolicy = (transcript: string, { by }: TlsDemand) =>
  by === '' ? transcript : `TLS policy: ${by}\n${transcript}`

export type { Composer, SignedMessage }
