import type { Kysely } from 'kysely'
import { exitStatus, messageOf, OperatorError } from '../../errors/index.js'
import { databaseClock } from '../fragments.js'
import { databaseCalled, type FoundDatabase } from '../place.js'
import type { Tables } from '../schema/index.js'
import { type SchemaState, stateOf } from '../schema-state.js'
import { serverAdvice } from '../server-advice.js'
import { withConnection } from './server.js'

/** Looks and makes nothing. Throws an OperatorError where the server cannot be asked. */
export async function findPostgres(url: string): Promise<FoundDatabase> {
  return await looking(url, async (db) => {
    const tables = await tablesOf(db)
    if (!tables.includes('accounts')) return { kind: 'empty' }
    const known = await db.selectFrom('appliance').select('key_check').executeTakeFirst()
    return { kind: 'there', keyCheck: known?.key_check }
  })
}

/** See `livingNodes` in `index.ts`: by the columns that the table has had from the beginning. */
export async function livingNodes(url: string): Promise<string[]> {
  return await looking(url, async (db) => {
    if (!(await tablesOf(db)).includes('nodes')) return []
    const rows = await db
      .selectFrom('nodes')
      .select('name')
      .where('held_until', '>', databaseClock)
      .execute()
    return rows.map(({ name }) => name)
  })
}

/** How its schema stands to a release with the migrations `known`. */
export async function readPostgresState(
  url: string,
  known: readonly string[],
): Promise<SchemaState> {
  return await looking(url, async (db) => {
    const tables = await tablesOf(db)
    if (!tables.includes('kysely_migration')) return stateOf([], known, undefined)
    const notes = db as unknown as Kysely<{ kysely_migration: { name: string } }>
    const executed = await notes
      .selectFrom('kysely_migration')
      .select('name')
      .orderBy('name')
      .execute()
    const last = tables.includes('releases')
      ? await db
          .selectFrom('releases')
          .select('version')
          .orderBy('id', 'desc')
          .limit(1)
          .executeTakeFirst()
      : undefined
    return stateOf(
      executed.map(({ name }) => name),
      known,
      last?.version,
    )
  })
}

const tablesOf = async (db: Kysely<Tables>) =>
  (await db.introspection.getTables({ withInternalKyselyTables: true })).map(({ name }) => name)

/** Whoever starts something wants to know why it is not there, and not which class of error that is. */
export async function looking<T>(
  url: string,
  look: (db: Kysely<Tables>) => Promise<T>,
): Promise<T> {
  try {
    return await withConnection(url, look)
  } catch (cause) {
    const said = messageOf(cause)
    // What the library says where it was given none.
    const why =
      said.startsWith('SASL') && said.includes('password must be') ? 'it wants a password' : said
    const called = databaseCalled({ dataDir: '', url })
    throw new OperatorError(`${called} cannot be asked: ${why}`, {
      status: exitStatus.failed,
      advice: serverAdvice(cause) ?? 'see whether it runs, and whether this machine reaches it',
      cause,
    })
  }
}
