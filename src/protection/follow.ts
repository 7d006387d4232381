import { type PauseReason, pauseMarketing, pauseSending } from '../billing/index.js'
import type { Effect } from '../events/index.js'
import { type ProtectionRow, prepared, type SubscriptionRow, type Tx } from '../store/index.js'
import { type AuditAction, byItself, writeAudit } from './audit.js'
import { countedOf, totalsOf } from './counted.js'
import { noteHostComplaints } from './host-complaints.js'
import { countByProvider } from './providers.js'
import { type Alarm, alarmOf, type ProtectionSettings } from './thresholds.js'
import {
  addTo,
  addToHour,
  type Counted,
  counters,
  forgetOld,
  hourOf,
  noTotals,
  sumWindow,
  type Totals,
  takeFromHour,
} from './window.js'

// Bounces first: they come first, too.
const reasons = ['bounce', 'complaint'] as const

/** The effect of events: updates their account's rates, and acts on them. */
export function makeProtection(settings: ProtectionSettings): Effect {
  return async (tx, events) => {
    const byAccount = new Map<string, [Counted, ...Counted[]]>()
    for (const counted of await countedOf(tx, events, settings)) {
      const others = byAccount.get(counted.accountId)
      if (others === undefined) byAccount.set(counted.accountId, [counted])
      else others.push(counted)
    }
    for (const [accountId, counted] of byAccount) await follow(tx, settings, accountId, counted)
  }
}

/** An account's state, updated event by event. */
interface Watched {
  totals: Totals
  warnedAt: Record<PauseReason, number | null>
  paused: PauseReason | null
  marketingPaused: PauseReason | null
}

/** Counts an account's events, acts after each, and writes the sums once. */
async function follow(
  tx: Tx,
  settings: ProtectionSettings,
  accountId: string,
  counted: readonly [Counted, ...Counted[]],
): Promise<void> {
  const { at } = counted[0]
  const hour = hourOf(at)
  const watched = await watch(tx, settings, accountId, at)
  const added = noTotals()
  for (const one of counted) {
    const isMoved = await bringRecipient(tx, accountId, one)
    addTo(added, totalsOf(one))
    addTo(watched.totals, totalsOf(isMoved ? { ...one, recipients: 0 } : one))
    // After each event and not only after the last, as a rate may exceed its threshold for a single
    // event.
    for (const reason of reasons) await raise(tx, settings, watched, { accountId, reason, at })
  }
  await addToHour(tx, { account_id: accountId, hour, ...added })
  const { bounce, complaint } = watched.warnedAt
  const warned = { bounce_warned_at: bounce, complaint_warned_at: complaint }
  await writeStanding(tx, { account_id: accountId, hour, ...warned, ...watched.totals })
  await countByProvider(tx, accountId, counted)
  await noteHostComplaints(
    tx,
    counted.flatMap(({ complainedOf }) => complainedOf ?? []),
  )
}

/**
 * A report brings its recipient into its own hour, so that the recipient stays counted as long as the report. Returns
 * whether the recipient was taken from an hour of the window, whose sum stays the same.
 */
async function bringRecipient(tx: Tx, accountId: string, one: Counted): Promise<boolean> {
  const { countedAt, marketing } = one
  if (countedAt === undefined) return false
  one.recipients = 1
  return countedAt !== null && (await takeFromHour(tx, accountId, { countedAt, marketing }))
}

/** The account's state before these events. */
async function watch(
  tx: Tx,
  settings: ProtectionSettings,
  accountId: string,
  at: number,
): Promise<Watched> {
  const [row] = await standingOf(tx, { accountId })
  const watched: Watched = {
    totals: noTotals(),
    warnedAt: {
      bounce: row?.bounce_warned_at ?? null,
      complaint: row?.complaint_warned_at ?? null,
    },
    paused: row?.paused ?? null,
    marketingPaused: row?.marketing_paused ?? null,
  }
  // Within the same hour the kept sums are right; a new hour has moved the window.
  if (row?.hour === hourOf(at)) addTo(watched.totals, row)
  else {
    const window = { at, windowMs: settings.window }
    await forgetOld(tx, accountId, window)
    watched.totals = await sumWindow(tx, accountId, window)
  }
  return watched
}

/** Acts on the rate, once: a pause lasts until it is cleared, a warning for a window. */
async function raise(
  tx: Tx,
  settings: ProtectionSettings,
  watched: Watched,
  { accountId, reason, at }: { accountId: string; reason: PauseReason; at: number },
): Promise<void> {
  if (watched.paused !== null) return
  const alarm = alarmOf(watched.totals, reason, settings)
  const action = alarm && actionOn(alarm, watched, watched.warnedAt[reason], at - settings.window)
  if (action === undefined) return
  if (action === 'paused') {
    watched.paused = reason
    await pauseSending(tx, accountId, reason)
  } else {
    watched.warnedAt[reason] = at
    if (action === 'marketing_paused') {
      watched.marketingPaused = reason
      await pauseMarketing(tx, accountId, reason)
    }
  }
  const { totals } = watched
  await writeAudit(tx, { accountId, at, action, reason, totals, who: byItself, note: null })
}

/** What to do; undefined if it was already done. */
function actionOn(
  alarm: Alarm,
  watched: Watched,
  warnedAt: number | null,
  windowStart: number,
): AuditAction | undefined {
  if (alarm === 'pause') return 'paused'
  if (alarm === 'pause marketing' && watched.marketingPaused === null) return 'marketing_paused'
  return warnedAt === null || warnedAt <= windowStart ? 'warned' : undefined
}

/** Counts and pauses together: one query an account. */
type StandingRow = ProtectionRow & Pick<SubscriptionRow, 'paused' | 'marketing_paused'>

/**
 * Joined from the account, which may have a subscription and no counts, or counts and no
 * subscription.
 */
const standingOf = prepared<{ accountId: string }, Partial<StandingRow>>((db, { accountId }) =>
  db
    .selectFrom('accounts')
    .leftJoin('protection', 'protection.account_id', 'accounts.id')
    .leftJoin('subscriptions', 'subscriptions.account_id', 'accounts.id')
    .select(['hour', 'bounce_warned_at', 'complaint_warned_at', 'paused', 'marketing_paused'])
    .select(counters)
    .where('accounts.id', '=', accountId)
    .$castTo<Partial<StandingRow>>(),
)

/** The kept sums of the window that ends with this hour. */
const writeStanding = prepared<ProtectionRow, unknown>((db, values) => {
  const columns = ['hour', 'bounce_warned_at', 'complaint_warned_at', ...counters] as const
  const row = Object.fromEntries(columns.map((column) => [column, values[column]]))
  return db
    .insertInto('protection')
    .values({ ...(row as unknown as ProtectionRow), account_id: values.account_id })
    .onConflict((conflict) => conflict.column('account_id').doUpdateSet(row))
})
