import { sql } from 'kysely'
import { type PauseReason, pausesOf } from '../billing/index.js'
import type { Read } from '../store/index.js'
import { type ProviderTotals, readProviders } from './providers.js'
import type { ProtectionSettings } from './thresholds.js'
import { hourOf, sumWindow, type Totals } from './window.js'

/** An account's state, for the operator. */
export interface AccountStanding {
  totals: Totals
  paused: PauseReason | null
  marketingPaused: PauseReason | null
  warnedAt: Record<PauseReason, number | null>
  /** Those with most recipients first. */
  providers: ProviderTotals[]
}

// As many as fit on a screen.
const providersShown = 20

/** The counts of the window up to `now`, the pauses and warnings. */
export async function readStanding(
  read: Read,
  accountId: string,
  { now, settings }: { now: number; settings: ProtectionSettings },
): Promise<AccountStanding> {
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
 * The highest bounce and complaint rates of any account, as of its last event; reads a row an
 * account. Accounts with too few recipients for a rate are left out.
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

/** How many accounts are paused, wholly or only in their marketing. */
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

/**
 * Accounts that are paused or suspended, or were warned since `since`. They are few, and only rows of
 * accounts are read.
 */
export async function troubledAccounts(
  read: Read,
  { since, limit }: { since: number; limit: number },
): Promise<
  {
    id: string
    name: string
    state: 'suspended' | 'paused' | 'paused in its marketing' | 'warned'
  }[]
> {
  const rows = await read
    .selectFrom('accounts')
    .leftJoin('subscriptions', 'subscriptions.account_id', 'accounts.id')
    .leftJoin('protection', 'protection.account_id', 'accounts.id')
    .select(['accounts.id', 'name', 'suspended_reason', 'paused', 'marketing_paused'])
    .where((eb) =>
      eb.or([
        eb('suspended_reason', 'is not', null),
        eb('paused', 'is not', null),
        eb('marketing_paused', 'is not', null),
        eb('bounce_warned_at', '>', since),
        eb('complaint_warned_at', '>', since),
      ]),
    )
    .orderBy('name')
    .limit(limit)
    .execute()
  return rows.map(({ id, name, suspended_reason, paused, marketing_paused }) => {
    if (suspended_reason !== null) return { id, name, state: 'suspended' }
    if (paused !== null) return { id, name, state: 'paused' }
    return { id, name, state: marketing_paused === null ? 'warned' : 'paused in its marketing' }
  })
}
