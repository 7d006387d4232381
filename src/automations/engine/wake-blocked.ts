import type { UpdateResult } from 'kysely'
import { type AccountBilling, changedAccounts, noteWoken, revisionOf } from '../../billing/index.js'
import { type Clock, pause } from '../../clock/index.js'
import { cell, prepared, rowsOf, type Store, type Tx } from '../../store/index.js'
import type { BlockedReason } from '../definition/index.js'
import { blockedReason } from '../runs/index.js'
import type { RunPlan } from './plan.js'

/** Reasons to wait that a change of the account may end; the other reasons have their own times. */
const accountReasons: ReadonlySet<BlockedReason> = new Set<BlockedReason>([
  ...(['suspended', 'quota', 'paused', 'domain', 'plan'] as const),
])

/** Whether a change of the account may end the block. */
const isOfAccount = (reason: BlockedReason): boolean => accountReasons.has(reason)

// Runs in a transaction, and the rest after it in which others write.
const perWrite = 200
const restMs = 20

/**
 * Makes blocked runs due for which their account may now have what they lacked: it was unpaused or unsuspended, has
 * another plan or state, or a domain was verified. Accounts take turns, some runs each, so that a million runs of one
 * do not keep another's waiting. After a stop it begins anew. `automate` starts the engine.
 */
export async function wakeBlocked(
  { store, clock, automate }: { store: Store; clock: Clock; automate: () => void },
  signal: AbortSignal,
): Promise<void> {
  /** How far each account is, and in which revision. */
  const places = new Map<string, { revision: number; after: string }>()
  while (!signal.aborted) {
    const accounts = await changedAccounts(store.read, {})
    if (accounts.length === 0) return
    for (const { accountId, revision } of accounts) {
      if (signal.aborted) return
      const place = places.get(accountId)
      // An account that has changed again begins anew: runs looked at since may be blocked by its earlier state.
      const after = place?.revision === revision ? place.after : ''
      const rows = await blockedAfter(store.read, { accountId, after, limit: perWrite })
      const last = rows.at(-1)
      if (last === undefined) {
        await store.write((tx) => noteWoken(tx, { accountId, revision }))
        continue
      }
      const ids = rows.filter(({ mark }) => isOfAccountMark(mark)).map(({ id }) => [id])
      if (ids.length > 0) {
        const json = JSON.stringify(ids)
        await store.write((tx) => makeDue(tx, { json, now: clock.now() }))
        automate()
      }
      places.set(accountId, { revision, after: last.id })
    }
    await pause(clock, restMs, signal)
  }
}

/**
 * Blocks that end for all runs of an account at once, such as a pause, as opposed to those of one
 * step.
 */
function isOfAccountMark(mark: string | null): boolean {
  const reason = blockedReason(mark)
  return reason !== undefined && isOfAccount(reason)
}

/** In slices: a paused account may have a million runs. */
const blockedAfter = prepared<
  { accountId: string; after: string; limit: number },
  { id: string; mark: string | null }
>((db, { accountId, after, limit }) =>
  db
    .selectFrom('automation_live')
    .select(['id', 'blocked as mark'])
    .where('account_id', '=', accountId)
    .where('blocked', 'is not', null)
    .where('held_at', 'is', null)
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit),
)

/** Makes blocked runs due now. */
const makeDue = prepared<{ json: string; now: number }, UpdateResult>((db, { json, now }) =>
  db
    .updateTable('automation_live')
    .from(rowsOf(json))
    .set((eb) => ({ due_at: now, seq: eb('seq', '+', 1) }))
    .where('automation_live.id', '=', cell(0, 'text'))
    .where('blocked', 'is not', null)
    .where('held_at', 'is', null)
    // Runs that are due sooner keep their order.
    .where('due_at', '>', now),
)

/**
 * Leaves out runs that were to be blocked for a state of their account that has changed since: `wakeBlocked` may have
 * passed them already. They are planned anew.
 */
export async function stillBlocked(
  tx: Tx,
  { accountId, revision }: AccountBilling,
  plans: readonly RunPlan[],
): Promise<RunPlan[]> {
  const blocked = new Set(plans.filter(isBlockedByAccount))
  if (blocked.size === 0 || (await revisionOf(tx, accountId)) === revision) return [...plans]
  return plans.filter((plan) => !blocked.has(plan))
}

/** Whether a plan would block its run for a state of the account. */
function isBlockedByAccount(plan: RunPlan): boolean {
  if (plan.kind === 'wait') return isOfAccount(plan.reason)
  if (plan.kind !== 'go') return false
  const { next } = plan.walked
  return next.kind === 'blocked' && isOfAccount(next.reason)
}

/** At the start: another `plans.toml` may let blocked runs of any account go on. */
export const noteAllBlocked = async (tx: Tx) => {
  await tx
    .updateTable('subscriptions')
    .set((eb) => ({ revision: eb('revision', '+', 1) }))
    .where((eb) =>
      eb.exists(
        eb
          .selectFrom('automation_live')
          .select('id')
          .whereRef('automation_live.account_id', '=', 'subscriptions.account_id')
          .where('blocked', 'is not', null),
      ),
    )
    .execute()
}
