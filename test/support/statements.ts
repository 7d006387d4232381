import Database from 'better-sqlite3'
import { sql } from 'kysely'
import pg from 'pg'
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

/** How SQLite would run a statement: `SEARCH …` by an index, or `SCAN …` of all rows. */
export async function planOf(read: Read, statement: string): Promise<string[]> {
  // The value of a parameter makes no difference to the plan.
  const text = statement.replace(/\?/g, 'null')
  const { rows } = await sql<{ detail: string }>`explain query plan ${sql.raw(text)}`.execute(read)
  return rows.map(({ detail }) => detail)
}

/** How often this process runs each statement from now on, by its text; also those that begin and end transactions. */
export function countStatements(t: Test): Map<string, number> {
  const counts = new Map<string, number>()
  const { query } = pg.Client.prototype
  pg.Client.prototype.query = function (this: pg.Client, ...asked: [string | { text: string }]) {
    const text = typeof asked[0] === 'string' ? asked[0] : asked[0].text
    counts.set(text, (counts.get(text) ?? 0) + 1)
    return query.apply(this, asked as never)
  } as typeof query
  const raw = new Database(':memory:')
  const prototype = Object.getPrototypeOf(raw.prepare('select 1'))
  raw.close()
  const kept = { run: prototype.run, all: prototype.all, get: prototype.get }
  for (const [name, call] of Object.entries(kept)) {
    prototype[name] = function (this: Database.Statement, ...values: unknown[]) {
      counts.set(this.source, (counts.get(this.source) ?? 0) + 1)
      return call.apply(this, values)
    }
  }
  t.teardown(() => {
    pg.Client.prototype.query = query
    Object.assign(prototype, kept)
  })
  return counts
}
