import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { Store } from '../../src/store/index.js'
import { isPostgres } from './postgres.js'

/**
 * Makes the database refuse a change because of its row, as with a broken row or a bug: `change` is such as `insert
 * on events`, `row` a condition on `new` or `old`. Resolves with the function that ends this.
 */
export async function poison(
  store: Store,
  change: string,
  row: string,
  how: 'abort' | 'rollback' = 'abort',
): Promise<() => Promise<void>> {
  const said = `poison_${change} ${row}`.replace(/\W+/g, '_')
  // PostgreSQL cuts longer names off.
  const name = said.length < 60 ? said : `poison_${createHash('md5').update(said).digest('hex')}`
  const [make, drop] = isPostgres
    ? postgresTrigger(name, change, row)
    : [
        [
          `create trigger ${name} before ${change} when ${row} begin select raise(${how}, 'it is poisoned'); end`,
        ],
        [`drop trigger ${name}`],
      ]
  const run = (statements: readonly string[]) =>
    store.write(async (tx) => {
      for (const statement of statements) await sql.raw(statement).execute(tx)
    })
  await run(make)
  return () => run(drop)
}

/**
 * In PostgreSQL any error undoes the transaction. As in SQLite's words, a change of one column counts as one of any.
 */
function postgresTrigger(
  name: string,
  change: string,
  row: string,
): [make: readonly string[], drop: readonly string[]] {
  const body = `begin raise exception 'it is poisoned'; end`
  return [
    [
      `create function ${name}() returns trigger language plpgsql as $$ ${body} $$`,
      `create trigger ${name} before ${change} for each row when (${row}) execute function ${name}()`,
    ],
    [`drop function ${name} cascade`],
  ]
}
