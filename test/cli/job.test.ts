import BetterSqlite3 from 'better-sqlite3'
import t from 'tap'
import { scheduleInWords } from '../../src/calendar/index.js'
import { databaseFile } from '../../src/store/index.js'
import { aboutSqlite } from '../support/postgres.js'
import { startPosthorn } from '../support/posthorn.js'
import { openPlace } from './place.js'
import { runCli } from './run.js'

// On a machine that may have other work.
t.setTimeout(300_000)

t.test('a job is run in the running appliance, and its runs are shown', async (t) => {
  const env = { POSTHORN_JOBS_OPTIMIZE: '50 4 * * *' }
  const { dataDir } = await startPosthorn(t, { env })
  const job = (...args: string[]) => runCli(['job', ...args, '--data', dataDir], { env })
  const before = await job('list')
  t.match(before.stdout, /^NAME +SCHEDULE +LAST RUN +RESULT +TOOK +NEXT DUE$/m)
  t.match(before.stdout, /^optimize +every day at 04:50 UTC +- +- +- +20\d\d-\d\d-\d\d 04:50 UTC$/m)

  const run = await job('run', 'optimize')
  t.same([run.status, run.stderr.includes('Running optimize: ')], [0, true], run.stderr)
  t.match(run.stdout, /^\S+ /m)
  const inJson = await job('run', 'optimize', '--json')
  t.match(JSON.parse(inJson.stdout), { name: 'optimize', result: 'done', dueAt: null })
  const begun = await job('run', 'optimize', '--no-wait')
  t.match(begun.stdout, /^optimize has begun; 'posthorn job show optimize' tells/)

  const reports = await job('run', 'tls-reports')
  t.match(reports.stdout, /^Domains looked at: 0; that want a report: 0; uploaded: 0$/m)

  const shown = await job('show', 'optimize')
  t.match(shown.stdout, /^What it does +\S/m)
  t.match(shown.stdout, /^20\d\d-\d\d-\d\d \d\d:\d\d UTC +by hand +\d+\.\d s +done +\S/m)
  const all = JSON.parse((await job('list', '--json')).stdout)
  t.equal(all.zone, 'UTC')
  const own = all.jobs.find(({ name }: { name: string }) => name === 'optimize')
  t.match(own, { cron: '50 4 * * *', last: Object })
})

t.test('what a command said plays with no terminal', async (t) => {
  const hook = ['/bin/sh', '-c', 'printf "\\033[31mred" >&2; exit 3']
  const env = { POSTHORN_BACKUP_DIR: t.testdir(), POSTHORN_BACKUP_HOOK: hook.join() }
  const { dataDir } = await startPosthorn(t, { env })
  const run = await runCli(['job', 'run', 'backup', '--data', dataDir], { env })
  t.equal(run.status, 1)
  t.match(run.stdout, /ended with status 3: \\u001b\[31mred$/m)
})

const why = 'Nothing was backed up, as backup.dir is not set'

t.test('a backup without backup.dir is not said to be done', async (t) => {
  const { dataDir } = await startPosthorn(t)
  const run = await runCli(['job', 'run', 'backup', '--data', dataDir])
  t.same([run.status, run.stdout], [1, `backup not set up: ${why}\n`], run.stderr)
  const { stdout } = await runCli(['job', 'list', '--data', dataDir])
  t.match(stdout, /^backup .+ UTC +not set up +\d/m)
  t.match(stdout, `\nbackup: ${why}\n`)
  const shown = await runCli(['job', 'show', 'backup', '--data', dataDir, '--json'])
  t.match(JSON.parse(shown.stdout), { last: { result: 'not set up', summary: why, error: null } })
})

t.test(
  'a run whose times cannot be read is shown, with times that are unknown',
  aboutSqlite,
  async (t) => {
    const { data, run, json } = await openPlace(t)
    const db = new BetterSqlite3(databaseFile(data))
    db.exec(`insert into job_runs
    (name, due_at, began_at, ended_at, result, summary, problems, figures, error)
    values ('optimize', 9e15, 9e15, 9e15 + 1, 'done', 'Fine', '[]', '{}', null)`)
    db.close()
    const list = await run('job', 'list')
    t.match(list, { status: 0, stdout: /^optimize .+ UTC +unknown +done +- +\d/m }, list.stderr)
    const shown = await run('job', 'show', 'optimize')
    t.match(shown, { status: 0, stdout: /^unknown +unknown +- +done +Fine$/m }, shown.stderr)
    t.match(await json('job', 'show', 'optimize'), { runs: [{ beganAt: null, result: 'done' }] })
  },
)

t.test('what cannot be run is refused in words', async (t) => {
  const place = await openPlace(t)
  const nobody = await runCli(['job', 'run', 'optimize', '--data', place.data])
  t.equal(nobody.status, 1)
  t.match(nobody.stderr, /No appliance answers for .*: start it \('systemctl start posthorn'/)
  const unknown = await runCli(['job', 'run', 'polish', '--data', place.data])
  t.match(unknown.stderr, /There is no job polish; there are: .*optimize/)
  const limit = await runCli(['job', 'show', 'optimize', '--limit', 'x', '--data', place.data])
  t.match(limit.stderr, /argument 'x' is invalid\. It must be a whole number of 1 or more/)
  const silence = await runCli(['config', 'check', '--data', place.data], {
    env: { POSTHORN_OPERATOR_SILENCE: 'dsk' },
  })
  t.match(silence.stderr, /operator\.silence: there is no kind "dsk"; known: .*disk/)
  const bad = await runCli(['config', 'check', '--data', place.data], {
    env: { POSTHORN_JOBS_OPTIMIZE: '61 * * * *' },
  })
  t.equal(bad.status, 1)
  t.match(
    bad.stderr,
    /POSTHORN_JOBS_OPTIMIZE \(jobs\.optimize\): "61 \* \* \* \*" given, expected a cron/,
  )
})

t.test('the database is written anew, but not beside the appliance', aboutSqlite, async (t) => {
  const place = await openPlace(t)
  const done = await runCli(['database', 'vacuum', '--data', place.data])
  t.match(done.stdout, /^The database had \d+ [KM]iB and has \d+ [KM]iB now\.$/m, done.stderr)
  const { dataDir } = await startPosthorn(t)
  const refused = await runCli(['database', 'vacuum', '--data', dataDir])
  t.equal(refused.status, 1)
  t.match(refused.stderr, /Another posthorn serves .* Stop it first/)
})

t.test('schedules are said in words where words are short', (t) => {
  const words: Record<string, string> = {
    '50 4 * * *': 'every day at 04:50 UTC',
    '51 6 * * 1': 'every Monday at 06:51 UTC',
    '0 3 1 * *': 'on day 1 of the month at 03:00 UTC',
    '23 * * * *': 'every hour at :23',
    '7,22,37,52 * * * *': 'every hour at :07 :22 :37 :52',
    '29 */2 * * *': 'every 2 hours at :29 UTC',
    '29 */5 * * *': '29 */5 * * * UTC',
    '0 1 * * 1-5': '0 1 * * 1-5 UTC',
  }
  for (const [cron, said] of Object.entries(words)) t.equal(scheduleInWords(cron, 'UTC'), said)
  t.equal(scheduleInWords('23 * * * *', 'Asia/Kolkata'), 'every hour at :23 Asia/Kolkata')
  t.end()
})
