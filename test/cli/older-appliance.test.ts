// design.md, Store: the schema is changed at start, never by a command beside a running appliance.
import Database from 'better-sqlite3'
import t from 'tap'
import { lockDataDir } from '../../src/app/lock.js'
import { initSandbox } from '../support/process.js'
import { makeTempDir } from '../support/store.js'
import { runCli } from './run.js'

t.test('a newer command changes no database that an older appliance serves', async (t) => {
  const dataDir = makeTempDir(t)
  initSandbox(dataDir)
  const db = new Database(`${dataDir}/posthorn.db`)
  t.teardown(() => db.close())
  const options = { env: { POSTHORN_DATA: dataDir } }
  const executed = () => db.prepare('select name from kysely_migration').pluck().all().length

  const stop = lockDataDir(dataDir)
  t.equal((await runCli(['account', 'list'], options)).status, 0, 'of the same version')
  const all = executed()
  db.exec('delete from kysely_migration where name = (select max(name) from kysely_migration)')
  for (const command of [['account', 'list'], ['queue', 'summary'], ['init']]) {
    const { status, stderr } = await runCli(command, options)
    t.equal(status, 1, command.join(' '))
    t.match(stderr, /is older than this command: restart it/)
  }
  t.equal(executed(), all - 1, 'nothing was changed')
  stop()
})
