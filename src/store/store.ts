import type { Clock } from '../clock/index.js'
import type { Ids } from './ids.js'
import type { OwnNode } from './own-node.js'
import type { DatabasePlace } from './place.js'
import type { Read } from './schema/index.js'
import type { OnFault } from './trouble.js'
import type { Gather, Write } from './writing.js'

/**
 * The interface of an engine for the rest of the appliance, one for each thread. README.md says what each must
 * promise.
 */
export interface Store {
  /** Sees what is committed; never used inside a `write`, which has its own `tx`. */
  readonly read: Read
  readonly write: Write
  /**
   * For works that rely on the conditions of their own statements, so that others may write between two statements.
   * Several works of a thread may be under way at once, in no order.
   */
  readonly byRow: Write
  readonly gather: Gather
  readonly ids: Ids
  readonly node: OwnNode
  /**
   * Copies what is committed from the write-ahead log into the database, and brings that to the disk. Blocks this
   * thread, for tenths of a second under load; others wait for some milliseconds while the rest of a long log is
   * copied. Rejects when the disk is full. With `shrink` the log, which otherwise keeps its largest size, is also cut
   * off once all of it is copied; writers wait meanwhile.
   */
  checkpoint(options?: { shrink?: boolean }): Promise<void>
  /**
   * A number that changes after a commit of any thread or process: cheaper to ask than any table. Over a server,
   * another process's commit is noticed with the next sign of life, at most two seconds later; signs of life
   * themselves do not count.
   */
  commits(): number
  /**
   * A number that changes after such a commit, unless it only says that the appliance is alive, as it does every few
   * seconds. A commit of another process in the same second as that is missed.
   */
  deeds(): number
  /** Frees the pages of the database that both connections keep in memory. */
  forgetPages(): void
  /** A number that changes when any thread of this process has changed what is remembered (`rememberRows`). */
  changes(): number
  /** Finishes the writes under way, then closes both connections. */
  close(): Promise<void>
}

/** Metrics of the connection to a server. */
export interface WayThere {
  transaction(kind: 'write' | 'by_row' | 'gather', seconds: number): void
  /** A transaction runs again. */
  retried(cause: 'serialization' | 'deadlock' | 'taken' | 'aborted'): void
  /** The time that was waited for a connection. */
  waited(seconds: number): void
  /** A statement was sent. */
  asked(): void
}

export interface StoreOptions extends DatabasePlace {
  clock: Clock
  /** Shared by all threads of the appliance (`makeTurns`). */
  turns: SharedArrayBuffer
  /**
   * The thread's own number in `turns`, which makes its ids differ from others': the main thread has 0, `app` numbers
   * the others.
   */
  slot: number
  /**
   * For work in which nobody waits for a single write: clients' writes go before it, and fewer syncs disturb them.
   */
  background?: boolean
  onCommit?: (writes: number, seconds: number) => void
  /** Called with how long the thread waited for its turn before a transaction. */
  onTurn?: (seconds: number) => void
  /** For a database on a server; for metrics. */
  wayThere?: WayThere
  /** Without it a fault is an error like others; for commands, which end with it anyway. */
  onFault?: OnFault
}
