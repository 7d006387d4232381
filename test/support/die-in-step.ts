import { writeSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'
import Database from 'better-sqlite3'

/*
 * Preloaded into an appliance (`node --import`): kills it at a moment of the engine of automations, which
 * POSTHORN_TEST_DIE_AT names with its number, as in 'commit:2'. Moments are the queries that plan steps (`plan`), the
 * statements of their transactions (`write`), the time before a commit (`commit`) and after it, when nothing has been
 * rung yet (`ring`). Its last line says so. A kill from outside would not be quick enough.
 */
const [point, number] = (process.env.POSTHORN_TEST_DIE_AT ?? '').split(':')
if (!isMainThread) {
  const { prototype } = Database
  const prepare = prototype.prepare as (source: string) => Database.Statement
  let moments = 0
  let isOpen = false
  let isEngines = false
  const moment = (name: string) => {
    if (name !== point || ++moments !== Number(number)) return
    writeSync(2, `died at: ${name}\n`)
    process.kill(process.pid, 'SIGKILL')
  }
  const came = (source: string) => {
    if (source === 'begin immediate') [isOpen, isEngines] = [true, false]
    else if (source === 'commit') {
      if (isEngines) moment('commit')
      isOpen = false
    } else if (source.includes('automation_live')) {
      isEngines = isOpen
      moment(isOpen ? 'write' : 'plan')
    } else if (isEngines && isOpen) moment('write')
  }
  const prepared = function (this: Database.Database, source: string) {
    const statement = prepare.call(this, source)
    for (const way of ['run', 'all'] as const) {
      const original = statement[way].bind(statement)
      statement[way] = (...values: unknown[]) => {
        came(source)
        const result = original(...values)
        if (source === 'commit' && isEngines) moment('ring')
        return result as never
      }
    }
    return statement
  }
  prototype.prepare = prepared as typeof prototype.prepare
}
