import type { SendResult } from '../../smtp/index.js'
import type { NotAcquired, SmtpSession } from '../connections/index.js'
import { failureText, type Outcome, outcomeOfSend, replyText } from '../outcome.js'
import type { SiteOutcome } from '../shaping/index.js'
import { type TlsDemand, tlsInWords } from '../tls-policy/index.js'

/** What an attempt found out beside its outcome. */
export interface AttemptResult extends Outcome {
  remote?: string
  tls?: string | undefined
  transcript?: string
  /** What it tells about the site; undefined when it never got there. */
  site?: SiteOutcome | undefined
  /** Whether the site gave a new connection; undefined when none was needed. */
  reached?: boolean | undefined
  /** Why the mail itself can never leave as it is stored. */
  fault?: string
  /** The mail went by a smart host. */
  failover?: true
  /** JSON of the addresses that come last in the next attempt; undefined: none. */
  putOffBy?: string | undefined
}

/** What the sessions of one attempt come to; each was with another host or by another way. */
export interface AllResults {
  result: AttemptResult
  /** What servers have said that is not in the result. The site learns it too. */
  unheard: string[]
}

/** What came of offering the mail in a session. */
export function resultOfSend(
  session: SmtpSession,
  result: SendResult,
  demand: TlsDemand,
): AttemptResult {
  const { connection, remote, reused, tlsFailed } = session
  const words = tlsInWords(connection.tls, demand)
  const tls = tlsFailed === undefined ? words : `${words ?? 'none'}: ${tlsFailed.why}`
  const before = reused ? [] : session.before
  const transcript = inFull(connection.transcript(), { before, remote, demand })
  return { remote, tls, transcript, site: siteOutcomeOf(result), ...outcomeOfSend(result) }
}

/**
 * The last session's result where it ends the delivery; else the result of the last server that said anything: that a
 * backup host is dead tells less than why the first one put the mail off.
 */
export function resultOfAll(results: readonly AttemptResult[]): AllResults {
  const last = results.at(-1)
  if (last === undefined) throw new Error('An attempt without any session')
  if (results.length === 1) return { result: last, unheard: [] }
  const isEnd = last.local !== true && (last.kind !== 'deferred' || last.doubt === true)
  const said = results.filter(({ site }) => site?.reply !== undefined)
  // A server that began a session knows more than one that turned us away before.
  const words = said.findLast(({ site }) => site?.kind !== 'connect-failed') ?? said.at(-1)
  const told = isEnd ? last : (words ?? results.findLast(({ local }) => local) ?? last)
  const others = results.filter((one) => one !== told)
  return {
    result: {
      ...told,
      transcript: results.map(({ transcript = '' }) => transcript).join('\n'),
      reached: results.some(({ reached }) => reached) ? true : told.reached,
      elsewhere: others.some(({ kind }) => kind === 'deferred'),
    },
    unheard: others.flatMap(({ site }) => site?.reply ?? []),
  }
}

/**
 * What the site learns from an attempt (`shaping/`), which differs from what the mail learns. A lost connection says
 * that the site is ill, a refusal of one address says nothing.
 */
function siteOutcomeOf(result: SendResult): SiteOutcome {
  // We refused the mail ourselves, before the server was asked: the words are ours and not the site's.
  if (result.kind !== 'lost' && result.local) return { kind: 'deferred' }
  switch (result.kind) {
    case 'accepted':
      return { kind: 'delivered', reply: replyText(result.reply) }
    case 'refused':
      return { kind: 'bounced', reply: replyText(result.reply) }
    case 'deferred':
      return { kind: 'deferred', reply: replyText(result.reply) }
    case 'lost':
      if (result.reply) return { kind: 'deferred', reply: replyText(result.reply) }
      // After the final dot the mail may have gone through, so this does not say that the site is ill.
      if (result.ambiguous) return { kind: 'deferred' }
      return {
        kind: 'connect-failed',
        cause: causeOf(result.code),
        why: `The sessions with its servers break off (${result.phase}): ${result.cause}`,
      }
  }
}

/** The result where no session could be opened. */
export function resultOfFailure(last: NotAcquired, domain: string): AttemptResult {
  const { failure, remote, demand } = last
  const { phase, cause, reply, tlsFailed, transcript } = failure
  const unmet = `TLS policy of ${domain} (${demand.by}) is not met by ${remote}: ${cause}`
  // One domain's policy says nothing about a site that it shares with others.
  const isUnmet = tlsFailed === true && demand.by !== ''
  const site: SiteOutcome = {
    kind: 'connect-failed',
    cause: causeOf(failure.code),
    reply: reply && replyText(reply),
    // The servers did take the connection.
    ...(phase !== 'connect' && {
      why: `Its servers begin no session: ${reply ? replyText(reply) : `${cause} (${phase})`}`,
    }),
  }
  return {
    kind: 'deferred',
    reply: isUnmet ? unmet : failureText(failure),
    cause: isUnmet ? 'tls-policy' : undefined,
    remote,
    tls: demand.by === '' ? undefined : `none (${demand.by})`,
    transcript: inFull(transcript, last),
    ...(isUnmet ? {} : { site }),
    reached: reachedBy(failure),
  }
}

/**
 * Whether the site was reached. If nothing came back, our own way out may be broken. A server that said anything was
 * reached. A connection that is closed, or silent, before its banner shows no server: providers that block the port
 * answer like this in the receivers' place. Receivers that close without a word on a listed address are a reason for
 * the other way too. A single site that does so changes nothing, as others are reached.
 */
function reachedBy({ phase, code, reply }: NotAcquired['failure']): boolean | undefined {
  if (reply !== undefined) return true
  // We broke it off ourselves.
  if (code === 'ABORT_ERR') return undefined
  // In a later phase there was a banner, whoever sent it: a session that ends then shows neither.
  return phase === 'connect' || phase === 'banner' ? false : undefined
}

const causeOf = (code: string | undefined) => (code === 'ETIMEDOUT' ? 'timeout' : 'refused')

/** What was said and to whom, after the lines of the hosts tried before; with the policy that counted. */
function inFull(
  transcript: string,
  { before, remote, demand }: Pick<NotAcquired, 'before' | 'remote' | 'demand'>,
): string {
  const policy = demand.by === '' ? [] : [`TLS policy: ${demand.by}`]
  return [...before, `${remote}:`, ...policy, transcript].join('\n')
}
