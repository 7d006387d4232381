import { writeSync } from 'node:fs'
import Database from 'better-sqlite3'
import { loadPlans } from '../../src/billing/index.js'
import { systemClock } from '../../src/clock/index.js'
import { loadConfig, packageFile } from '../../src/config/index.js'
import { silentLog } from '../../src/log/index.js'
import { runRetention } from '../../src/retention/index.js'
import { makeTurns, openStore } from '../../src/store/index.js'

/*
 * Runs retention on a data directory, and kills itself when a statement begins like the second argument for the
 * second time: in the middle of a write. Its last line says so.
 */
const [, , dataDir = '', point = ''] = process.argv
// Some statements run once for each slice, and here is only one slice of them.
const times = /^(insert|update)/.test(point) ? 1 : 2
const { prototype } = Database
const prepare = prototype.prepare as (source: string) => Database.Statement
let seen = 0
prototype.prepare = function (this: Database.Database, source: string) {
  const statement = prepare.call(this, source)
  if (!source.startsWith(point)) return statement
  for (const way of ['run', 'all'] as const) {
    const original = statement[way].bind(statement)
    statement[way] = (...values: unknown[]) => {
      const result = original(...values)
      if (++seen === times) {
        writeSync(2, `died at: ${point}\n`)
        process.kill(process.pid, 'SIGKILL')
      }
      return result as never
    }
  }
  return statement
} as typeof prototype.prepare

const store = await openStore({
  dataDir,
  clock: systemClock,
  turns: makeTurns(),
  slot: 12,
  background: true,
})
const plans = loadPlans(packageFile('config/plans.toml'))
const { retention: ages } = loadConfig({ env: {} })
const deps = { store, clock: systemClock, log: silentLog, plans, ages, dataDir }
await runRetention(deps, new AbortController().signal)
await store.close()
