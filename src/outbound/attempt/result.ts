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
  /** It went by a smart host. */
  failover?: true
  /** JSON of the addresses that come last in the next attempt; undefined: none. */
  putOffBy?: string | undefined
}

/** What the sessions of one attempt come to, each with another host or in another way. */
export interface AllResults {
  result: AttemptResult
  /** What servers have said that is not in the result; the site is told of it all the same. */
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
 * The last session's result where it is an end, or a server's words; else those of the last server that said any:
 * that a backup host is dead tells less than why the first one put the mail off.
 */
export function resultOfAll(results: readonly AttemptResult[]): AllResults {
  const last = results.at(-1)
  if (last === undefined) throw new Error('An attempt without any session')
  if (results.length === 1) return { result: last, unheard: [] }
  const isEnd = last.local !== true && (last.kind !== 'deferred' || last.doubt === true)
  const said = results.filter(({ site }) => site?.reply !== undefined)
  // One that began a session knows more than one that turned us away at its door.
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
 * What the site learns from an attempt (`shaping/`): which is not what the mail learns. A lost
 * connection says that the site is ill, a refusal of one address says nothing.
 */
function siteOutcomeOf(result: SendResult): SiteOutcome {
  // We refused it ourselves, before the server was asked: the words are ours, and no word of the site.
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
      // After the final dot the mail may have gone through: that the site is ill is not said.
      if (result.ambiguous) return { kind: 'deferred' }
      return {
        kind: 'connect-failed',
        cause: causeOf(result.code),
        why: `The sessions with its servers break off (${result.phase}): ${result.cause}`,
      }
  }
}

/** What it means that no session was got. */
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
    // They did take the connection.
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
 * Nothing came back: that may be our own way out. A server that said anything was reached. A connection
 * that is closed, or silent, before its banner shows no server: providers that block the port answer in
 * the receivers' place like this, and receivers that close on a listed address without a word are a
 * reason for the other way too. One that does so by itself moves nothing, as others are reached then.
 */
function reachedBy({ phase, code, reply }: NotAcquired['failure']): boolean | undefined {
  if (reply !== undefined) return true
  // What we broke off ourselves.
  if (code === 'ABORT_ERR') return undefined
  // Later there was a banner, of whomever: a session that ends then tells neither.
  return phase === 'connect' || phase === 'banner' ? false : undefined
}

const causeOf = (code: string | undefined) => (code === 'ETIMEDOUT' ? 'timeout' : 'refused')

/** What was said and to whom, behind the hosts that were tried before; with the policy that counted. */
function inFull(
  transcript: string,
  { before, remote, demand }: Pick<NotAcquired, 'before' | 'remote' | 'demand'>,
): string {
  const policy = demand.by === '' ? [] : [`TLS policy: ${demand.by}`]
  return [...before, `${remote}:`, ...policy, transcript].join('\n')
}
