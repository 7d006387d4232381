import { isMainThread } from 'node:worker_threads'
import Database from 'better-sqlite3'

/*
 * Preloaded into an appliance (`node --import`): kills it right after the first commit that has an idempotency key in
 * it, before anything else can happen. A kill from outside would not be quick enough.
 */
if (isMainThread) {
  const { prototype } = Database
  const prepare = prototype.prepare as (source: string) => Database.Statement
  let keyWritten = false
  const prepared = function (this: Database.Database, source: string) {
    const statement = prepare.call(this, source)
    const run = statement.run.bind(statement)
    statement.run = (...values: unknown[]) => {
      const result = run(...values)
      if (/insert into "idempotency_keys"/.test(source)) keyWritten = true
      if (source === 'commit' && keyWritten) process.kill(process.pid, 'SIGKILL')
      return result
    }
    return statement
  }
  prototype.prepare = prepared as typeof prototype.prepare
}
