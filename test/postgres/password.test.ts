// A PostgreSQL that wants a password, from the first command on.
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import t from 'tap'
import { systemClock } from '../../src/clock/index.js'
import { readServerFacts } from '../../src/store/index.js'
import { noPostgres, startPostgres } from '../support/postgres.js'
import { cliEntry } from '../support/process.js'
import { makeTempDir } from '../support/store.js'
import { isThorough } from '../support/thorough.js'

const password = 'of/the database'

/** Ended by its own, or the test fails: a way to the server that stays open would hold the process. */
const run = (args: readonly string[], env: Record<string, string> = {}) =>
  spawnSync(process.execPath, [cliEntry, ...args], {
    encoding: 'utf8',
    env: { ...process.env, POSTHORN_STORE_TRUST_DURABILITY: 'true', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 60_000,
  })

t.test('a server that wants a password', { skip: noPostgres ?? false }, async (t) => {
  const server = await startPostgres(t, { password })
  const withPassword = server.url.replace('@', `:${encodeURIComponent(password)}@`)
  const makeDatabase = async (name: string, how = '') => {
    const client = new pg.Client(`${withPassword}/postgres`)
    await client.connect()
    await client.query(`create database ${name} ${how}`).finally(() => client.end())
    return `${server.url}/${name}`
  }
  const file = join(makeTempDir(t), 'store-password')
  writeFileSync(file, `${password}\n`)

  await t.test('is told by init, which ends without one', async (t) => {
    const url = await makeDatabase('one')
    const dataDir = join(makeTempDir(t), 'data')
    const without = run(['init', '--data', dataDir, '--store', url])
    t.equal(without.status, 1)
    t.match(without.stderr, /wants a password; give it by --password-file/)
    t.notMatch(without.stderr, /SASL/)
    const alone = run(['init', '--data', dataDir, '--password-file', file])
    t.match(alone.stderr, /--password-file is for --store/)
    const missing = ['init', '--data', join(dataDir, 'other'), '--store', url]
    t.match(run([...missing, '--password-file', '/nowhere']).stderr, /Cannot read the password/)

    const made = run(['init', '--data', dataDir, '--store', url, '--password-file', file])
    t.equal(made.status, 0, made.stderr)
    t.match(made.stdout, /Database: made/)
    t.match(made.stdout, /one of all but the database/)
    const settings = readFileSync(join(dataDir, 'posthorn.toml'), 'utf8')
    t.match(settings, `\nurl = "${url}"\n`)
    t.match(settings, `\npassword_file = "${file}"\n`)
    const again = ['init', '--data', dataDir, '--store', url, '--password-file', file]
    t.match(run(again).stdout, /Database: up to date/)
    t.equal(run(['account', 'list', '--data', dataDir]).status, 0)
    const other = run(['init', '--data', dataDir, '--store', `${url}er`])
    t.match(other.stderr, /is another one in .* Write url = .* into \[store\]/)
  })

  await t.test('is found again where the environment named it, without its password', async (t) => {
    const url = await makeDatabase('two')
    const dataDir = join(makeTempDir(t), 'data')
    const env = { POSTHORN_STORE_URL: url.replace(server.url, withPassword) }
    const made = run(['init', '--data', dataDir], env)
    t.equal(made.status, 0, made.stderr)
    const settings = readFileSync(join(dataDir, 'posthorn.toml'), 'utf8')
    t.match(settings, `\nurl = "${url}"\n`)
    t.notMatch(settings, password.slice(0, 6))
    t.match(run(['status', '--data', dataDir]).stderr, /wants a password/)
    // Settings that were there keep no address.
    writeFileSync(join(dataDir, 'posthorn.toml'), '')
    t.match(
      run(['status', '--data', dataDir]).stderr,
      /is a PostgreSQL, its address is missing here/,
    )
  })

  const skip = isThorough ? false : 'thorough'
  await t.test('is tried out by the quickstart, to its end', { skip }, async (t) => {
    const url = await makeDatabase('trial')
    const ports = ['HTTP_PRIVATE_PORT', 'HTTP_PUBLIC_PORT', 'SANDBOX_SMTP_PORT', 'INBOUND_PORT']
    const free = Object.fromEntries(ports.map((name) => [`POSTHORN_${name}`, '0']))
    const once = ['quickstart', '--once', '--data', join(makeTempDir(t), 'trial')]
    const without = run([...once, '--store', url], free)
    t.equal(without.status, 1)
    t.match(without.stderr, /It did not work: posthorn init: .* wants a password/)
    const env = { ...free, POSTHORN_STORE_URL: url.replace(server.url, withPassword) }
    const { status, stdout, stderr } = run(once, env)
    t.equal(status, 0, stderr)
    t.match(stdout, /the next mail to it is suppressed, for its complaint/)
    t.match(stdout, /Dashboard {6}http/)
  })

  await t.test('says what a backup of it has, and that a restore takes it away', async (t) => {
    const icu = "template template0 encoding utf8 locale_provider icu icu_locale 'en-US'"
    const url = await makeDatabase('icu', icu)
    const dataDir = join(makeTempDir(t), 'data')
    const made = ['init', '--data', dataDir, '--store', url, '--password-file', file]
    t.equal(run(made).status, 0)
    const backups = makeTempDir(t)
    const backup = run(['backup', backups, '--data', dataDir])
    t.match(backup.stderr, /database is not in it, .*: its server archives no log/)
    const own = /Made (\S+):/.exec(backup.stdout)?.[1] ?? ''
    const verified = run(['backup', 'verify', own, '--data', dataDir])
    t.match(verified.stdout, /Database +not in it, as it is a PostgreSQL/)
    t.notMatch(verified.stdout, /Rows/)

    const inFile = join(makeTempDir(t), 'data')
    t.equal(run(['init', '--data', inFile]).status, 0)
    const whole = run(['backup', makeTempDir(t), '--data', inFile])
    const ofFile = /Made (\S+):/.exec(whole.stdout)?.[1] ?? ''
    const key = readFileSync(join(dataDir, 'appliance.key'), 'utf8')
    const asked = run(['restore', ofFile, '--to', dataDir])
    t.equal(asked.status, 1)
    t.match(asked.stderr, /keeps everything in the PostgreSQL .*\/icu.* starts from the file/)
    t.match(asked.stderr, /with --yes/)
    t.equal(readFileSync(join(dataDir, 'appliance.key'), 'utf8'), key)
    const dry = run(['restore', ofFile, '--to', dataDir, '--dry-run'])
    t.match(dry.stdout, /keeps everything in the PostgreSQL/)
    t.equal(run(['restore', own, '--to', join(dataDir, 'new')]).status, 0)

    const facts = await readServerFacts(`${withPassword}/icu`, systemClock)
    t.match(facts.collation, { name: /^en-US/, others: 0 })
  })

  await t.test('takes a copy by the file that the settings name', async (t) => {
    const url = await makeDatabase('three')
    const dataDir = join(makeTempDir(t), 'data')
    t.equal(run(['init', '--data', dataDir]).status, 0)
    const without = run(['database', 'copy', '--data', dataDir, '--to', url])
    t.equal(without.status, 1)
    t.match(without.stderr, /wants a password/)
    const settings = join(dataDir, 'posthorn.toml')
    writeFileSync(settings, `[store]\npassword_file = "${file}"\n`)
    const copied = run(['database', 'copy', '--data', dataDir, '--to', url])
    t.equal(copied.status, 0, copied.stderr)
    t.match(copied.stderr, `url = "${url}"`)
    t.match(copied.stderr, /^appliance: 100 %$/m)
  })
})
