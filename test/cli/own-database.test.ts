import {
  copyFileSync,
  existsSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { serve } from '../support/process.js'
import { makeTempDir } from '../support/store.js'
import { jsonOf, runCli } from './run.js'

t.setTimeout(300_000)

/** Two data directories with a domain each, so that something is sealed by their keys. */
async function twoPlaces(t: Test) {
  const folder = makeTempDir(t)
  const [own, other] = [join(folder, 'own'), join(folder, 'other')]
  await jsonOf(t, ['init', '--sandbox', '--data', own])
  await jsonOf(t, ['init', '--sandbox', '--data', other])
  return { own, other, key: join(own, 'appliance.key'), database: join(own, 'posthorn.db') }
}

/** What starts, reads, adds or makes is refused alike, with the status that systemd gives up at. */
async function refused(t: Test, data: string, reason: RegExp, commands: string[][]) {
  const before = readdirSync(data).filter((name) => name !== 'posthorn.lock')
  for (const command of commands) {
    const outcome = await runCli([...command, '--data', data], { alone: command[0] === 'serve' })
    const expected = { status: 78, stdout: /^(.* kept\n)*$/, stderr: reason }
    t.match(outcome, expected, command.join(' '))
    t.notMatch(outcome.stderr, /\n {4}at /, 'no stack')
  }
  const after = readdirSync(data).filter((name) => name !== 'posthorn.lock')
  t.same(after, before, 'nothing was made or taken away')
}

const some = [['serve'], ['account', 'list'], ['domain', 'add', 'a.test']]

t.test(
  'a database beside another key than its own is refused, and works with its own',
  async (t) => {
    const { own, other, key } = await twoPlaces(t)
    renameSync(key, `${key}.saved`)
    copyFileSync(join(other, 'appliance.key'), key)
    const reason =
      /(^error: |"msg":")The database in .* was made with another appliance\.key .*Put back both files/
    await refused(t, own, reason, [...some, ['init'], ['init', '--sandbox']])
    renameSync(`${key}.saved`, key)
    const posthorn = await serve(t, own, {})
    t.equal(await posthorn.kill('SIGTERM'), 0)
  },
)

t.test('a key without a database is refused, and no log is lost meanwhile', async (t) => {
  const { own, database } = await twoPlaces(t)
  renameSync(database, `${database}.saved`)
  // As a restore leaves it that began with the log.
  writeFileSync(`${database}-wal`, 'the log')
  await refused(
    t,
    own,
    /(^error: |"msg":")There is an appliance\.key in .* posthorn\.db is missing\. Put/,
    some,
  )
  writeFileSync(database, '')
  await refused(t, own, /posthorn\.db is empty\. Put .*'posthorn init' makes a new, empty/, some)
  t.equal(statSync(`${database}-wal`).size, 7)
  rmSync(`${database}-wal`)
  renameSync(`${database}.saved`, database)
  t.match(await jsonOf(t, ['account', 'list', '--data', own]), [{ name: 'Sandbox' }])

  rmSync(database)
  await jsonOf(t, ['init', '--data', own])
  t.same(await jsonOf(t, ['account', 'list', '--data', own]), [], 'init begins anew, if told so')
})

t.test('a database without its key is refused, and gets no other one', async (t) => {
  const { own, key } = await twoPlaces(t)
  rmSync(key)
  const reason =
    /(^error: |"msg":")There is a posthorn\.db in .*, but no appliance\.key\. Put back the appliance\.key/
  await refused(t, own, reason, [...some, ['init'], ['init', '--sandbox']])
  t.notOk(existsSync(key))
})

t.test('a database of an older version is tried by what is sealed in it', async (t) => {
  const { own, other, key, database } = await twoPlaces(t)
  const forget = () => {
    const db = new Database(database)
    db.exec('delete from appliance')
    db.close()
  }
  forget()
  renameSync(key, `${key}.saved`)
  copyFileSync(join(other, 'appliance.key'), key)
  await refused(t, own, /was made with another appliance\.key/, [...some, ['init']])
  renameSync(`${key}.saved`, key)
  await jsonOf(t, ['account', 'list', '--data', own])
  copyFileSync(join(other, 'appliance.key'), key)
  await refused(t, own, /was made with another appliance\.key/, some)
})
