import { sql } from 'kysely'
import type { Store } from '../../src/store/index.js'

/**
 * Has the database refuse a change for a reason of its row, as a broken row or a bug does: `change` such as
 * `insert on events`, `row` a condition on `new` or `old`. Resolves with what takes it away again.
 */
export async function poison(
  store: Store,
  change: string,
  row: string,
  how: 'abort' | 'rollback' = 'abort',
): Promise<() => Promise<void>> {
  const name = `poison_${change} ${row}`.replace(/\W+/g, '_')
  const body = `begin select raise(${how}, 'it is poisoned'); end`
  const statement = `create trigger ${name} before ${change} when ${row} ${body}`
  await store.write((tx) => sql.raw(statement).execute(tx))
  return async () => {
    await store.write((tx) => sql.raw(`drop trigger ${name}`).execute(tx))
  }
}
