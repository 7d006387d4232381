import { createHash } from 'node:crypto'
import { basename } from 'node:path'
import pg from 'pg'
import type { Test } from 'tap'
import { latestSchema, migratePostgres } from '../../src/store/index.js'

/** `PH_POSTGRES` is the URL of a server that tests may make databases on: `bin/with-postgres` starts one and sets it. */
export const server = process.env.PH_POSTGRES

/** Whether tests of the store are to run over PostgreSQL instead of SQLite. */
export const isPostgres = process.env.PH_STORE === 'postgres'

/** A database of the present schema that is named after a data directory, as SQLite's file lies in it. */
export async function databaseOf(t: Test, dataDir: string): Promise<string> {
  if (server === undefined) throw new Error('PH_STORE=postgres needs PH_POSTGRES, a server')
  const name = `t_${createHash('sha256').update(dataDir).digest('hex').slice(0, 16)}`
  const template = `posthorn_${(await latestSchema()).replaceAll('-', '_')}`
  const client = new pg.Client(`${server}/postgres`)
  await client.connect()
  try {
    // Others of this run make the template at the same moment.
    await client.query('select pg_advisory_lock(1)')
    await makeOnce(client, template)
    await client.query('select pg_advisory_unlock(1)')
    const { rowCount } = await client.query('select 1 from pg_database where datname = $1', [name])
    if (rowCount === 0) await client.query(`create database ${name} template ${template}`)
  } finally {
    await client.end()
  }
  t.comment(`database ${name} of ${basename(dataDir)}`)
  return `${server}/${name}`
}

async function makeOnce(client: pg.Client, template: string): Promise<void> {
  const known = await client.query('select 1 from pg_database where datname = $1', [template])
  if (known.rowCount !== 0) return
  await client.query(`create database ${template}_making`)
  await migratePostgres(`${server}/${template}_making`)
  await client.query(`alter database ${template}_making rename to ${template}`)
}
