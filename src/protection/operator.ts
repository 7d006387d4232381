import {
  clearPauses,
  type PauseReason,
  pauseMarketing,
  pauseSending,
  pausesOf,
} from '../billing/index.js'
import { OperatorError } from '../errors/index.js'
import type { Tx } from '../store/index.js'
import { writeAudit } from './audit.js'
import type { ProtectionSettings } from './thresholds.js'
import { forgetAll, sumWindow } from './window.js'

/** An operator's order, and the reason. */
interface Order {
  accountId: string
  /** Who gives it. */
  who: string
  note: string | null
  now: number
  settings: ProtectionSettings
}

/** Stops the account, or only its marketing, by an operator's order. */
export async function pauseByOperator(
  tx: Tx,
  order: Order & { reason: PauseReason; marketing: boolean },
): Promise<void> {
  const { accountId, reason, marketing } = order
  const pauses = await pausesOf(tx, accountId)
  const already = marketing ? (pauses.marketingPaused ?? pauses.paused) : pauses.paused
  if (already !== null) {
    throw new OperatorError(`It is paused already, because of ${already}s`)
  }
  await (marketing ? pauseMarketing : pauseSending)(tx, accountId, reason)
  await enter(tx, order, marketing ? 'marketing_paused' : 'paused', reason)
}

/**
 * Lets a paused account send again; there is no other way. Its counts start again at 0, or the next
 * event would pause it again.
 */
export async function unpause(tx: Tx, order: Order): Promise<void> {
  const { paused, marketingPaused } = await pausesOf(tx, order.accountId)
  const reason = paused ?? marketingPaused
  if (reason === null) throw new OperatorError('It is not paused')
  await enter(tx, order, 'cleared', reason)
  await clearPauses(tx, order.accountId)
  await forgetAll(tx, order.accountId)
}

/** Writes the audit log, with the counts before they are deleted. */
async function enter(
  tx: Tx,
  { accountId, who, note, now, settings }: Order,
  action: 'paused' | 'marketing_paused' | 'cleared',
  reason: PauseReason,
): Promise<void> {
  const totals = await sumWindow(tx, accountId, { at: now, windowMs: settings.window })
  await writeAudit(tx, { accountId, at: now, action, reason, who, note: checkedNote(note), totals })
}

/** The note in one line; null for none. */
function checkedNote(note: string | null): string | null {
  const trimmed = note?.trim() ?? ''
  if (trimmed === '') return null
  if (/^\P{Cc}{1,500}$/u.test(trimmed)) return trimmed
  throw new OperatorError('A note may have at most 500 characters and no control characters')
}
