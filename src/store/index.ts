import { mkdirSync } from 'node:fs'
import type { Clock } from '../clock/index.js'
import { databaseFile, kyselyOver, openConnection } from './dialect.js'
import { type OnFault, reportFault } from './fault.js'
import { makeGroupCommit } from './group-commit.js'
import { type Ids, makeIds, readLastIds } from './ids.js'
import { openLogSync } from './log-sync.js'
import { remembered } from './remembered.js'
import type { Read, Tables } from './schema.js'
import type { SchemaState } from './schema-state.js'
import { joinTurns } from './turns.js'
import type { Gather, Write } from './writing.js'

export { copyDatabase } from './copy.js'
export { cursorOf, idInCursor, pageOf, textCursorOf, textInCursor } from './cursor.js'
export { cell, databaseFile, idsIn, idsOf, lastNumber, rowsOf, unindexed } from './dialect.js'
export { type DiskRoom, diskRoom } from './disk-room.js'
export { copyDurably, removeDurably, renameDurably, writeDurably } from './durable.js'
/**
 * The one SQLite file. Every thread opens it once: `read` for queries of their own, `write` for the
 * group commit. What must hold: a resolved `write` is on disk (WAL, synced before it is answered); nothing
 * writes outside it; no thread waits for another in SQLite's busy handler. See README.md.
 */
export {
  type MailExtras,
  type MailTag,
  readExtras,
  storedJson,
  storedObject,
  storedTexts,
  writeExtras,
} from './extras.js'
export { databaseTrouble, isPassing, type OnFault, type StoreFault } from './fault.js'
export { type FoundDatabase, findDatabase } from './found.js'
export { giveBackPages, readPages, vacuumStore } from './give-back-pages.js'
export {
  acceptedAt,
  firstSerialAt,
  firstUuidAt,
  type Ids,
  mailNumber,
  newUuid,
  nobodysSerial,
  uuidTime,
} from './ids.js'
export { type Inspection, inspectDatabase, sealCopy } from './inspect.js'
export { tryLockFile } from './lock.js'
export { lookUpTogether } from './look-up-together.js'
export { prepared, preparedInsert, preparedInsertAll } from './prepared.js'
export { rememberRows } from './remembered.js'
export * from './schema.js'
export { readSchemaState, type SchemaState } from './schema-state.js'
export { forgetTurn, makeTurns } from './turns.js'
export { emptyWal, walBytes } from './wal.js'
export { eachApart, writeApart } from './write-apart.js'
export type { Gather, Tx, Write, WriteTogether } from './writing.js'

export interface Store {
  /** Sees what is committed; never used inside a `write`, which has its own `tx`. */
  readonly read: Read
  readonly write: Write
  readonly gather: Gather
  readonly ids: Ids
  /**
   * Copies what is committed from the write-ahead log into the database. Blocks this thread, for
   * tenths of a second under load, and holds up no other. Throws when the disk is full.
   */
  checkpoint(): void
  /** A number that is another one after a commit of any thread or process: cheaper to ask than any table. */
  commits(): number
  /** Frees the pages of the database that both connections keep in memory. */
  forgetPages(): void
  /** Another number when any thread of this process has changed what is remembered (`rememberRows`). */
  changes(): number
  /** Finishes the writes under way, then closes both connections. */
  close(): Promise<void>
}

export interface StoreOptions {
  dataDir: string
  clock: Clock
  /** Shared by all threads of the appliance (`makeTurns`). */
  turns: SharedArrayBuffer
  /** The thread's own number in `turns`: main 0, the others as `app` numbers them. */
  slot: number
  /**
   * For work of which nobody waits for a single write: clients' writes go before it (`turns.ts`), and fewer
   * syncs disturb theirs.
   */
  background?: boolean
  onCommit?: (writes: number, seconds: number) => void
  /** How long it waited for its turn before a transaction. */
  onTurn?: (seconds: number) => void
  /** Without it a fault is an error like others, for a command that ends with it anyway. */
  onFault?: OnFault
}

// What a connection has read is of use until another one commits, which drops all of it (sqlite.org/wal.html: its
// snapshot is another one then). So the pages of one transaction or one query have to fit, and no more.
const cacheKb = 8_000
// For the moments in which another process opens, recovers or closes the database.
const busyTimeoutMs = 2_000

/** Brings the database up to date. Loaded by who does so: each thread would load all migrations. */
export async function migrateStore(dataDir: string, isServed?: () => boolean): Promise<void> {
  await (await import('./migrate.js')).migrateStore(dataDir, isServed)
}

/** Whether this version has the migration that a database was brought up to date by last. */
export async function knowsSchema(name: string): Promise<boolean> {
  return (await import('./migrate.js')).knowsSchema(name)
}

/** The name of the last migration of this release. */
export async function latestSchema(): Promise<string> {
  return (await import('./migrate.js')).latestSchema()
}

/** How a database stands to this release, which has to read it: nothing is changed. */
export async function schemaState(dataDir: string): Promise<SchemaState> {
  return (await import('./migrate.js')).schemaState(dataDir)
}

/** Opens the migrated database; `migrateStore` comes first, once a process. */
export function openStore(options: StoreOptions): Store {
  mkdirSync(options.dataDir, { recursive: true, mode: 0o700 })
  const { onFault, background = false } = options
  const file = databaseFile(options.dataDir)
  const open = (options: { readonly?: boolean }) => {
    try {
      return openConnection(file, {
        ...options,
        busyTimeoutMs,
        cacheKb,
      })
    } catch (error) {
      reportFault(error, onFault)
      throw error
    }
  }
  const writer = open({})
  // SQLite's busy handler would block the event loop; the group commit pauses and retries instead.
  writer.pragma('busy_timeout = 0')
  // Its sync at each commit blocks too; the group commit has its own.
  writer.pragma('synchronous = normal')
  let isChanging = false
  const onChange = () => {
    isChanging = true
  }
  const tx = kyselyOver<Tables>(writer, onFault, { tables: remembered, onChange })
  const reader = open({ readonly: true })
  const read = kyselyOver<Tables>(reader, onFault)
  const logSync = openLogSync(file, onFault)
  const turns = joinTurns(options.turns, options.slot, { givesWay: background })
  const { write, gather, idle } = makeGroupCommit({
    raw: writer,
    tx,
    flush: logSync.flush,
    turns,
    afterCommit() {
      if (isChanging) turns.noteChange()
      isChanging = false
    },
    maxCommitsPerFlush: background ? 20 : 4,
    clock: options.clock,
    onCommit: options.onCommit,
    onTurn: options.onTurn,
    onFault,
  })
  return {
    read,
    write,
    gather,
    ids: makeIds(options.clock, options.slot, readLastIds(reader)),
    checkpoint() {
      try {
        reader.pragma('wal_checkpoint(passive)')
      } catch (error) {
        reportFault(error, onFault)
        throw error
      }
    },
    // The reader's own connection writes nothing, so that it sees everybody's commits.
    commits: () => Number(reader.pragma('data_version', { simple: true })),
    forgetPages() {
      for (const raw of [reader, writer]) raw.pragma('shrink_memory')
    },
    changes: turns.changes,
    async close() {
      await idle()
      await logSync.close()
      reader.close()
      writer.close()
    },
  }
}
