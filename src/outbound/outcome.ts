import type { MxRoute } from '../dns/index.js'
import type { BounceClass } from '../reports/index.js'
import type { ConnectFailure, Phase, Reply, SendResult } from '../smtp/index.js'
import type { LastCause } from '../store/index.js'

/**
 * The outcome of an attempt; `held`: there was none, because the campaign is paused. `reply` is the server's answer
 * verbatim, or our own sentence.
 */
export interface Outcome {
  kind: 'delivered' | 'relayed' | 'bounced' | 'deferred' | 'failed' | 'suppressed' | 'held'
  reply: string
  /** The command that the server refused, where it was not RCPT. */
  command?: string | undefined
  /** The class, where no server has said anything. */
  class?: BounceClass
  /** The connection was lost after the final dot: the server may have it, and another attempt may double it. */
  doubt?: boolean
  /** What the next attempt has to know about this one. */
  cause?: LastCause | undefined
  /** We refused the mail ourselves, because of what the server declined in its EHLO. */
  local?: true | undefined
  /**
   * Another host of the domain put the mail off, or gave no session, in the same attempt: that host may take it yet.
   */
  elsewhere?: boolean
}

/** The end of the sentence that people read about an attempt in doubt. */
export const mayHaveTaken = '; it may have taken the message'

/** RFC 5321 §4.2.1: 4yz is worth another try, 5yz is final. */
export function outcomeOfSend(result: SendResult): Outcome {
  switch (result.kind) {
    case 'accepted':
      return { kind: 'delivered', reply: replyText(result.reply) }
    case 'refused':
      return {
        kind: 'bounced',
        reply: replyText(result.reply),
        command: result.local ? undefined : commands.get(result.phase),
        local: result.local,
      }
    case 'deferred':
      return { kind: 'deferred', reply: replyText(result.reply) }
    case 'lost': {
      const { ambiguous: doubt, phase, cause } = result
      const reply = `Connection lost at ${phase}: ${cause}${doubt ? mayHaveTaken : ''}`
      return { kind: 'deferred', reply, doubt, cause: doubt ? 'in-doubt' : undefined }
    }
  }
}

// The commands whose refusal is told by name; RCPT is the usual one and is not named.
const commands: ReadonlyMap<Phase, string> = new Map([
  ['mail', 'MAIL FROM'],
  ['data', 'DATA'],
  ['dot', 'end of DATA'],
])

/** Why there is no session: the server's words where they say no, else ours. */
export const failureText = ({ phase, cause, reply }: ConnectFailure): string =>
  reply && reply.code >= 400 ? replyText(reply) : `No connection (${phase}): ${cause}`

/** A delivery before this attempt. */
export interface TriedSoFar {
  attempts: number
  lastCause: LastCause | null
}

// By the usual schedule (5, 10, 20, 45, 90 min, 3 h) some six hours.
const attemptsWithoutAddress = 7

/** The outcome of a route without hosts. The last cause tells whether NXDOMAIN was seen before. */
export function outcomeOfRoute(
  route: Exclude<MxRoute, { kind: 'hosts' }>,
  { attempts, lastCause }: TriedSoFar,
): Outcome {
  switch (route.kind) {
    case 'null-mx':
      return {
        kind: 'bounced',
        reply: 'The domain accepts no mail (null MX, RFC 7505)',
        class: 'bad-domain',
      }
    case 'nxdomain':
      // Registries and resolvers do drop names for minutes: only the second time is final.
      return {
        kind: lastCause === 'no-domain' ? 'bounced' : 'deferred',
        reply: 'The domain does not exist (DNS answers NXDOMAIN)',
        cause: 'no-domain',
        class: 'bad-domain',
      }
    case 'no-addresses':
      // Whoever moves a server, or edits a zone, leaves it without an address for a while.
      return {
        kind: attempts + 1 < attemptsWithoutAddress ? 'deferred' : 'bounced',
        reply: `No mail server has an address: ${route.cause}`,
        class: 'routing',
      }
    case 'refused':
      return {
        kind: 'bounced',
        reply: `No mail server that may be connected to: ${route.cause}`,
        class: 'routing',
      }
    case 'failed':
      return { kind: 'deferred', reply: `DNS failed: ${route.cause}` }
  }
}

/** A reply as it is kept and shown: its code and its words. */
export const replyText = (reply: Reply) => `${reply.code} ${reply.text}`
