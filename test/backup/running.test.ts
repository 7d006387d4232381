import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { timeInName } from '../../src/backup/names.js'
import { jsonOf, runCli } from '../cli/run.js'
import { startPosthorn } from '../support/posthorn.js'
import { makeTempDir } from '../support/store.js'

t.setTimeout(300_000)

interface Run {
  runs: { result: string; summary: string | null; error: string | null }[]
}

t.test(
  'the jobs of a running appliance make and check a backup, and tell of the hook',
  async (t) => {
    const folder = makeTempDir(t)
    const [dir, taken] = [join(folder, 'backups'), join(folder, 'taken')]
    const { dataDir, url } = await startPosthorn(t, {
      configFile: join(folder, 'settings.conf'),
      env: {
        POSTHORN_BACKUP_DIR: dir,
        // It takes the first backup and refuses the second.
        POSTHORN_BACKUP_HOOK: `sh,-c,test ! -e ${taken} || { echo far disk is full >&2; exit 7; }; cp "$0" ${taken},{file}`,
      },
    })
    const ended = await runCli(['job', 'run', 'backup', '--data', dataDir])
    t.equal(ended.status, 0, ended.stderr)
    t.ok(existsSync(taken))
    const tar = spawnSync('tar', ['tzf', taken], { encoding: 'utf8' })
    t.match(tar.stdout, /^etc\/posthorn\.toml$/m, 'the settings that it was started with')
    const show = (name: string) => jsonOf<Run>(t, ['job', 'show', name, '--data', dataDir])
    t.match((await show('backup')).runs, [
      {
        result: 'done',
        summary: /was made and checked, and the command of backup\.hook has taken it/,
      },
    ])
    const metrics = await (await fetch(new URL('/metrics', url))).text()
    t.match(
      metrics,
      new RegExp(`^posthorn_backup_newest_bytes ${readFileSync(taken).length}$`, 'm'),
    )
    t.match(metrics, /^posthorn_job_runs_total\{name="backup",result="done"\} 1$/m)

    t.equal((await runCli(['job', 'run', 'backup-check', '--data', dataDir])).status, 0)
    t.match((await show('backup-check')).runs, [{ result: 'done', summary: /is sound/ }])

    const failed = await runCli(['job', 'run', 'backup', '--data', dataDir])
    t.equal(failed.status, 1)
    const [run] = (await show('backup')).runs
    t.match(run, {
      result: 'failed',
      error: /was made, but .+\(sh\) ended with status 7: far disk is full/,
    })
    const people = await runCli(['job', 'show', 'backup', '--data', dataDir])
    t.match(people.stdout, /far disk is full/)

    // The file is there, whatever became of its job.
    const env = { POSTHORN_BACKUP_DIR: dir }
    const status = await runCli(['status', '--json', '--data', dataDir], { env })
    const newest =
      readdirSync(dir)
        .filter((name) => name.endsWith('.gz'))
        .sort()
        .at(-1) ?? ''
    t.equal(JSON.parse(status.stdout).backupAt, new Date(timeInName(newest) ?? 0).toISOString())
  },
)
