import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  appendFileSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { Test } from 'tap'
import { latestSchema, migrateStore } from '../../src/store/index.js'
import { freePort } from './free-port.js'

/** Whether tests of the store are to run over PostgreSQL, on the server of `PH_POSTGRES`, instead of SQLite. */
export const isPostgres = process.env.PH_STORE === 'postgres'

/**
 * For tests of things that only SQLite has: its plans, its file, or answers within the same turn of the event loop.
 */
export const aboutSqlite = isPostgres ? { skip: 'about SQLite itself' } : {}

/** Waits until the queries are answered that a test clock has caused; SQLite answers at once. */
export const answered = () =>
  new Promise<void>((resolve) => {
    if (isPostgres) setTimeout(resolve, 40)
    else setImmediate(resolve)
  })

// Debian has a folder for each version.
const versions = '/usr/lib/postgresql'
const newest = existsSync(versions)
  ? readdirSync(versions)
      .sort((a, b) => Number(a) - Number(b))
      .at(-1)
  : undefined

/** One of PostgreSQL's programs. */
export const postgresProgram = (name: string) => join(versions, newest ?? '', 'bin', name)

/** Why there is no server to be had, for a test that needs one; CI has it. */
export const noPostgres = newest === undefined ? "Debian's postgresql is not installed" : undefined

/** Whether a server can have a small disk of its own. */
export const mayMount = process.getuid?.() === 0

export interface PostgresServer {
  /** Without a database: `postgres://posthorn@127.0.0.1:PORT`. */
  url: string
  port: number
  /** The id of its first process. */
  pid(): number
  /** Ends it as a crash would, or starts it again. */
  crash(): void
  /** `port`: of another server, whose place it takes. */
  start(port?: number): void
  /** With `roomMb`: takes all room of its disk, or gives it back, and starts it if it has ended. */
  fill(): void
  empty(port?: number): void
  /** For a standby: it accepts writes from now on. */
  promote(): void
}

/**
 * A separate server for the test, which syncs nothing to disk, except with `syncs`, for figures that include the cost
 * of syncs; or a hot standby of another one (`standbyOf`). With `counts` it has pg_stat_statements. With `password`
 * it demands one, which is not in its `url`. With `roomMb` its disk has so many megabytes, which needs root
 * (`mayMount`). PostgreSQL refuses root, so under root it runs as its own user.
 */
