import { integer, type RowOf, table, text } from './table.js'

const auditLog = table(
  'audit_log',
  {
    id: integer().numberedKey(),
    at: integer(),
    /** Null: the entry is about the appliance. */
    account_id: text().orNull(),
    user_id: text().orNull(),
    actor: text<'user' | 'cli' | 'api' | 'system'>(),
    /** The actor's name at that time: an address, a system user, or the name of a key. */
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
      // Finds who has changed one thing, without reading everything that an account did.
      audit_log_target: ['account_id', 'target', 'id'],
    },
  },
)

export interface AuditLogRow extends RowOf<typeof auditLog> {}

export const auditTables = [auditLog] as const
