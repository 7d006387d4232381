import { mkdirSync } from 'node:fs'
import { reportFault } from '../fault.js'
import { makeIds, readLastIds, writersOf } from '../ids.js'
import { ownNodeIn } from '../own-node.js'
import { remembered } from '../remembered.js'
import type { Tables } from '../schema/index.js'
import type { Store, StoreOptions } from '../store.js'
import { joinTurns, type WriteTurns } from '../turns.js'
import { makeCheckpoint } from './checkpoint.js'
import { openConnection } from './connection.js'
import { kyselyOver } from './driver.js'
import { databaseFile } from './files.js'
import { makeGroupCommit } from './group-commit.js'
import { openLogSync } from './log-sync.js'

// The pages that a connection has read are useful only until another one commits, which drops them all
// (sqlite.org/wal.html: the snapshot then differs). So only the pages of one transaction or one query have to fit: a
// transaction, with two hundred mails, changes more than a query reads.
const cacheKb = { writer: 8_000, reader: 2_000 }
// For the moments when another process opens, recovers or closes the database.
const busyTimeoutMs = 2_000
/** The table in which the appliance writes every few seconds that it is alive. */
const signOfLife = 'appliance'

/** Opens the migrated database in its data directory. */
export async function openSqlite(options: StoreOptions): Promise<Store> {
  mkdirSync(options.dataDir, { recursive: true, mode: 0o700 })
  const { onFault, background = false } = options
  const file = databaseFile(options.dataDir)
  const open = (options: { readonly?: boolean; cacheKb: number }) => {
    try {
      return openConnection(file, { ...options, busyTimeoutMs })
    } catch (error) {
      reportFault(error, onFault)
      throw error
    }
  }
  const writer = open({ cacheKb: cacheKb.writer })
  // SQLite's busy handler would block the event loop; the group commit pauses and retries instead.
  writer.pragma('busy_timeout = 0')
  // SQLite's sync at each commit blocks too; the group commit has its own.
  writer.pragma('synchronous = normal')
  let isChanging = false
  const onChange = () => {
    isChanging = true
  }
  let changed: 'nothing' | 'alive' | 'more' = 'nothing'
  const onRows = (table: string) => {
    if (table !== signOfLife) changed = 'more'
    else if (changed === 'nothing') changed = 'alive'
  }
  const tx = kyselyOver<Tables>(writer, onFault, { tables: remembered, onChange, onRows })
  const reader = open({ readonly: true, cacheKb: cacheKb.reader })
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
      if (changed !== 'nothing') turns.noteCommit(changed === 'more')
      changed = 'nothing'
    },
    maxCommitsPerFlush: background ? 20 : 4,
    clock: options.clock,
    onCommit: options.onCommit,
    onTurn: options.onTurn,
    onFault,
  })
  // The reader's own connection writes nothing, so that it sees everybody's commits.
  const commits = () => Number(reader.pragma('data_version', { simple: true }))
  return {
    read,
    write,
    // There is one writer at a time, so a work by row needs nothing else.
    byRow: write,
    gather,
    node: ownNodeIn(options.turns),
    ids: makeIds(
      options.clock,
      writersOf(options.slot),
      await readLastIds((query) => reader.prepare(query).pluck().get()),
    ),
    checkpoint: makeCheckpoint({
      databaseFile: file,
      raw: reader,
      busyTimeoutMs,
      write,
      turns,
      onFault,
    }),
    commits,
    deeds: countDeeds(commits, turns),
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

/** The deeds of this process, plus the commits of other processes. */
function countDeeds(commits: () => number, turns: Pick<WriteTurns, 'commits'>): () => number {
  let seen: { version: number; own: number } | undefined
  let foreign = 0
  return () => {
    const version = commits()
    const { all: own, deeds } = turns.commits()
    if (seen !== undefined && version !== seen.version && own === seen.own) foreign++
    seen = { version, own }
    return deeds + foreign
  }
}
