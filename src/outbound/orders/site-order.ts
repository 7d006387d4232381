import { utcTime } from '../../clock/index.js'
import { OperatorError } from '../../errors/index.js'
import type { QueueClass, Read, SiteOrderRow, Tx } from '../../store/index.js'

/** An operator's word as it is kept. */
export interface SiteOrder extends Omit<SiteOrderRow, 'id'> {
  id: number
}

/** An order as somebody gives it. */
export interface NewOrder {
  kind: SiteOrder['kind']
  site: string
  pool?: string | undefined
  accountId?: string | undefined
  class?: QueueClass | undefined
  why: string
  by: string
  now: number
  until: number
}

const longestMs = 30 * 86_400_000
// Past orders are kept for so long: whoever asks about last year's mail still finds them.
const keptMs = 400 * 86_400_000

/**
 * Gives an order, which replaces one of the same kind for the same mail. Throws an `OperatorError` for something that
 * cannot be a site, for a reason that says nothing, and for a time that is over or too far ahead.
 */
export async function giveOrder(tx: Tx, given: NewOrder): Promise<SiteOrder> {
  const { kind, pool = null, accountId = null, class: of = null, by, now, until } = given
  const site = siteNamed(given.site)
  const why = given.why.trim()
  if (!/^\P{Cc}{1,200}$/u.test(why)) {
    throw new OperatorError('Say why in 1 to 200 characters, as senders of waiting mail may see it')
  }
  if (until <= now || until > now + longestMs) {
    throw new OperatorError('An order lasts from a moment to 30 days')
  }
  await tx
    .updateTable('site_orders')
    .set({ ended_at: now })
    .where('ended_at', 'is', null)
    .where('until', '>', now)
    .where('kind', '=', kind)
    .where('site', '=', site)
    .where((eb) =>
      accountId === null ? eb('account_id', 'is', null) : eb('account_id', '=', accountId),
    )
    .where((eb) => (of === null ? eb('class', 'is', null) : eb('class', '=', of)))
    .execute()
  await tx
    .deleteFrom('site_orders')
    .where('until', '<', now - keptMs)
    .execute()
  const row = await tx
    .insertInto('site_orders')
    .values({
      kind,
      site,
      pool,
      why,
      until,
      account_id: accountId,
      class: of,
      given_by: by.slice(0, 200),
      given_at: now,
      ended_at: null,
    })
    .returningAll()
    .executeTakeFirstOrThrow()
  return row
}

/** Ends the orders for a site, all or those of a kind, or one order by its number; resolves with those that it ended. */
export async function endOrders(
  tx: Tx,
  which: { site: string; kind?: SiteOrder['kind'] | undefined } | { id: number },
  now: number,
): Promise<SiteOrder[]> {
  const meant =
    'id' in which
      ? { id: which.id }
      : { site: siteNamed(which.site), ...(which.kind && { kind: which.kind }) }
  return await tx
    .updateTable('site_orders')
    .set({ ended_at: now })
    .where('ended_at', 'is', null)
    .where('until', '>', now)
    .where(({ and }) => and(meant))
    .returningAll()
    .execute()
}

/** The orders in force, the first to end first. */
export const openOrders = (read: Read, now: number): Promise<SiteOrder[]> =>
  read
    .selectFrom('site_orders')
    .selectAll()
    .where('ended_at', 'is', null)
    .where('until', '>', now)
    .orderBy('until')
    .orderBy('id')
    .limit(mostOpen)
    .execute()

// Orders beyond this number hold no mail; no person gives so many.
const mostOpen = 500

/** The orders that were in force before, the newest first. */
export const pastOrders = (read: Read, now: number, limit: number): Promise<SiteOrder[]> =>
  read
    .selectFrom('site_orders')
    .selectAll()
    .where((eb) => eb.or([eb('ended_at', 'is not', null), eb('until', '<=', now)]))
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()

/** The site as it is compared: in lower case (RFC 4343 §2). */
function siteNamed(given: string): string {
  const site = given.trim().toLowerCase()
  if (/^[^\p{Cc}\s]\P{Cc}{0,299}$/u.test(site) && site !== '') return site
  throw new OperatorError(
    "Name a recipients' domain, or a site as in 'posthorn shaping show', such as google",
  )
}

/** The order in the words of `queue show` and of lists. */
export const orderInWords = ({ kind, site, pool, until, why, given_by: by }: SiteOrder): string =>
  kind === 'hold'
    ? `Mail to ${site} is held until ${utcTime(until)} by ${by}: ${why}`
    : `Mail to ${site} leaves from the pool ${pool} until ${utcTime(until)} by ${by}: ${why}`
