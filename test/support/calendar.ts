import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import type { Test } from 'tap'
import { type CalendarJob, openCalendar } from '../../src/app/calendar.js'
import { applianceKeyFile } from '../../src/app/index.js'
import { openJobThreads } from '../../src/app/job-threads.js'
import { loadPlans } from '../../src/billing/index.js'
import { type JobRun, runsOf } from '../../src/calendar/index.js'
import { createApplianceKeyFile, loadConfig, packageFile } from '../../src/config/index.js'
import { makeBacklogMemory } from '../../src/deliveries/index.js'
import { type Log, silentLog } from '../../src/log/index.js'
import { silentMeter } from '../../src/metrics/index.js'
import { makeTurns, type Store } from '../../src/store/index.js'
import { FakeClock } from './clock.js'
import { databaseSettings } from './postgres.js'
import { makeTempDir, openTestStore } from './store.js'

export interface CalendarOptions {
  clock?: FakeClock
  dataDir?: string
  zone?: string
  log?: Log
  limitMs?: number
  /** The folder of the jobs' file; default: this one's. */
  folder?: URL
  /** Called before each write of the calendar, which fails if it throws. */
  beforeWrite?: () => void
  /** Called after each write of the calendar, which waits for it. */
  afterWrite?: () => Promise<void>
}

/** A calendar over Bree's threads of `test-job.ts`, whose jobs are named with their cron expressions. */
export async function startCalendar(
  t: Test,
  crons: Readonly<Record<string, string>>,
  options: CalendarOptions = {},
) {
  const errors: string[] = []
  const error = (fields: object, text: string) => void errors.push(`${text}: ${inspect(fields)}`)
  const { clock = new FakeClock(), log = { ...silentLog, error }, limitMs = 600_000 } = options
  const { folder = new URL('.', import.meta.url), zone = 'UTC' } = options
  const dataDir = options.dataDir ?? makeTempDir(t)
  const turns = makeTurns()
  const store = await openTestStore(t, { dataDir, clock, turns })
  createApplianceKeyFile(applianceKeyFile(dataDir))
  const jobs = Object.entries(crons).map(([name, cron]): CalendarJob => {
    return { name, cron, limitMs, lane: name.endsWith('long') ? 'long' : 'short' }
  })
  const env = { POSTHORN_LOG_LEVEL: 'error', ...databaseSettings(dataDir) }
  const threads = openJobThreads({
    config: loadConfig({ env }),
    dataDir,
    turns,
    backlog: makeBacklogMemory(),
    log,
    clock,
    plans: loadPlans(packageFile('config/plans.toml')),
    metrics: { add() {}, forget() {} },
    ring() {},
    threads: jobs.map(({ name, lane }) => ({
      name,
      slot: lane === 'long' ? 18 : 14,
      entry: new URL('test-job.js', folder),
    })),
  })
  const write: Store['write'] = async (work) => {
    options.beforeWrite?.()
    const written = await store.write(work)
    await options.afterWrite?.()
    return written
  }
  const calendar = await openCalendar({
    store: { ...store, write },
    clock,
    log,
    meter: silentMeter,
    threads,
    jobs,
    zone,
  })
  // After this its first look is over, and it waits for its clock.
  await new Promise((resolve) => setImmediate(resolve))
  const close = async () => {
    const closed = calendar.close()
    await threads.close()
    await closed
  }
  t.teardown(close)
  const runs = (name: string) => runsOf(store.read, name)
  const began = () => {
    const file = join(dataDir, 'began')
    // Only whole lines: the file exists a moment before its first line.
    return existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : []
  }
  return {
    store,
    clock,
    dataDir,
    calendar,
    close,
    runs,
    /** Which jobs' work began, in order. */
    began,
    /** Resolves with the runs of a job once they are so. */
    async until(name: string, isSo: (runs: JobRun[]) => boolean) {
      for (let waited = 0; ; waited += 10) {
        const found = await runs(name)
        if (isSo(found)) return found
        if (waited > 20_000) {
          throw new Error(`It stays ${inspect({ name, runs: found, began: began(), errors })}`)
        }
        await new Promise((resolve) => setTimeout(resolve, 10))
      }
    },
  }
}
