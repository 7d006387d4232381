import t from 'tap'
import { openJobThreads } from '../../src/app/job-threads.js'
import { loadPlans } from '../../src/billing/index.js'
import { systemClock } from '../../src/clock/index.js'
import { loadConfig, packageFile } from '../../src/config/index.js'
import { makeBacklogMemory } from '../../src/deliveries/index.js'
import { silentLog } from '../../src/log/index.js'
import { makeTurns } from '../../src/store/index.js'
import { makeTempDir } from '../support/store.js'

t.test('a stop while a job starts leaves no timer that keeps the process alive', async (t) => {
  const timers = new Set<number>()
  const clock = {
    ...systemClock,
    after(ms: number, wake: () => void) {
      timers.add(ms)
      const cancel = systemClock.after(ms, wake)
      return () => {
        timers.delete(ms)
        cancel()
      }
    },
  }
  const limitMs = 600_000
  const threads = openJobThreads({
    config: loadConfig({ env: {} }),
    dataDir: makeTempDir(t),
    turns: makeTurns(),
    backlog: makeBacklogMemory(),
    log: silentLog,
    clock,
    plans: loadPlans(packageFile('config/plans.toml')),
    metrics: { add() {}, forget() {} },
    ring() {},
    threads: [
      { name: 'waits', slot: 14, entry: new URL('../support/test-job.js', import.meta.url) },
    ],
  })
  const run = threads.run('waits', { limitMs })
  t.ok(timers.has(limitMs))
  await threads.close()
  t.equal((await run).told, 'stop')
  t.notOk(timers.has(limitMs))
})
