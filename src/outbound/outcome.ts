import type { MxRoute } from '../dns/index.js'
import type { BounceClass } from '../reports/index.js'
import type { Reply, SendResult } from '../smtp/index.js'

/** What an attempt came to. `reply` is the server's answer verbatim, or our own sentence. */
export interface Outcome {
  kind: 'delivered' | 'relayed' | 'bounced' | 'deferred' | 'failed' | 'suppressed'
  reply: string
  /** What it is, where no server has said it. */
  class?: BounceClass
}

/** RFC 5321 §4.2.1: 4yz is worth another try, 5yz is final. */
export function outcomeOfSend(result: SendResult): Outcome {
  switch (result.kind) {
    case 'accepted':
      return { kind: 'delivered', reply: replyText(result.reply) }
    case 'refused':
      return { kind: 'bounced', reply: replyText(result.reply) }
    case 'deferred':
      return { kind: 'deferred', reply: replyText(result.reply) }
    case 'lost': {
      // After the final dot the server may have taken the mail: the one case that can double it.
      const doubt = result.ambiguous ? '; it may have taken the message' : ''
      return {
        kind: 'deferred',
        reply: `Connection lost at ${result.phase}: ${result.cause}${doubt}`,
      }
    }
  }
}

export const nxdomainReply = 'The domain does not exist (DNS answers NXDOMAIN)'

/** What a route without hosts means. `lastReply` tells whether NXDOMAIN was seen before. */
export function outcomeOfRoute(
  route: Exclude<MxRoute, { kind: 'hosts' }>,
  lastReply: string | null,
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
        kind: lastReply === nxdomainReply ? 'bounced' : 'deferred',
        reply: nxdomainReply,
        class: 'bad-domain',
      }
    case 'no-addresses':
      return {
        kind: 'bounced',
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

export const replyText = (reply: Reply) => `${reply.code} ${reply.text}`
