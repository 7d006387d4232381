/** What an error of the database means, whatever engine it comes from. Each engine says it of its own errors. */
export interface StoreTrouble {
  /**
   * For who has to tell somebody: `denied` it cannot be opened or written, `full` the disk has no room, `failing` it
   * gives errors, `busy` another process writes, `damaged` the file is.
   */
  kind: 'denied' | 'full' | 'failing' | 'busy' | 'damaged' | 'other'
  /** True: the error passes by itself and no item is at fault; whoever tries again tries all of it again. */
  passes: boolean
  /** After it nothing that the database says can be trusted. */
  fault?: StoreFault['kind'] | undefined
}

/**
 * After these nobody may go on with the database:
 * `corrupt`: the file is damaged, or is no database; what is written next may damage more of it.
 * `unsynced`: a sync has failed. Linux then takes the pages for written and drops them, and the next
 * sync succeeds without them (PostgreSQL ends its process for that reason since 2018, 'fsyncgate').
 */
export interface StoreFault {
  kind: 'corrupt' | 'unsynced'
  message: string
}

/** Is called in the thread that meets the fault, before anybody is answered, and is to end the process. */
export type OnFault = (fault: StoreFault) => void
