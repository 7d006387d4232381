import { type Compilable, CompiledQuery } from 'kysely'
import type { Read } from '../../src/store/index.js'

/** How SQLite would find the rows of a query, a line for each table. */
export async function queryPlan(read: Read, query: Compilable): Promise<string[]> {
  const { sql, parameters } = query.compile()
  const plan = CompiledQuery.raw(`explain query plan ${sql}`, [...parameters])
  const { rows } = await read.executeQuery<{ detail: string }>(plan)
  return rows.map(({ detail }) => detail)
}
