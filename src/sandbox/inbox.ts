import { type Expression, type SqlBool, sql } from 'kysely'
import type { Store } from '../store/index.js'

/**
 * An inbox: that of an account's test keys, or without `accountId` that of the sandbox, which belongs to no account.
 * Nothing of another inbox is found.
 */
export type Inbox = Pick<Store, 'read'> & { accountId?: string }

/** The condition that only messages of this inbox fulfil. */
export const isIn = ({ accountId }: Pick<Inbox, 'accountId'>): Expression<SqlBool> =>
  accountId === undefined
    ? sql<SqlBool>`sandbox_messages.account_id is null`
    : sql<SqlBool>`sandbox_messages.account_id = ${accountId}`
