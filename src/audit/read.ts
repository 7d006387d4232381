import type { AuditLogRow, Read } from '../store/index.js'

/** A row as pages and commands show it. */
export interface LoggedChange {
  id: number
  at: number
  accountId: string | null
  /** The account's name; null: the change is of the appliance, or the account is gone. */
  account: string | null
  kind: AuditLogRow['actor']
  /** Who it was. */
  name: string
  action: string
  target: string | null
  detail: Record<string, unknown>
  clientAddressKey: string | null
}

export interface ChangeFilter {
  kind?: AuditLogRow['actor'] | undefined
  /** The exact name, as the log has it. */
  name?: string | undefined
  /** How the action begins. */
  action?: string | undefined
}

// A filter that matches hardly anything looks at this many rows; the next page goes on from there.
const mostLookedAt = 5_000

/**
 * The changes of an account, or all of them (undefined), the newest first; `before` is an id. `next` is where older
 * ones go on. A page may have fewer than `limit` and still a next one.
 */
export async function readChanges(
  read: Read,
  accountId: string | undefined,
  { filter, before, limit }: { filter: ChangeFilter; before: number | undefined; limit: number },
): Promise<{ changes: LoggedChange[]; next: number | undefined }> {
  const newest = () =>
    read
      .selectFrom('audit_log')
      .select('id')
      .$if(accountId !== undefined, (query) => query.where('account_id', '=', accountId ?? ''))
      .$if(before !== undefined, (query) => query.where('id', '<', before ?? 0))
      .orderBy('id', 'desc')
  const [last] = await newest()
    .offset(mostLookedAt - 1)
    .limit(1)
    .execute()
  const { kind, name, action } = filter
  const rows = await read
    .selectFrom('audit_log')
    .leftJoin('accounts', 'accounts.id', 'audit_log.account_id')
    .selectAll('audit_log')
    .select('accounts.name as account')
    .$if(accountId !== undefined, (query) => query.where('account_id', '=', accountId ?? ''))
    .$if(before !== undefined, (query) => query.where('audit_log.id', '<', before ?? 0))
    .$if(last !== undefined, (query) => query.where('audit_log.id', '>=', last?.id ?? 0))
    .$if(kind !== undefined, (query) => query.where('actor', '=', kind ?? 'user'))
    .$if(name !== undefined, (query) => query.where('audit_log.name', '=', name ?? ''))
    .$if(action !== undefined, (query) =>
      query.where('action', '>=', action ?? '').where('action', '<', `${action ?? ''}\u{10ffff}`),
    )
    .orderBy('audit_log.id', 'desc')
    .limit(limit + 1)
    .execute()
  const shown = rows.slice(0, limit)
  const next = rows.length > limit ? shown.at(-1)?.id : last?.id
  return { changes: shown.map(toChange), next }
}

/** Who made the last change of something since `since`. */
export async function lastChangeOf(
  read: Read,
  accountId: string,
  target: string,
  since: number,
): Promise<{ name: string; at: number } | undefined> {
  return await newestOf(read, accountId, target)
    .select(['audit_log.name', 'at'])
    .where('at', '>=', since)
    .executeTakeFirst()
}

/** Something that was done with one thing. */
export interface LoggedDeed {
  at: number
  userId: string | null
  /** A person by name or address, a key by its name, or the operator. */
  who: string
  detail: Record<string, unknown>
}

/** The last time that something was done with one thing; undefined where the log does not have it (any more). */
export async function lastDeed(
  read: Read,
  accountId: string,
  { action, target }: { action: string; target: string },
): Promise<LoggedDeed | undefined> {
  const row = await lastDeedQuery(read, accountId, { action, target }).executeTakeFirst()
  return (
    row && {
      at: row.at,
      userId: row.user_id,
      who: whoWords(row),
      detail: JSON.parse(row.detail) as Record<string, unknown>,
    }
  )
}

function whoWords({
  actor,
  name,
  person,
}: Pick<AuditLogRow, 'actor' | 'name'> & { person: string | null }) {
  if (actor === 'api') return `the key “${name}”`
  return actor === 'cli' ? 'an operator' : person || name
}

/** The statement of `lastDeed`, apart so that a test can look at its query plan. */
export const lastDeedQuery = (
  read: Read,
  accountId: string,
  { action, target }: { action: string; target: string },
) =>
  newestOf(read, accountId, target)
    .leftJoin('users', 'users.id', 'audit_log.user_id')
    .select(['at', 'actor', 'user_id', 'detail', 'audit_log.name', 'users.name as person'])
    .where('action', '=', action)

const newestOf = (read: Read, accountId: string, target: string) =>
  read
    .selectFrom('audit_log')
    .where('account_id', '=', accountId)
    .where('target', '=', target)
    .orderBy('audit_log.id', 'desc')
    .limit(1)

const toChange = (row: AuditLogRowRead & { account: string | null }): LoggedChange => ({
  id: row.id,
  at: row.at,
  accountId: row.account_id,
  account: row.account,
  kind: row.actor,
  name: row.name,
  action: row.action,
  target: row.target,
  detail: JSON.parse(row.detail) as Record<string, unknown>,
  clientAddressKey: row.address_key,
})

type AuditLogRowRead = Omit<AuditLogRow, 'id'> & { id: number }
