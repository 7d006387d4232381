import type { Claimed } from '../../deliveries/index.js'
import type { Envelope, StreamedMessage } from '../../smtp/index.js'
import { type DeliverySlot, openSiteSlots } from '../admission/index.js'
import type { Egress, Offered, ProbeOutcome, Relay, Relays } from '../egress/index.js'
import { type MailRoute, nowhere } from '../routing/index.js'
import { automationsFor, type Policy, type Shaping, type SiteOutcome } from '../shaping/index.js'
import type { AttemptResult } from './attempt.js'

/** A message ready for the wire, with its envelope. */
export interface Mail {
  envelope: Envelope
  message: readonly Buffer[] | StreamedMessage
  /** To be called when it is not needed any more. */
  done(): void
}

export interface DetourOptions {
  egress: Egress
  /** Undefined: there is no smart host. */
  relays: Relays | undefined
  shaping: Shaping
  tryPrimary: (claimed: Claimed, slot: DeliverySlot, route: MailRoute) => Promise<AttemptResult>
  prepare: (claimed: Claimed) => Promise<Mail>
}

/** How a mail goes by the smart hosts, and how it sees whether it has to. */
export interface Detour {
  /** For a slot of theirs. A few of these mails try the primary way first. */
  byRelay(
    claimed: Claimed,
    slot: DeliverySlot,
    relay: Relay,
    route: MailRoute,
  ): Promise<AttemptResult>
  /** For any other slot: what the attempt tells about our way out counts, and may turn the mail. */
  primary(claimed: Claimed, slot: DeliverySlot, route: MailRoute): Promise<AttemptResult>
}

export function makeDetour(options: DetourOptions): Detour {
  const { egress, relays, shaping, tryPrimary, prepare } = options

  const offer = async (claimed: Claimed, relay: Relay): Promise<AttemptResult> => {
    if (relays === undefined) throw new Error('A relay without relays')
    const { envelope, message, done } = await prepare(claimed)
    const offered = await relays.deliver(relay, claimed.class, envelope, message).finally(done)
    return findingOf(offered)
  }

  /** What came of the primary way, where a probe was due and there was room for it. */
  const probe = async (claimed: Claimed, slot: DeliverySlot, route: MailRoute) => {
    if ('outcome' in route || !egress.isProbeDue(route.site.key, claimed.lane)) return undefined
    const turns = { name: 'probe', turns: [slot.source] }
    const direct = openSiteSlots(shaping, route.site, turns).take(claimed.class)
    if ('gate' in direct) return undefined
    const taken = egress.takeProbe(route.site.key, claimed.lane)
    let outcome: ProbeOutcome | undefined
    let site: SiteOutcome | undefined
    try {
      const finding = await tryPrimary(claimed, direct, route)
      const refused = refusesUs(direct.site.policy, finding)
      site = finding.site
      if (!refused) outcome = probeOutcomeOf(finding)
      // What may have been taken is not offered a second time at once.
      if (finding.doubt) return finding
      return refused || finding.kind === 'deferred' ? undefined : finding
    } finally {
      if (site === undefined) direct.withdraw()
      else direct.ended(site)
      taken?.ended(outcome)
    }
  }

  return {
    async byRelay(claimed, slot, relay, route) {
      // A definite answer of the DNS is no incident of ours, and nobody else's business.
      if ('outcome' in route && route.site === nowhere) return route.outcome(claimed)
      const probed = await probe(claimed, slot, route)
      // What it tells is about the site and not about the smart host.
      if (probed !== undefined) return { ...probed, site: undefined }
      return await offer(claimed, relay)
    },

    async primary(claimed, slot, route) {
      const finding = await tryPrimary(claimed, slot, route)
      // The appliance's own servers say nothing about the way out.
      if ('inside' in route) return finding
      if (finding.reached !== undefined) egress.saw(route.site.key, finding.reached)
      if (relays === undefined || !egress.mayRelay()) return finding
      if (!refusesUs(slot.site.policy, finding)) return finding
      const relay = relays.start(claimed.class)
      // It is our address that is refused and not this mail: it waits for the other way.
      if ('gate' in relay) return { ...finding, kind: 'deferred' }
      let site: SiteOutcome | undefined
      try {
        const turned = await offer(claimed, relay)
        site = turned.site
        return { ...turned, site: finding.site }
      } finally {
        if (site === undefined) relay.room.withdraw(claimed.class)
        else relay.room.ended(claimed.class, site)
      }
    },
  }
}

/** The receiver's words are those for which the shaping says 'failover'. */
function refusesUs(policy: Policy, { kind, site }: AttemptResult): boolean {
  if (kind === 'delivered' || site?.reply === undefined) return false
  return automationsFor(policy, site.reply).some(({ action }) => action === 'failover')
}

function probeOutcomeOf({ kind, reached }: AttemptResult): ProbeOutcome | undefined {
  if (kind === 'delivered') return 'accepted'
  if (reached === undefined) return undefined
  return reached ? 'answered' : 'unreached'
}

const kinds = {
  relayed: 'relayed',
  bounced: 'bounced',
  'not taken': 'deferred',
  'in doubt': 'deferred',
} as const

function findingOf({ verdict, reply, remote, tls, site, ...offered }: Offered): AttemptResult {
  const transcript = `${remote}:\n${offered.transcript}`
  const doubt = verdict === 'in doubt'
  return { kind: kinds[verdict], doubt, reply, remote, tls, transcript, site, failover: true }
}
