import type { Clock } from '../clock/index.js'
import type { Ids } from './ids.js'
import type { OwnNode } from './own-node.js'
import type { DatabasePlace } from './place.js'
import type { Read } from './schema/index.js'
import type { OnFault } from './trouble.js'
import type { Gather, Write } from './writing.js'

/** What an engine is to the rest of the appliance, once a thread. README.md says what each must promise. */
export interface Store {
  /** Sees what is committed; never used inside a `write`, which has its own `tx`. */
  readonly read: Read
  readonly write: Write
  /**
   * For works that stand on the conditions of their own statements, so that somebody else may write between two of them:
   * several of a thread may be under way at once, and they are in no order.
   */
  readonly byRow: Write
  readonly gather: Gather
  readonly ids: Ids
  readonly node: OwnNode
  /**
   * Copies what is committed from the write-ahead log into the database, and brings that to the disk. Blocks this
   * thread, for tenths of a second under load; others wait for some milliseconds while the rest of a long log is copied.
   * Rejects when the disk is full. With `shrink` the log, which otherwise stays as large as it ever was, is cut off too
   * once all of it is copied; writers wait meanwhile.
   */
  checkpoint(options?: { shrink?: boolean }): Promise<void>
  /**
   * A number that is another one after a commit of any thread or process: cheaper to ask than any table. Over a server it
   * is heard of another process's with the next sign of life, two seconds later at most, and signs of life are none.
   */
  commits(): number
  /**
   * Another number after such a commit that did more than say that the appliance is alive, which it does every some
   * seconds. One of another process in the same second as that is missed.
   */
  deeds(): number
  /** Frees the pages of the database that both connections keep in memory. */
  forgetPages(): void
  /** Another number when any thread of this process has changed what is remembered (`rememberRows`). */
  changes(): number
  /** Finishes the writes under way, then closes both connections. */
  close(): Promise<void>
}

/** What is told of the way to a server. */
export interface WayThere {
  transaction(kind: 'write' | 'by_row' | 'gather', seconds: number): void
  /** A transaction runs again. */
  retried(cause: 'serialization' | 'deadlock' | 'taken' | 'aborted'): void
  /** For a connection. */
  waited(seconds: number): void
  /** A statement was sent. */
  asked(): void
}

export interface StoreOptions extends DatabasePlace {
  clock: Clock
  /** Shared by all threads of the appliance (`makeTurns`). */
  turns: SharedArrayBuffer
  /** The thread's own number in `turns`, by which its ids differ from others': main 0, the others as `app` numbers them. */
  slot: number
  /**
   * For work of which nobody waits for a single write: clients' writes go before it, and fewer
   * syncs disturb theirs.
   */
  background?: boolean
  onCommit?: (writes: number, seconds: number) => void
  /** How long it waited for its turn before a transaction. */
  onTurn?: (seconds: number) => void
  /** Of a database on a server; for metrics. */
  wayThere?: WayThere
  /** Without it a fault is an error like others, for a command that ends with it anyway. */
  onFault?: OnFault
}
