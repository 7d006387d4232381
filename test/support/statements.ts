import Database from 'better-sqlite3'
import { sql } from 'kysely'
import type { Test } from 'tap'
import type { Read } from '../../src/store/index.js'

/** The text of each statement that this process prepares from now on, once each. */
export function collectStatements(t: Test): Set<string> {
  const found = new Set<string>()
  const { prototype } = Database
  const { prepare } = prototype
  prototype.prepare = function (this: Database.Database, source: string) {
    found.add(source)
    return prepare.call(this, source)
  } as typeof prepare
  t.teardown(() => {
    prototype.prepare = prepare
  })
  return found
}

/** How SQLite would go about a statement: `SEARCH …` by an index, or `SCAN …` of all rows. */
export async function planOf(read: Read, statement: string): Promise<string[]> {
  // What stands for a parameter makes no difference to the plan.
  const text = statement.replace(/\?/g, 'null')
  const { rows } = await sql<{ detail: string }>`explain query plan ${sql.raw(text)}`.execute(read)
  return rows.map(({ detail }) => detail)
}

/** Counts what this process runs from now on, until `end`: statements, and the ends of transactions. */
export function countRuns(t: Test): { end(): number } {
  const raw = new Database(':memory:')
  const statement = Object.getPrototypeOf(raw.prepare('select 1'))
  raw.close()
  const kept = { run: statement.run, all: statement.all, get: statement.get }
  let runs = 0
  for (const [name, call] of Object.entries(kept)) {
    statement[name] = function (this: unknown, ...values: unknown[]) {
      runs++
      return call.apply(this, values)
    }
  }
  const end = () => {
    Object.assign(statement, kept)
    return runs
  }
  t.teardown(end)
  return { end }
}
