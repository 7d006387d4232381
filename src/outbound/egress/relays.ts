import type { Envelope, MessageToSend } from '../../smtp/index.js'
import type { QueueClass } from '../../store/index.js'
import type { Held, Site } from '../shaping/index.js'
import type { Offered, Relay } from './smart-host.js'

/** The smart hosts together, in their order. */
export interface Relays {
  /** Takes room for one mail at the first that works, or says why there is none. */
  start(of: QueueClass): Relay | Held
  /**
   * Offers a mail to the smart host whose room was taken and, if that does not take it, to the others. `site` of the
   * answer is about the first one alone.
   */
  deliver(
    first: Relay,
    of: QueueClass,
    envelope: Envelope,
    message: MessageToSend,
  ): Promise<Offered>
  close(): void
  destroy(): void
}

/**
 * In the order of the settings: the second smart host is used when the first one does not work, and not for more
 * speed.
 */
export function makeRelays(relays: readonly Relay[]): Relays {
  return {
    start(of) {
      let closed: Held | undefined
      for (const relay of relays) {
        const held = relay.room.mayStart(of)
        if (held === undefined) {
          relay.room.started(of)
          return relay
        }
        const { until } = sooner(closed, held)
        // The order is the operator's: a smart host that works and is busy is waited for, unless an earlier one is
        // tried again sooner.
        if (held.gate !== 'suspended') return { gate: held.gate, until, why: held.why }
        closed = sooner(closed, held)
      }
      if (closed === undefined) throw new Error('There is no smart host')
      return closed
    },
    async deliver(first, of, envelope, message) {
      const offered = await first.offer(envelope, message)
      if (offered.verdict !== 'not taken') return offered
      for (const other of relays) {
        if (other === first || !mayTake(other.room, of)) continue
        other.room.started(of)
        const next = await other.offer(envelope, message).catch((error: unknown) => {
          other.room.withdraw(of)
          throw error
        })
        other.room.ended(of, next.site)
        if (next.verdict !== 'not taken') return { ...next, site: offered.site }
      }
      return offered
    },
    close() {
      for (const relay of relays) relay.close()
    },
    destroy() {
      for (const relay of relays) relay.destroy()
    },
  }
}

/**
 * A mail that is already on its way would have to wait for its next attempt. So it need not wait until more
 * connections are earned; only the operator's limit holds.
 */
function mayTake(room: Site, of: QueueClass): boolean {
  const held = room.mayStart(of)
  const isBusy = held?.gate === 'connections'
  return held === undefined || (isBusy && room.inFlight < room.policy.connections)
}

/** Of two relays that cannot take mail now, the reason of the one that can take it first. */
function sooner(one: Held | undefined, other: Held): Held {
  if (one === undefined || one.until === null) return other
  return other.until !== null && other.until < one.until ? other : one
}
