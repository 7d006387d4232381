import type { Claimed } from '../../deliveries/index.js'
import { type DeliverySlot, openSiteSlots, smartHostsSite } from '../admission/index.js'
import type { Egress, Probe, ProbeOutcome, Relay, Relays } from '../egress/index.js'
import type { Outcome, TriedSoFar } from '../outcome.js'
import { type MailRoute, nowhere } from '../routing/index.js'
import { automationsFor, type Policy, type Shaping, type SiteOutcome } from '../shaping/index.js'
import type { AttemptResult } from './result.js'

/** What the choice of a way is made by. */
export interface DetourOptions {
  egress: Egress
  /** Undefined: there is no smart host. */
  relays: Relays | undefined
  shaping: Shaping
  /** Room at a site (by its key) was given back that was taken by a detour and not in line. */
  onRoom: (site: string) => void
}

/**
 * Decides by which way a mail goes, as values; nothing here sends. `attempt.ts` acts on them:
 *
 *   first ──direct──▶ sent direct ─▶ afterDirect ──ends / waits / by a smart host
 *     │                                                     └─▶ afterTurned
 *     ├───probe───▶ sent direct ─▶ afterProbe ──ends / by a smart host
 *     ├───relay───▶ by a smart host
 *     └───nowhere─▶ ends with the DNS's answer
 */
export interface Detour {
  /**
   * The direct way for a slot at a site; the smart host for a slot at one, but a few mails try the direct way
   * before.
   */
  first(claimed: Claimed, slot: DeliverySlot, route: MailRoute): FirstWay
  /** Counts what a direct attempt tells about our way out, which may turn the mail to a smart host. */
  afterDirect(claimed: Claimed, sent: SentDirect): Turned
  /** Gives the room back that `afterDirect` has taken. `site`: what the smart host's answer tells about that host. */
  afterTurned(claimed: Claimed, relay: Relay, site: SiteOutcome | undefined): void
  /** Counts what the probe has shown. True: its mail is done; false: it is offered to the smart host. */
  afterProbe(probe: DirectProbe, result: AttemptResult | undefined): boolean
}

/** By which way a mail is tried first. */
export type FirstWay =
  | { way: 'direct' }
  | { way: 'relay'; relay: Relay }
  | { way: 'probe'; relay: Relay; probe: DirectProbe }
  | { way: 'nowhere'; outcome: (tried: TriedSoFar) => Outcome }

/** A mail in line for a smart host that tries the direct way first, in a slot of its site. */
export interface DirectProbe {
  slot: DeliverySlot
  /** Undefined: another thread has begun the probe meanwhile, and this attempt does not count as one. */
  taken: Probe | undefined
}

/** A direct attempt that has ended. */
export interface SentDirect {
  slot: DeliverySlot
  route: MailRoute
  result: AttemptResult
}

/**
 * What follows a direct attempt. `waits`: our address is refused and not this mail, and no smart host has room now.
 * `relay`: room for the mail was taken at this smart host, and has to be given back.
 */
export type Turned = { next: 'ends' } | { next: 'waits' } | { next: 'relay'; relay: Relay }

const direct: FirstWay = { way: 'direct' }
const ends: Turned = { next: 'ends' }
const waits: Turned = { next: 'waits' }

/**
 * Decides by which way a mail goes while the direct one is broken, and returns that as a value; the
 * attempt acts on it. A probe is a mail that goes the direct way to see whether it works again.
 */
export function makeDetour({ egress, relays, shaping, onRoom }: DetourOptions): Detour {
  const takeProbe = (
    { lane, class: of }: Claimed,
    { source }: DeliverySlot,
    { site }: MailRoute,
  ): DirectProbe | undefined => {
    if (!egress.isProbeDue(site.key, lane)) return undefined
    const slot = openSiteSlots(shaping, site, { name: 'probe', turns: [source] }).take(of)
    if ('gate' in slot) return undefined
    return { slot, taken: egress.takeProbe(site.key, lane) }
  }

  return {
    first(claimed, slot, route) {
      const { relay } = slot
      if (relay === undefined) return direct
      if ('outcome' in route) {
        // A definite answer of the DNS says nothing about our way out, and no smart host need be asked.
        if (route.site === nowhere) return { way: 'nowhere', outcome: route.outcome }
        return { way: 'relay', relay }
      }
      const probe = takeProbe(claimed, slot, route)
      return probe === undefined ? { way: 'relay', relay } : { way: 'probe', relay, probe }
    },

    afterDirect({ class: of, accountId }, { slot, route, result }) {
      // The appliance's own servers say nothing about the way out.
      if ('inside' in route) return ends
      if (result.reached !== undefined)
        egress.saw({ site: route.site.key, accountId }, result.reached)
      if (relays === undefined || !egress.mayRelay()) return ends
      if (!refusesUs(slot.site.policy, result)) return ends
      const relay = relays.start(of)
      return 'gate' in relay ? waits : { next: 'relay', relay }
    },

    afterTurned({ class: of }, { room }, site) {
      if (site === undefined) room.withdraw(of)
      else room.ended(of, site)
      onRoom(smartHostsSite)
    },

    afterProbe({ slot, taken }, result) {
      const isRefused = result !== undefined && refusesUs(slot.site.policy, result)
      if (result?.site === undefined) slot.withdraw()
      else slot.ended(result.site)
      onRoom(slot.siteKey)
      taken?.ended(result === undefined || isRefused ? undefined : probeOutcomeOf(result))
      if (result === undefined) return false
      // A mail that a server may have taken is not offered a second time at once.
      return result.doubt === true || !(isRefused || result.kind === 'deferred')
    },
  }
}

/** True when the shaping says 'failover' for the receiver's words. */
function refusesUs(policy: Policy, { kind, site }: AttemptResult): boolean {
  if (kind === 'delivered' || site?.reply === undefined) return false
  return automationsFor(policy, site.reply).some(({ action }) => action === 'failover')
}

/**
 * An answer of any kind shows that the site is reached; only a delivery shows that it takes our
 * mail.
 */
function probeOutcomeOf({ kind, reached }: AttemptResult): ProbeOutcome | undefined {
  if (kind === 'delivered') return 'accepted'
  if (reached === undefined) return undefined
  return reached ? 'answered' : 'unreached'
}
