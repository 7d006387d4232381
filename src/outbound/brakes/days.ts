import { dayNumber } from '../../clock/index.js'
import type { Read, SiteDayRow, Tx } from '../../store/index.js'
import type { SiteTally } from '../shaping/index.js'

/** How attempts at a site usually end, added up over days. */
export type SiteUsual = Pick<
  SiteDayRow,
  'tried' | 'delivered' | 'deferred' | 'blocked' | 'complained' | 'busy_ms'
>

/** The usual of a site is counted over so many days before today. */
export const usualDays = 14
const keptDays = 28

/** A count for the day. */
export interface DayCount extends Pick<SiteTally, 'tried' | 'delivered' | 'deferred' | 'blocked'> {
  site: string
  /** Empty: the source is not known. */
  source: string
  complained: number
  busyMs: number
}

/** Adds counts to those of the day. */
export async function addToDays(tx: Tx, counts: readonly DayCount[], now: number): Promise<void> {
  const day = dayNumber(now)
  for (const { site, source, tried, delivered, deferred, blocked, complained, busyMs } of counts) {
    const busy_ms = Math.round(busyMs)
    await tx
      .insertInto('site_days')
      .values({ site, source, day, tried, delivered, deferred, blocked, complained, busy_ms })
      .onConflict((conflict) =>
        conflict.columns(['site', 'source', 'day']).doUpdateSet((eb) => ({
          tried: eb('site_days.tried', '+', eb.ref('excluded.tried')),
          delivered: eb('site_days.delivered', '+', eb.ref('excluded.delivered')),
          deferred: eb('site_days.deferred', '+', eb.ref('excluded.deferred')),
          blocked: eb('site_days.blocked', '+', eb.ref('excluded.blocked')),
          complained: eb('site_days.complained', '+', eb.ref('excluded.complained')),
          busy_ms: eb('site_days.busy_ms', '+', eb.ref('excluded.busy_ms')),
        })),
      )
      .execute()
  }
}

/** Forgets days that nobody asks for any more. */
export async function forgetDays(tx: Tx, now: number): Promise<void> {
  await tx
    .deleteFrom('site_days')
    .where('day', '<', dayNumber(now) - keptDays)
    .execute()
}

/** What a site had in these days, the first and the last included; with `source`, from that source alone. */
export async function usualOf(
  read: Read | Tx,
  { site, source }: { site: string; source?: string },
  { from, to }: { from: number; to: number },
): Promise<SiteUsual> {
  const [sum] = await summed(read)
    .where('site', '=', site)
    .$if(source !== undefined, (query) => query.where('source', '=', source ?? ''))
    .where('day', '>=', from)
    .where('day', '<=', to)
    .execute()
  return {
    // A sum over no rows is null.
    tried: sum?.tried ?? 0,
    delivered: sum?.delivered ?? 0,
    deferred: sum?.deferred ?? 0,
    blocked: sum?.blocked ?? 0,
    complained: sum?.complained ?? 0,
    busy_ms: sum?.busy_ms ?? 0,
  }
}

/** What each site had since a day. */
export async function usualsSince(read: Read, from: number): Promise<Map<string, SiteUsual>> {
  const rows = await summed(read).select('site').where('day', '>=', from).groupBy('site').execute()
  return new Map(rows.map(({ site, ...usual }) => [site, usual]))
}

const summed = (read: Read | Tx) =>
  read
    .selectFrom('site_days')
    .select(({ fn }) => [
      fn.sum<number>('tried').as('tried'),
      fn.sum<number>('delivered').as('delivered'),
      fn.sum<number>('deferred').as('deferred'),
      fn.sum<number>('blocked').as('blocked'),
      fn.sum<number>('complained').as('complained'),
      fn.sum<number>('busy_ms').as('busy_ms'),
    ])
