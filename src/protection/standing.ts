import { sql } from 'kysely'
import { type PauseReason, pausesOf } from '../billing/index.js'
import type { Read } from '../store/index.js'
import { type ProviderTotals, readProviders } from './providers.js'
import type { ProtectionSettings } from './thresholds.js'
import { hourOf, sumWindow, type Totals } from './window.js'

/** How an account stands, for its operator. */
export interface Standing {
  totals: Totals
  paused: PauseReason | null
  marketingPaused: PauseReason | null
  warnedAt: Record<PauseReason, number | null>
  /** Those with most recipients first. */
  providers: ProviderTotals[]
}

const providersShown = 20

export async function readStanding(
  read: Read,
  accountId: string,
  { now, settings }: { now: number; settings: ProtectionSettings },
): Promise<Standing> {
  const warned = await read
    .selectFrom('protection')
    .select(['bounce_warned_at as bounce', 'complaint_warned_at as complaint'])
    .where('account_id', '=', accountId)
    .executeTakeFirst()
  const from = now - settings.window
  return {
    ...(await pausesOf(read, accountId)),
    totals: await sumWindow(read, accountId, { at: now, windowMs: settings.window }),
    warnedAt: warned ?? { bounce: null, complaint: null },
    providers: await readProviders(read, accountId, { from, limit: providersShown }),
  }
}

/**
 * The highest bounce and complaint rates of any account, as of its last event; a row an account is
 * looked at. Those with too few recipients for a rate are left out.
 */
export async function highestRates(
  read: Read,
  { now, settings }: { now: number; settings: ProtectionSettings },
): Promise<{ bounce: number; complaint: number }> {
  const rate = (counter: 'bounces' | 'complaints') =>
    sql<number>`coalesce(max(1.0 * ${sql.ref(counter)} / recipients), 0)`
  return await read
    .selectFrom('protection')
    .select([rate('bounces').as('bounce'), rate('complaints').as('complaint')])
    .where('recipients', '>=', settings.minRecipients)
    .where('hour', '>', hourOf(now - settings.window))
    .executeTakeFirstOrThrow()
}

/** How many accounts are paused, wholly or in their marketing alone. */
export async function countPaused(read: Read): Promise<{ all: number; marketing: number }> {
  const { all, marketing } = await read
    .selectFrom('subscriptions')
    .select(({ fn }) => [
      fn.countAll<number>().filterWhere('paused', 'is not', null).as('all'),
      fn
        .countAll<number>()
        .filterWhere('paused', 'is', null)
        .filterWhere('marketing_paused', 'is not', null)
        .as('marketing'),
    ])
    .executeTakeFirstOrThrow()
  return { all, marketing }
}
