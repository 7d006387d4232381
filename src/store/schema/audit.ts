import { integer, type RowOf, table, text } from './table.js'

const auditLog = table(
  'audit_log',
  {
    id: integer().numberedKey(),
    at: integer(),
    /** Null: of the appliance. */
    account_id: text().orNull(),
    user_id: text().orNull(),
    actor: text<'user' | 'cli' | 'api' | 'system'>(),
    /** Who that was then: an address, a user of the system, the name of a key. */
    name: text(),
    /** `keys.create`, `posthorn key create`, `POST /v1/keys`. */
    action: text(),
    target: text().orNull(),
    /** A JSON object. */
    detail: text(),
    address_key: text().orNull(),
  },
  {
    indexes: {
      audit_log_account: ['account_id', 'id'],
      // Who has done something with one thing, without a walk through all that an account did.
      audit_log_target: ['account_id', 'target', 'id'],
    },
  },
)

export interface AuditLogRow extends RowOf<typeof auditLog> {}

export const auditTables = [auditLog] as const
