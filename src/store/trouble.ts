/** What an error of the database means, whichever engine it comes from. Each engine decides it for its own errors. */
export interface StoreTrouble {
  /**
   * For messages: `denied` it cannot be opened or written, `full` the disk has no room, `failing` the disk gives
   * errors, `busy` another process writes, `damaged` the file is damaged.
   */
  kind: 'denied' | 'full' | 'failing' | 'busy' | 'damaged' | 'other'
  /** True: the error passes by itself and no item is at fault; everything has to be tried again. */
  passes: boolean
  /** After it nothing that the database says can be trusted. */
  fault?: StoreFault['kind'] | undefined
}

/**
 * After these nobody may go on with the database: `corrupt`: the file is damaged, or is not a database; further
 * writes may damage more of it. `unsynced`: a sync has failed. Linux then takes the pages for written and drops them,
 * and the next sync succeeds without them (PostgreSQL ends its process for that reason since 2018, 'fsyncgate').
 */
export interface StoreFault {
  kind: 'corrupt' | 'unsynced'
  message: string
}

/** Called in the thread that meets the fault, before anybody is answered; it has to end the process. */
export type OnFault = (fault: StoreFault) => void