export async function startPostgres(
  t: Test,
  {
    syncs = false,
    counts = false,
    standbyOf,
    password,
    roomMb,
  }: {
    syncs?: boolean
    counts?: boolean
    standbyOf?: PostgresServer
    password?: string
    roomMb?: number
  } = {},
): Promise<PostgresServer> {
  const bin = join(versions, newest ?? '', 'bin')
  // Not in the tests' directory, which another user may not enter.
  const dir = mkdtempSync('/tmp/posthorn-postgres-')
  const data = join(dir, 'data')
  const port = await freePort()
  const isRoot = process.getuid?.() === 0
  if (roomMb !== undefined) {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${roomMb}m`, 'posthorn', dir])
  }
  if (isRoot) {
    const [uid, gid] = ['-u', '-g'].map((option) =>
      Number(execFileSync('id', [option, 'postgres'], { encoding: 'utf8' })),
    )
    chownSync(dir, uid ?? 0, gid ?? 0)
  }
  const run = (program: string, args: readonly string[]) => {
    const [command, ...words] = isRoot
      ? ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups', join(bin, program)]
      : [join(bin, program)]
    execFileSync(command ?? '', [...words, ...args], { stdio: 'ignore', cwd: dir })
  }
  if (standbyOf === undefined) {
    run('initdb', ['-D', data, '--locale=C', '-E', 'UTF8', '-A', 'trust', '-U', 'posthorn', '-N'])
  } else run('pg_basebackup', ['-d', standbyOf.url, '-D', data, '-R', '-X', 'stream', '-c', 'fast'])
  const settings = { listen_addresses: '127.0.0.1', unix_socket_directories: dir }
  const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'\n`)
  lines.push('max_connections = 400\n')
  if (roomMb !== undefined) lines.push("max_wal_size = '64MB'\n", "shared_buffers = '16MB'\n")
  if (counts) lines.push("shared_preload_libraries = 'pg_stat_statements'\n")
  // After a crash of only the server, the system still has what it wrote.
  lines.push(`port = ${port}\n`)
  lines.push(syncs ? "shared_buffers = '1GB'\n" : 'fsync = off\n')
  appendFileSync(join(data, 'postgresql.conf'), lines.join(''))
  const control = (...args: string[]) =>
    run('pg_ctl', ['-D', data, '-w', '-l', join(dir, 'log'), ...args])
  control('start')
  t.teardown(() => {
    try {
      control('stop', '-m', 'immediate')
    } catch {
      // A test has already ended it.
    }
    if (roomMb !== undefined) execFileSync('umount', ['--lazy', dir])
    rmSync(dir, { recursive: true, force: true })
  })
  const filler = join(dir, 'filler')
  const start = (of?: number) => control('start', ...(of === undefined ? [] : ['-o', `-p ${of}`]))
  if (password !== undefined) {
    const change = `alter role posthorn password '${password}'`
    run('psql', ['-q', '-c', change, `postgres://posthorn@127.0.0.1:${port}/postgres`])
    writeFileSync(join(data, 'pg_hba.conf'), 'host all all 127.0.0.1/32 scram-sha-256\n')
    control('reload')
  }
  return {
    url: `postgres://posthorn@127.0.0.1:${port}`,
    port,
    pid: () => Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0]),
    crash: () => control('stop', '-m', 'immediate'),
    start,
    fill() {
      const { bavail, bsize } = statfsSync(dir)
      writeFileSync(filler, Buffer.alloc(bavail * bsize))
    },
    empty(of) {
      rmSync(filler, { force: true })
      try {
        control('status')
      } catch {
        start(of)
      }
    },
    promote: () => control('promote'),
  }
}

/** The name of a data directory's database, as SQLite's file belongs to its directory. */
const databaseNameOf = (dataDir: string) =>
  `t_${createHash('sha256').update(dataDir).digest('hex').slice(0, 16)}`

const serverOfRun = () => {
  if (process.env.PH_POSTGRES === undefined) {
    throw new Error('PH_STORE=postgres needs PH_POSTGRES, a server')
  }
  return process.env.PH_POSTGRES
}

/**
 * The environment by which a process finds the database of a data directory; empty over SQLite, whose file is in the
 * directory.
 */
export const databaseSettings = (dataDir: string): Record<string, string> =>
  isPostgres
    ? {
        POSTHORN_STORE_URL: `${serverOfRun()}/${databaseNameOf(dataDir)}`,
        POSTHORN_STORE_TRUST_DURABILITY: 'true',
      }
    : {}

/** Makes an empty database, synchronously: `posthorn init` makes the tables. */
export function makeEmptyDatabase(dataDir: string): void {
  const name = databaseNameOf(dataDir)
  const make = `create database ${name} template template0`
  execFileSync(postgresProgram('psql'), ['-q', '-c', make, `${serverOfRun()}/postgres`])
}

/** A database of the present schema. */
export async function databaseOf(dataDir: string, server = serverOfRun()): Promise<string> {
  const name = databaseNameOf(dataDir)
  const template = `posthorn_${(await latestSchema()).replaceAll('-', '_')}`
  const client = new pg.Client(`${server}/postgres`)
  await client.connect()
  try {
    // Other tests of this run may make the template at the same moment.
    await client.query('select pg_advisory_lock(1)')
    await makeOnce(client, server, template)
    await client.query('select pg_advisory_unlock(1)')
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [name])
    if (rowCount === 0) await client.query(`create database ${name} template ${template}`)
  } finally {
    await client.end()
  }
  return `${server}/${name}`
}

async function makeOnce(client: pg.Client, server: string, template: string): Promise<void> {
  const known = await client.query('select 1 from pg_database where datname = $1', [template])
  if (known.rowCount !== 0) return
  await client.query(`create database ${template}_making`)
  await migrateStore({ dataDir: tmpdir(), url: `${server}/${template}_making` })
  await client.query(`alter database ${template}_making rename to ${template}`)
}
