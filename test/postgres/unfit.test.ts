// What init says of a server that it cannot use, and that it leaves nothing behind: issue 45, as a new operator meets it.
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import t from 'tap'
import { systemClock } from '../../src/clock/index.js'
import { readServerFacts } from '../../src/store/index.js'
import { freePort } from '../support/free-port.js'
import { noPostgres, startPostgres } from '../support/postgres.js'
import { cliEntry } from '../support/process.js'
import { makeTempDir } from '../support/store.js'
import { testCertificates } from '../support/tls.js'

t.test('a server that cannot be used', { skip: noPostgres ?? false }, async (t) => {
  const server = await startPostgres(t)
  const standby = await startPostgres(t, { standbyOf: server })
  const nobody = await freePort()
  const certificates = await testCertificates(t, 'localhost')
  const ask = async (text: string, database = 'postgres') => {
    const client = new pg.Client(`${server.url}/${database}`)
    await client.connect()
    return (await client.query(text).finally(() => client.end())).rows
  }
  const [{ data_directory: data }] = await ask('show data_directory')
  const lines = (text: string) => `select unnest(string_to_array('${text.trim()}', E'\\n'))`
  /** The server shows this certificate from now on. */
  const show = async ({ cert, key }: { cert: string; key: string }) => {
    await ask(`copy (${lines(cert)}) to '${data}/server.crt'`)
    await ask(`copy (${lines(key)}) to '${data}/server.key'`)
    chmodSync(`${data}/server.key`, 0o600)
    await ask('alter system set ssl = on')
    await ask('select pg_reload_conf()')
    await new Promise((resolve) => setTimeout(resolve, 500))
  }
  const dataDir = join(makeTempDir(t), 'data')
  const requireSaid = (url: string, said: RegExp, what: string) => {
    const env = { ...process.env, POSTHORN_STORE_TRUST_DURABILITY: 'true' }
    const args = [cliEntry, 'init', '--data', dataDir, '--store', url]
    const { stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', env, timeout: 60_000 })
    t.match(stderr, said, what)
    t.notMatch(stderr, /cannot be used just now|fault of Posthorn/, what)
    t.same(existsSync(dataDir) ? readdirSync(dataDir) : [], [], `${what}: nothing is left`)
  }
  const verified = (ca: string, host = 'localhost') =>
    `postgres://posthorn@${host}:${server.port}/mail?sslmode=verify-full&sslrootcert=${ca}`
  await ask('create database mail')
  const ca = certificates.ca.certFile

  requireSaid(verified(ca), /does not support SSL connections; switch ssl on/, 'no TLS')
  await show(certificates.selfSigned)
  requireSaid(verified(ca), /; its certificate is of no CA that is known here: .*sslrootcert/, 'CA')
  await show(certificates.expired)
  requireSaid(verified(ca), /certificate has expired; renew the server's certificate/, 'expired')
  await show(certificates.wrongName)
  requireSaid(verified(ca), /altnames.*; name it in store\.url as its certificate does/, 'its name')
  await show(certificates.valid)
  requireSaid(verified('/nowhere.pem'), /nowhere\.pem'; sslrootcert.* have to be files/, 'no file')

  const at = (port: number) => `postgres://posthorn@127.0.0.1:${port}/mail`
  requireSaid(at(standby.port), /is of no use: it is a standby.*name the primary/, 'a standby')
  const both = at(standby.port).replace('/mail', `,127.0.0.1:${nobody}/mail`)
  requireSaid(both, /standby, or read-only: it takes no writes; .*ECONNREFUSED/, 'each host')

  const hba =
    "E'host all posthorn all trust\\nhost all ph all scram-sha-256\\nhost all poor all trust'"
  await ask(`copy (select unnest(string_to_array(${hba}, E'\\n'))) to '${data}/pg_hba.conf'`)
  await ask("create role ph login password 'one'")
  await ask('select pg_reload_conf()')
  const wants = `postgres://ph@127.0.0.1:${nobody},127.0.0.1:${server.port}/mail`
  const told = /ECONNREFUSED [^;]*; it wants a password; give it by --password-file/
  requireSaid(wants, told, 'one host is away, and the other one wants a password')

  await ask("create database ascii encoding 'SQL_ASCII' locale 'C' template template0")
  requireSaid(`${server.url}/ascii`, /its encoding is SQL_ASCII.*create database/, 'encoding')
  await ask('create role poor login')
  const { standbys } = await readServerFacts(
    `${server.url.replace('posthorn@', 'poor@')}/mail`,
    systemClock,
  )
  t.equal(standbys, 1, 'a role without rights is told of the standby too')
  const poor = server.url.replace('posthorn@', 'poor@')
  requireSaid(`${poor}/mail`, /may make no tables there: make it the owner/, 'rights')
})
