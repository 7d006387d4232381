import { writeSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'
import Database from 'better-sqlite3'

/*
 * Preloaded into an appliance (`node --import`): kills it in a transaction that counts figures, at the moment that
 * POSTHORN_TEST_DIE_AT names: `figures` (with its first row written), `commit` (before it) or `committed` (right
 * after it). Its last line says so. A kill from outside would not be quick enough.
 */
const point = process.env.POSTHORN_TEST_DIE_AT
if (!isMainThread) {
  const { prototype } = Database
  const prepare = prototype.prepare as (source: string) => Database.Statement
  let rolling = false
  const moment = (name: string) => {
    if (name !== point) return
    writeSync(2, `died at: ${name}\n`)
    process.kill(process.pid, 'SIGKILL')
  }
  const prepared = function (this: Database.Database, source: string) {
    const statement = prepare.call(this, source)
    for (const way of ['run', 'all'] as const) {
      const original = statement[way].bind(statement)
      statement[way] = (...values: unknown[]) => {
        if (source === 'begin immediate') rolling = false
        if (source === 'commit' && rolling) moment('commit')
        const result = original(...values)
        if (source.startsWith('insert into "figures"')) {
          rolling = true
          moment('figures')
        }
        if (source === 'commit' && rolling) moment('committed')
        return result as never
      }
    }
    return statement
  }
  prototype.prepare = prepared as typeof prototype.prepare
}
