import type { Kysely } from 'kysely'
import { ApiError, exitStatus, messageOf, OperatorError } from '../../errors/index.js'
import { databaseClock } from '../fragments.js'
import { databaseCalled, type FoundDatabase, type LivingNode } from '../place.js'
import type { Tables } from '../schema/index.js'
import { type KnownSchema, type SchemaState, stateOf } from '../schema-state.js'
import { serverAdvice, wordsOfServer } from '../server-advice.js'
import { adviceOnTheWay } from './on-the-way.js'
import { withConnection } from './server.js'
import { unfinishedMark } from './unfinished-copy.js'

/** Looks and makes nothing. Throws an OperatorError where the server cannot be asked. */
export async function findPostgres(url: string): Promise<FoundDatabase> {
  return await looking(url, async (db) => {
    const tables = await tablesOf(db)
    if (tables.includes(unfinishedMark)) return { kind: 'unfinished' }
    if (!tables.includes('accounts')) return { kind: 'empty' }
    const known = await db.selectFrom('appliance').select('key_check').executeTakeFirst()
    return { kind: 'there', keyCheck: known?.key_check }
  })
}

/** See `livingNodes` in `index.ts`: it uses only columns that the table has had from the beginning. */
export async function livingNodes(url: string): Promise<LivingNode[]> {
  return await looking(url, async (db) => {
    if (!(await tablesOf(db)).includes('nodes')) return []
    const alive = db.selectFrom('nodes').where('held_until', '>', databaseClock)
    if (await hasColumn(db, 'nodes', 'schema'))
      return await alive.select(['name', 'version', 'schema']).execute()
    const rows = await alive.select(['name', 'version']).execute()
    return rows.map((row) => ({ ...row, schema: '' }))
  })
}

/** How its schema relates to a release with the migrations `known`. */
export async function readPostgresState(url: string, known: KnownSchema): Promise<SchemaState> {
  return await looking(url, async (db) => {
    const tables = await tablesOf(db)
    if (!tables.includes('kysely_migration'))
      return stateOf({ executed: [], writtenBy: undefined }, known)
    const notes = db as unknown as Kysely<{ kysely_migration: { name: string } }>
    const executed = await notes
      .selectFrom('kysely_migration')
      .select('name')
      .orderBy('name')
      .execute()
    const releases = tables.includes('releases')
      ? await db.selectFrom('releases').select(['version', 'migration']).orderBy('id').execute()
      : []
    const contracts = (await hasColumn(db, 'releases', 'contracted'))
      ? await db.selectFrom('releases').select('contracted').execute()
      : []
    const rolling = {
      contracted:
        contracts
          .map(({ contracted }) => contracted)
          .sort()
          .at(-1) ?? '',
      schemas: [...new Set(releases.map(({ migration }) => migration))].sort(),
    }
    const writtenBy = releases.at(-1)?.version
    return stateOf({ executed: executed.map(({ name }) => name), writtenBy, rolling }, known)
  })
}

/** An earlier release may have made the table without the column. */
async function hasColumn(db: Kysely<Tables>, table: string, column: string): Promise<boolean> {
  const all = await db.introspection.getTables()
  return all.some(
    ({ name, columns }) => name === table && columns.some((one) => one.name === column),
  )
}

const tablesOf = async (db: Kysely<Tables>) =>
  (await db.introspection.getTables({ withInternalKyselyTables: true })).map(({ name }) => name)

/** Whoever starts something wants to know why the server is not there, and not the class of the error. */
export async function looking<T>(
  url: string,
  look: (db: Kysely<Tables>) => Promise<T>,
): Promise<T> {
  try {
    return await withConnection(url, look)
  } catch (error) {
    // None of several hosts was found: what they said is the cause.
    const cause = error instanceof ApiError ? (error.cause ?? error) : error
    const said = wordsOfServer(cause)
    const called = databaseCalled({ dataDir: '', url })
    const status = exitStatus.failed
    const most = cause instanceof Error && cause.cause !== undefined ? cause.cause : cause
    const advice = serverAdvice(most) ?? adviceOnTheWay(most)
    // A cause that says it in other words would be told too.
    const same = said === messageOf(cause) && { cause }
    throw new OperatorError(`${called} cannot be asked: ${said}`, { status, advice, ...same })
  }
}
