import { type Expression, type SqlBool, sql } from 'kysely'
import type { Store } from '../store/index.js'

/**
 * An inbox: an account's, of its test keys, or without `accountId` that of the sandbox, which is nobody's. Of another
 * one nothing is found.
 */
export type Inbox = Pick<Store, 'read'> & { accountId?: string }

/** What is true of the messages of an inbox alone. */
export const isIn = ({ accountId }: Pick<Inbox, 'accountId'>): Expression<SqlBool> =>
  accountId === undefined
    ? sql<SqlBool>`sandbox_messages.account_id is null`
    : sql<SqlBool>`sandbox_messages.account_id = ${accountId}`
