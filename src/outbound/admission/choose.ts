import type { Asker, ConnectionShares, ShareRefusal } from './connection-shares.js'
import type { DeliverySlot } from './delivery-slots.js'
import type { Stream, StreamsByAccount } from './waiting.js'

/** The stream that has the slot, or for each account why it has none; nothing when no stream is asked for. */
export interface Choice {
  stream?: Stream
  refused?: ReadonlyMap<string, ShareRefusal>
}

// When a domain has no room at its server, at most so many domains of its account are looked at.
const mostLooked = 50

/**
 * The next stream of the next account, among the streams that are asked for and have room in the shares of the
 * connections. An account without room is passed over: it must not hold up the others at the path.
 */
export function choose(
  shares: Pick<ConnectionShares, 'refuses'>,
  due: StreamsByAccount,
  slot: DeliverySlot,
  isAsked: (stream: Stream) => boolean,
): Choice {
  const refused = new Map<string, ShareRefusal>()
  for (const [accountId, streams] of due) {
    const passed: Stream[] = []
    for (const stream of streams) {
      if (!isAsked(stream)) continue
      const refusal = slot.own ? undefined : shares.refuses(askerOf(stream, slot))
      if (refusal === undefined) return { stream }
      refused.set(accountId, refusal)
      passed.push(stream)
      // Another server may have room, another domain of the same account has none.
      if (!refusal.isOfServer || passed.length === mostLooked) break
    }
    // The streams behind them are looked at the next time.
    for (const stream of passed) {
      streams.delete(stream)
      streams.add(stream)
    }
  }
  return refused.size === due.size ? { refused } : {}
}

/** What a share of connections is counted by: class, account, site and server. */
export const askerOf = (
  { class: of, accountId, lane }: Stream,
  { siteKey, site }: DeliverySlot,
): Asker => ({ of, accountId, lane, site: siteKey, answers: site.answers })
