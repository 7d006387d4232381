/**
 * The database: the interface of an engine (`store.ts`), and two engines, `sqlite/` and `postgres/`. Every thread
 * opens it once: `read` for its own queries, `write` and `gather` for the group commit. What must hold: a resolved
 * write is on disk; nothing writes in another way; no thread waits for another in the engine. README.md says what
 * each engine must promise.
 */

import type { Clock } from '../clock/index.js'
import type { DatabasePlace, FoundDatabase, LivingNode } from './place.js'
import type { Read } from './schema/index.js'
import type { SchemaState } from './schema-state.js'
import type { ServerFacts } from './server-weakness.js'
import type { CopiedTable } from './sqlite/copy-over.js'
import { findSqlite } from './sqlite/found.js'
import { openSqlite } from './sqlite/open.js'
import type { Store, StoreOptions } from './store.js'

export { aloneWith } from './alone-with.js'
export { cursorOf, idInCursor, pageOf, textCursorOf, textInCursor } from './cursor.js'
export {
  type DiskRoom,
  diskRoom,
  isOutOfRoom,
  reserveBytesOf,
  reservedBytes,
  reserveFile,
  scarceBytes,
} from './disk-room.js'
export { copyDurably, removeDurably, renameDurably, writeDurably } from './durable.js'
export {
  type GivenExtras,
  keptOf,
  type MailExtras,
  type MailTag,
  readExtras,
  storedJson,
  storedObject,
  storedTexts,
  type WholeExtras,
  wholeExtras,
  writeExtras,
} from './extras.js'
export { databaseTrouble, isFenced, isPassing, wordsOfCause } from './fault.js'
export {
  boundCell,
  boundValue,
  cell,
  contains,
  databaseClock,
  endedTransactions,
  greatest,
  idsIn,
  idsOf,
  least,
  likeAnyCase,
  locked,
  lockedFree,
  mailNumber,
  ofAnyNode,
  ownNode,
  rareStatus,
  rowsOf,
  unindexed,
  wholeTo,
} from './fragments.js'
export {
  acceptedAt,
  firstSerialAt,
  firstUuidAt,
  type Ids,
  isTestId,
  newUuid,
  nobodysSerial,
  uuidTime,
} from './ids.js'
export { lookUpTogether } from './look-up-together.js'
export {
  becomeNode,
  monotonicMs,
  noteAlive,
  noteOthers,
  noteOthersCommit,
  type OwnNode,
  ownNodeIn,
} from './own-node.js'
export {
  type DatabasePlace,
  databaseCalled,
  type FoundDatabase,
  type LivingNode,
  withoutSecrets,
} from './place.js'
export { prepared, preparedInsert, preparedInsertAll, preparedOver } from './prepared.js'
export { type QueueClass, queueClass } from './queue-class.js'
export { rememberRows } from './remembered.js'
export { databaseBytes, isRemote, readPages } from './running.js'
export type * from './schema/index.js'
export { isUnreleased, type SchemaState, sayUnreleased, whyNotBeside } from './schema-state.js'
export { serverAdvice } from './server-advice.js'
export { type ServerFacts, unfitServer, weakServer } from './server-weakness.js'
export { sinceCommit } from './since-commit.js'
export { copyDatabase } from './sqlite/copy.js'
export { databaseFile, filesBeside } from './sqlite/files.js'
export { giveBackPages, vacuumStore } from './sqlite/give-back-pages.js'
export { type Inspection, inspectDatabase, sealCopy } from './sqlite/inspect.js'
export { tryLockFile } from './sqlite/lock.js'
export { readSchemaState } from './sqlite/schema-state.js'
export { emptyWal, walBytes } from './sqlite/wal.js'
export type { Store, StoreOptions } from './store.js'
export type { OnFault, StoreFault } from './trouble.js'
export {
  bulkSlot,
  commandSlot,
  forgetTurn,
  joinTurns,
  makeTurns,
  type TransactionCounts,
} from './turns.js'
export { eachApart, writeApart } from './write-apart.js'
export { type Gather, gatherAlone, type Tx, type Write, type WriteTogether } from './writing.js'

/** Opens the migrated database; `migrateStore` has to run before, once in a process. */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { url } = options
  if (url === undefined) return await openSqlite(options)
  // Loaded only by appliances that use one.
  return await (await import('./postgres/open.js')).openPostgres({ ...options, url })
}

/** What a PostgreSQL server says about itself. Throws an OperatorError where it does not answer. */
export async function readServerFacts(url: string, clock: Clock): Promise<ServerFacts> {
  return await (await import('./postgres/server-facts.js')).readServerFacts(url, clock)
}

/** See `no-answer.ts`. */
export async function answeringNothing(why: unknown): Promise<Read> {
  return (await import('./postgres/no-answer.js')).answeringNothing(why)
}

/** See `rights.ts`; only for a database on a server. */
export async function refusedTable(read: Read): Promise<string | undefined> {
  return await (await import('./postgres/rights.js')).refusedTable(read)
}

/** What exists before anything is opened or made. */
export async function findDatabase({ dataDir, url }: DatabasePlace): Promise<FoundDatabase> {
  if (url === undefined) return findSqlite(dataDir)
  return await (await import('./postgres/found.js')).findPostgres(url)
}

/** The appliances that are alive by a server's database, whatever schema it has. */
export async function livingNodes({ url }: DatabasePlace): Promise<LivingNode[]> {
  if (url === undefined) return []
  return await (await import('./postgres/found.js')).livingNodes(url)
}

/**
 * Brings the database up to date; resolves with what a server said about itself. The code is loaded only here,
 * because otherwise each thread would load all migrations.
 */
export async function migrateStore(
  place: DatabasePlace,
  isServed?: () => boolean,
): Promise<ServerFacts | undefined> {
  return await (await import('./migrate.js')).migrateStore(place, isServed)
}

/** See `migrate.ts`. */
export async function requireFit(place: DatabasePlace, of: { isNew: boolean }): Promise<void> {
  await (await import('./migrate.js')).requireFit(place, of)
}

/** See `migrate.ts`. */
export async function contractsOf(place: DatabasePlace): Promise<readonly string[]> {
  return await (await import('./migrate.js')).contractsOf(place)
}

/** See `migrate.ts`; `noteContract` only writes down that it is about to be done. */
export async function contractStore(place: DatabasePlace): Promise<void> {
  await (await import('./migrate.js')).contractStore(place)
}

/** See `migrate.ts`. */
export async function noteContract(place: DatabasePlace): Promise<void> {
  await (await import('./migrate.js')).noteContract(place)
}

/** Copies a database of SQLite into a PostgreSQL; see `copy-over.ts`. */
export async function copyOver(
  ...given: Parameters<typeof import('./sqlite/copy-over.js')['copyOver']>
): Promise<CopiedTable[]> {
  return await (await import('./sqlite/copy-over.js')).copyOver(...given)
}

/** Marks an empty PostgreSQL as one that is being copied to, until `copyOver` has ended. */
export async function markUnfinished(url: string): Promise<void> {
  await (await import('./postgres/unfinished-copy.js')).markUnfinished(url)
}

/** Whether this version has the last migration of a database. */
export async function knowsSchema(name: string): Promise<boolean> {
  return (await import('./migrate.js')).knowsSchema(name)
}

/** The name of the last migration of this release. */
export async function latestSchema(): Promise<string> {
  return (await import('./migrate.js')).latestSchema()
}

/** How a database's schema relates to this release. It only reads. */
export async function schemaState(place: DatabasePlace): Promise<SchemaState> {
  return await (await import('./migrate.js')).schemaState(place)
}
