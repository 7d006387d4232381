import { sql } from 'kysely'
import { markAddresses } from '../changes/index.js'
import type { Clock } from '../clock/index.js'
import { type ConsentKind, recordConsent } from '../consent/index.js'
import { messageOf } from '../errors/index.js'
import type { Log } from '../log/index.js'
import { addressKey } from '../mime/index.js'
import { type LeaveReason, leaveRuns } from '../runs/index.js'
import { type Store, type SuppressionRow, type Tx, writeApart } from '../store/index.js'
import { forgetErased } from './erased-hash.js'

/** Why an address must not be mailed. */
export type SuppressionReason = SuppressionRow['reason']
/** What is blocked: all mail, or only marketing. */
export type SuppressionScope = SuppressionRow['scope']

/** All reasons, in the order in which they are listed. */
export const suppressionReasons = ['unsubscribe', 'bounce', 'complaint', 'manual'] as const

/** In order of how much they say about the address: of several reasons the first is shown. */
export const strength: readonly SuppressionReason[] = [
  'complaint',
  'bounce',
  'manual',
  'unsubscribe',
]

/** A record: one reason why an address must not be mailed. An address may have several. */
export interface Suppression {
  /** The whole address in lower case. */
  email: string
  reason: SuppressionReason
  scope: SuppressionScope
  /** The mail that led to it. */
  emailId: string | null
  detail: string | null
  createdAt: number
  /** When it ends by itself. */
  expiresAt: number | null
}

/** A record that is to be made. */
export interface NewSuppression {
  email: string
  reason: SuppressionReason
  /** Default: what the reason calls for. */
  scope?: SuppressionScope | undefined
  emailId?: string | null
  detail?: string | null
  /** Who says so, for the consent record: `recipient`, `api`, `dashboard`, `command`. */
  by?: string | undefined
  /** Default: never. */
  expiresAt?: number | null
}

// A new record changes anything only where it blocks more than the existing one, or for longer.
const widens = sql`(excluded.scope = 'all' and suppressions.scope <> 'all')`
const lasts = sql`(suppressions.expires_at is not null
  and (excluded.expires_at is null or excluded.expires_at > suppressions.expires_at))`

/**
 * Records that an address must not be mailed; resolves with whether anything is new. The same reason again keeps the
 * first record; only its scope and its end can get stronger. A new record ends the automation runs of the address's
 * contact.
 */
export async function suppress(
  tx: Tx,
  accountId: string,
  given: NewSuppression,
  now: number,
): Promise<boolean> {
  const changed = await tx
    .insertInto('suppressions')
    .values({
      account_id: accountId,
      address: addressKey(given.email),
      reason: given.reason,
      scope: given.scope ?? usualScope(given.reason),
      email_id: given.emailId ?? null,
      detail: given.detail ?? null,
      created_at: now,
      expires_at: given.expiresAt ?? null,
    })
    .onConflict((conflict) =>
      conflict
        .columns(['account_id', 'address', 'reason'])
        .doUpdateSet({
          scope: sql`case when ${widens} then 'all' else suppressions.scope end`,
          expires_at: sql`case when ${lasts} then excluded.expires_at else suppressions.expires_at end`,
        })
        .where(sql<boolean>`${widens} or ${lasts}`),
    )
    .returning('address')
    .execute()
  if (changed.length === 0) return false
  await markAddresses(tx, accountId, [given.email])
  await leaveRuns(tx, accountId, { address: given.email, reason: leaving[given.reason], at: now })
  await recordConsent(tx, accountId, given.email, {
    at: now,
    kind: kinds[given.reason],
    detail: {
      ...(given.by && { by: given.by }),
      ...(given.emailId ? { emailId: given.emailId } : {}),
      ...(given.detail ? { note: given.detail } : {}),
    },
  })
  return true
}

/** The reason that is given to the automation runs that the address leaves. */
const leaving: Record<SuppressionReason, LeaveReason> = {
  unsubscribe: 'unsubscribed',
  bounce: 'bounced',
  complaint: 'complained',
  manual: 'suppressed',
}

/** What the history of the address says. */
const kinds: Record<SuppressionReason, ConsentKind> = {
  unsubscribe: 'unsubscribed',
  bounce: 'bounced',
  complaint: 'complained',
  manual: 'suppressed',
}

/** On whose word records are lifted, and which ones. */
export interface Lifting {
  /** On whose word; `time` when the record was to last for a while. */
  by: 'recipient' | 'operator' | 'api' | 'dashboard' | 'time'
  at: number
  /** Default: all of them. */
  reasons?: readonly SuppressionReason[]
  /** The mail whose link the recipient has followed. */
  emailId?: string | undefined
  /** Who asked for it. */
  note?: string | undefined
}

/**
 * Lifts the records with these reasons; resolves with how many there were. Only on somebody's word: the recipient's
 * own, the account's or an operator's.
 */
export async function lift(
  tx: Tx,
  accountId: string,
  email: string,
  { by, at, reasons = suppressionReasons, emailId, note }: Lifting,
): Promise<number> {
  const lifted = await tx
    .deleteFrom('suppressions')
    .where('account_id', '=', accountId)
    .where('address', '=', addressKey(email))
    .where('reason', 'in', reasons)
    // The record may have been prolonged since it was found to be over.
    .$if(by === 'time', (query) => query.where('expires_at', '<=', at))
    .returning('reason')
    .execute()
  if (by !== 'time' && reasons.includes('manual')) await forgetErased(tx, accountId, email)
  if (lifted.length > 0) {
    await markAddresses(tx, accountId, [email])
    const detail = {
      by,
      reasons: lifted.map(({ reason }) => reason),
      ...(note && { note }),
      ...(emailId === undefined ? {} : { emailId }),
    }
    await recordConsent(tx, accountId, email, { at, kind: 'lifted', detail })
  }
  return lifted.length
}

/** decisions.md, 'Sending': a bounce or complaint blocks everything, an unsubscribe marketing only. */
const usualScope = (reason: SuppressionReason): SuppressionScope =>
  reason === 'unsubscribe' ? 'marketing' : 'all'

// Records in a transaction: some 3 ms (2026-11), in which mail that is being accepted waits.
const perWrite = 50

/**
 * Deletes the records that were to last for a while: in slices, between which waiting clients have their turn and
 * `signal` is checked. A record that cannot be deleted stays, without keeping others there.
 */
export async function liftExpired(
  { store, clock, log }: { store: Store; clock: Clock; log: Log },
  signal: AbortSignal,
): Promise<void> {
  const at = clock.now()
  let kept = 0
  while (!signal.aborted) {
    const over = await store.read
      .selectFrom('suppressions')
      .select(['account_id', 'address', 'reason'])
      .where('expires_at', '<=', at)
      .orderBy('expires_at')
      .offset(kept)
      .limit(perWrite)
      .execute()
    const { faults, left, cause } = await writeApart(store.write, over, async (tx, some) => {
      for (const { account_id, address, reason } of some) {
        await lift(tx, account_id, address, { by: 'time', at, reasons: [reason] })
      }
    })
    if (left.length > 0) throw cause
    for (const { item, error } of faults) {
      const fields = { accountId: item.account_id, reason: item.reason, cause: messageOf(error) }
      log.error(fields, 'A suppression that is over could not be lifted')
    }
    kept += faults.length
    if (over.length < perWrite) return
  }
}
