import { sql } from 'kysely'
import type { PauseReason } from '../billing/index.js'
import type { ProtectionAuditRow, Read, Tx } from '../store/index.js'
import type { Totals } from './window.js'

/** The name in the log when the appliance itself paused an account. */
export const byItself = 'protection'

/** What was done. */
export type AuditAction = ProtectionAuditRow['action']

/** Who did what to which account, when and why; entries never change. */
export interface AuditEntry {
  id: number
  accountId: string
  /** The account's name. */
  account: string
  at: number
  action: AuditAction
  reason: PauseReason
  /** `protection`, or the operator who gave the command. */
  who: string
  note: string | null
  /** The totals at that time. */
  totals: Totals
}

/** What was done, in words: entries outlive the code that wrote them, and each has its word. */
export const actionWords = (action: AuditAction): string => action.replaceAll('_', ' ')

/** Adds an entry, in the transaction of what it tells of. */
export async function writeAudit(tx: Tx, entry: Omit<AuditEntry, 'id' | 'account'>): Promise<void> {
  const { accountId, totals, at, action, reason, who, note } = entry
  await tx
    .insertInto('protection_audit')
    .values({
      at,
      action,
      reason,
      who,
      note,
      account_id: accountId,
      announced: 0,
      totals: JSON.stringify(totals),
    })
    .execute()
}

/** The latest entries, the newest first. */
export async function readAudit(
  read: Read,
  { accountId, limit }: { accountId: string | undefined; limit: number },
): Promise<AuditEntry[]> {
  const rows = await entries(read)
    .$if(accountId !== undefined, (query) => query.where('account_id', '=', accountId ?? ''))
    .orderBy('protection_audit.id', 'desc')
    .limit(limit)
    .execute()
  return rows.map(toEntry)
}

/**
 * Entries that the operator was not told of yet, the oldest first; as rows, since one may be
 * broken.
 */
export async function unannounced(read: Read, limit: number): Promise<AuditRow[]> {
  return await entries(read)
    // A literal, or SQLite would not see that the partial index has all of them.
    .where('announced', '=', sql.lit(0))
    .orderBy('protection_audit.id')
    .limit(limit)
    .execute()
}

/** Notes that the operator was told of it. */
export async function setAnnounced(tx: Tx, id: number): Promise<void> {
  await tx.updateTable('protection_audit').set({ announced: 1 }).where('id', '=', id).execute()
}

/** Entries with the account's name; a deleted account has none. */
const entries = (read: Read) =>
  read
    .selectFrom('protection_audit')
    .leftJoin('accounts', 'accounts.id', 'protection_audit.account_id')
    .selectAll('protection_audit')
    .select('accounts.name as account')

/** An entry as it is stored. */
export type AuditRow = Omit<ProtectionAuditRow, 'id'> & { id: number; account: string | null }

/** Throws for a row whose totals are broken. */
export const toEntry = (row: AuditRow): AuditEntry => ({
  id: row.id,
  accountId: row.account_id,
  account: row.account ?? row.account_id,
  at: row.at,
  action: row.action,
  reason: row.reason,
  who: row.who,
  note: row.note,
  totals: JSON.parse(row.totals) as Totals,
})
