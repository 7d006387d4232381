import type { Test } from 'tap'
import { startCalendar } from './calendar.js'
import { FakeClock } from './clock.js'

/*
 * A process that is killed while a job is under way: `node die-in-job.js DATADIR NAME`. The job is due at once.
 */
const [, , dataDir = '', name = ''] = process.argv
const t = { teardown() {}, passing: () => true, comment() {} } as unknown as Test
const clock = new FakeClock(Date.parse('2026-11-21T02:29:00Z'))
const { until, began } = await startCalendar(t, { [name]: '30 2 * * *' }, { clock, dataDir })
await clock.advance(60_000)
await until(name, () => began().length > 0)
process.kill(process.pid, 'SIGKILL')
