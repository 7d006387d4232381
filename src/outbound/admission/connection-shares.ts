import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import type { Clock } from '../../clock/index.js'
import { breakOff } from '../../smtp/index.js'
import type { QueueClass } from '../../store/index.js'
import { keptFrom } from '../shaping/index.js'
import { makeCutter } from './cut-slow.js'
import type { DeliverySlot } from './delivery-slots.js'
import {
  type HeldConnection,
  type Holder,
  half,
  holdersOf,
  isKnownSlow,
  makeShareLedger,
} from './share-ledger.js'
import type { Lane } from './waiting.js'

/**
 * How a thread's connections are divided, by how long attempts keep them.
 *
 *   an attempt ──younger than 10 s, its site and its server are usually done by then──▶ prompt
 *       └──────every other: never answered, known to be slow, or 10 s old──▶ slow
 *
 * A receiver may take minutes for each reply (RFC 5321 §4.5.3.2 grants them), and a sender who owns receivers could
 * hold every connection like that. So all together, an account, a site and a server's address each have a share of
 * the connections, and a smaller share of slow ones. The last quarter is for prompt attempts alone. Where a share
 * of slow ones is nearly full and mail waits, attempts in it get a minute instead of the RFC's ten; where there is
 * room nobody is hurried.
 */
export interface ConnectionShares {
  /** The share that has no room for the attempt; undefined when it may start. */
  refuses(asker: Asker): ShareRefusal | undefined
  /** The attempt has started. Returns the slot that it is to use. */
  started(slot: DeliverySlot, asker: Asker): DeliverySlot
  /** The attempt has ended; `tried`: it came as far as the site. Returns the shares that have more room now. */
  ended(slot: DeliverySlot, tried: boolean): readonly string[]
  /** Ends attempts that others have waited for long enough; to be called while mail waits. */
  cut(): void
  /** When `cut` may have something to do next; infinite for not known. */
  cutAt(): number
}

/** An attempt that is to start. */
export interface Asker {
  of: QueueClass
  accountId: string
  site: string
  /** The attempt will in all likelihood connect to the lane's `server`. */
  lane: Pick<Lane, 'server'>
  /** The site's last attempt had an answer. */
  answers: boolean
}

/** Why an attempt may not start, though its site has room. */
export interface ShareRefusal {
  /** `ended` names it when there is room. */
  share: string
  isOfServer: boolean
  why: string
}

/**
 * Connections are scarce: a server that answers slowly holds one for minutes. So no account, site or server may
 * hold more than a share, nor may all slow ones together. Postfix bounds only the site
 * (`default_destination_concurrency_limit`), which one slow provider of thousand domains gets around.
 */
export function makeConnectionShares(total: number, clock: Pick<Clock, 'now'>): ConnectionShares {
  const ledger = makeShareLedger(total, clock)
  const { all, accounts, sites, servers } = ledger
  const cutter = makeCutter(ledger)
  const holds = new Map<DeliverySlot, HeldConnection>()
  /** Shares that have more room since the last attempt ended, because an attempt went to another server. */
  const roomier: string[] = []

  return {
    refuses({ of, accountId, site: siteName, lane, answers }) {
      ledger.age(clock.now())
      const site = sites.find(siteName)
      const server = lane.server === undefined ? undefined : servers.find(lane.server)
      const isSlow = !answers || isKnownSlow(site) || isKnownSlow(server)
      for (const holder of [accounts.find(accountId), server, site, all]) {
        if (holder === undefined) continue
        const { held, slow } = holder.limits
        if (holder.held >= held - keptFrom(of, held)) return refusal(holder, 'held')
        if (isSlow && holder.slow >= slow - keptFrom(of, slow)) return refusal(holder, 'slow')
      }
      return undefined
    },

    started(slot, { accountId, site, lane, answers }) {
      const now = clock.now()
      ledger.age(now)
      const names = { accountId, site, server: lane.server }
      const hold = ledger.begin(names, { now, isUnknown: !answers })
      const goesTo = (address: string) => {
        const server = serverOf(address)
        if (server === hold.server?.name) return
        if (hold.server !== undefined) roomier.push(...sharesOf(hold, [hold.server]))
        ledger.move(hold, server)
        lane.server = server
      }
      const giveUp = (why: string) => breakOff(hold.cut, why)
      const hurried = !answers && all.slow > half(all.limits.slow)
      const taken = { cut: hold.cut, goesTo, giveUp, ...slot, ...(hurried && { hurried }) }
      holds.set(taken, hold)
      return taken
    },

    ended(slot, tried) {
      const hold = holds.get(slot)
      if (hold === undefined) return []
      const now = clock.now()
      ledger.age(now)
      holds.delete(slot)
      ledger.end(hold, tried, now)
      return [...roomier.splice(0), ...sharesOf(hold, holdersOf(hold, all))]
    },

    cut() {
      const now = clock.now()
      ledger.age(now)
      cutter.cut(now)
    },
    cutAt: cutter.cutAt,
  }
}

/** One server, by whatever address: an IPv6 host has a whole /64 to itself (RFC 6177). */
export function serverOf(address: string): string {
  if (isIP(address) !== 6) return address
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${address.replace(/%.*$/, '')}/64`)}/64`
}

/** The shares that it takes room in. */
function sharesOf({ isSlow }: HeldConnection, holders: readonly Holder[]): string[] {
  const names = holders.map(({ shares }) => shares.held)
  return isSlow ? [...names, ...holders.map(({ shares }) => shares.slow)] : names
}

/** The refusal is in words, because an operator reads it in `queue show` and `top`. */
function refusal(holder: Holder, which: 'held' | 'slow'): ShareRefusal {
  const whose = {
    all: 'all together',
    account: 'one account',
    site: 'one site',
    server: `the server ${holder.name}`,
  }
  const what = which === 'held' ? 'connections' : 'connections that are slow or not known yet'
  return {
    share: holder.shares[which],
    isOfServer: holder.kind === 'server',
    why: `${whose[holder.kind]} may have ${holder.limits[which]} ${what}`,
  }
}
