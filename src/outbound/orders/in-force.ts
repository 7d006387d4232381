import { type Clock, repeat } from '../../clock/index.js'
import { messageOf } from '../../errors/index.js'
import { type Log, makeSeldom } from '../../log/index.js'
import type { QueueClass, Store } from '../../store/index.js'
import type { SiteName } from '../shaping/index.js'
import { openOrders, type SiteOrder } from './site-order.js'

/** The orders for the mail of one stream. */
export interface SiteOrdersOf {
  hold?: SiteOrder | undefined
  /** The name of the pool that the mail leaves from. */
  pool?: string | undefined
}

/** The orders in force now, as a thread knows them. */
export interface OrdersInForce {
  of(
    mail: { lane: string; accountId: string; class: QueueClass },
    site: Pick<SiteName, 'key' | 'provider'>,
  ): SiteOrdersOf
  /** Reads them anew now. */
  refresh(): Promise<void>
  close(): Promise<void>
}

// An order begins and ends within this time. An order given at another node takes up to as long again.
const everyMs = 2_000

const nothing: SiteOrdersOf = {}

/** Reads the orders now and every two seconds; `onChange`: other orders are in force than before. */
export async function makeOrders(
  { store, clock, log }: { store: Pick<Store, 'read' | 'commits'>; clock: Clock; log: Log },
  onChange: () => void,
): Promise<OrdersInForce> {
  let inForce: readonly SiteOrder[] = await openOrders(store.read, clock.now())
  let seen: number | undefined
  const seldom = makeSeldom(clock)
  const refresh = async () => {
    const before = inForce
    inForce = await openOrders(store.read, clock.now())
    const isSame =
      before.length === inForce.length && before.every(({ id }, i) => id === inForce[i]?.id)
    if (!isSame) onChange()
  }
  const look = async () => {
    const commits = store.commits()
    const now = clock.now()
    if (commits === seen && inForce.every(({ until }) => until > now)) return
    await refresh()
    seen = commits
  }
  const looks = repeat(clock, async () => {
    await look().catch((error: unknown) =>
      seldom(() => log.error({ cause: messageOf(error) }, 'Orders for sites could not be read')),
    )
    return everyMs
  })
  return {
    of(mail, site) {
      if (inForce.length === 0) return nothing
      const own = inForce.filter((order) => isMeant(order, mail, site))
      return {
        hold: own.find(({ kind }) => kind === 'hold'),
        // Of several orders the newest counts.
        pool:
          own.filter(({ kind }) => kind === 'pool').sort((a, b) => b.id - a.id)[0]?.pool ??
          undefined,
      }
    },
    refresh,
    close: async () => void (await looks.stop()),
  }
}

const isMeant = (
  { site, account_id: account, class: of }: SiteOrder,
  mail: { lane: string; accountId: string; class: QueueClass },
  { key, provider }: Pick<SiteName, 'key' | 'provider'>,
): boolean =>
  (site === mail.lane || site === key || site === provider) &&
  (account === null || account === mail.accountId) &&
  (of === null || of === mail.class)
