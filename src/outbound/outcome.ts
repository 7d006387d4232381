import type { MxRoute } from '../dns/index.js'
import type { BounceClass } from '../reports/index.js'
import type { ConnectFailure, Phase, Reply, SendResult } from '../smtp/index.js'
import type { LastCause } from '../store/index.js'

/** What an attempt came to; held: there was none, as its campaign is paused. `reply` is the server's answer verbatim, or our own sentence. */
export interface Outcome {
  kind: 'delivered' | 'relayed' | 'bounced' | 'deferred' | 'failed' | 'suppressed' | 'held'
  reply: string
  /** The command that the server has refused, where it was not RCPT. */
  command?: string | undefined
  /** What it is, where no server has said it. */
  class?: BounceClass
  /** It was lost after the final dot: the server may have it, and another attempt may double it. */
  doubt?: boolean
  /** What the next attempt has to know of this one. */
  cause?: LastCause | undefined
  /** We refused it ourselves, for what the server has declined in its EHLO. */
  local?: true | undefined
  /** Another host of the domain put it off, or gave no session, in the same attempt: it may take it yet. */
  elsewhere?: boolean
}

/** Ends what people read of an attempt that is in doubt. */
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

// The commands whose refusal is told by name; that of RCPT is the usual one and is not.
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

/** What a route without hosts means. The last cause tells whether NXDOMAIN was seen before. */
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
      // Whoever moves a server, or edits a zone, has it without an address for a while.
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
