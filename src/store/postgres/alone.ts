import { type Kysely, sql } from 'kysely'
import type { Tables } from '../schema/index.js'

/*
 * Works of one account, such as the batches of its imports, change the same counters and search the same part of an
 * index: beside each other over several nodes, or only beside people who are added one by one, SERIALIZABLE would undo
 * nearly all of them. So they take turns before they begin. Only the lock of a table can be waited for without a
 * snapshot, as every other statement fixes what the transaction sees. The server gives it in the order in which it
 * was asked for, and frees it with the transaction. The tables have no rows; accounts that share one wait for each
 * other.
 */
const tables = 64
const nameOf = (place: number) => `alone_${place}`

/** Called at each start. */
export async function makeTurnTables(db: Kysely<Tables>): Promise<void> {
  const { rows } = await sql`
    select from pg_class where relnamespace = current_schema()::regnamespace
      and relname = ${nameOf(tables - 1)}`.execute(db)
  if (rows.length > 0) return
  for (let place = 0; place < tables; place++) {
    await sql`create table if not exists ${sql.table(nameOf(place))} ()`.execute(db)
  }
}

/** The statement by which a transaction that has only begun waits for its turn with the account. */
export function waitForTurn(accountId: string): string {
  let sum = 0
  for (const letter of accountId) sum = (sum * 31 + letter.charCodeAt(0)) % 65_521
  return `lock table ${nameOf(sum % tables)} in exclusive mode`
}
