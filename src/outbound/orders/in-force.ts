import { type Clock, repeat } from '../../clock/index.js'
import type { StreamKey } from '../../deliveries/index.js'
import { messageOf } from '../../errors/index.js'
import { type Log, makeSeldom } from '../../log/index.js'
import type { Store } from '../../store/index.js'
import type { SiteName } from '../shaping/index.js'
import { ordersFor, type SiteOrdersOf } from './orders-for.js'
import { openOrders, type SiteOrder } from './site-order.js'

/** The orders in force now, as a thread knows them. */
export interface OrdersInForce {
  of(mail: StreamKey, site: Pick<SiteName, 'key' | 'provider'>): SiteOrdersOf
  /** Reads them anew now. */
  refresh(): Promise<void>
  close(): Promise<void>
}

// An order begins and ends within this time. An order given at another node takes up to as long again.
const everyMs = 2_000

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
    of: (mail, site) => ordersFor(inForce, mail, site),
    refresh,
    close: async () => void (await looks.stop()),
  }
}
