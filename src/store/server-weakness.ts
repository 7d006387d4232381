/** What a server says about itself, as far as a mail appliance depends on it. */
export interface ServerFacts {
  /** 150004 is 15.4. */
  version: number
  encoding: string
  isStandby: boolean
  /** Whether the role may make tables in its schema. */
  mayMakeTables: boolean
  /**
   * The database's collation; Posthorn's tables compare by bytes, whatever it is. `others`: how many columns do not.
   */
  collation: { name: string; isStale: boolean; others: number }
  /** The settings by which it could lose what it has confirmed; empty: none. */
  weak: readonly ('fsync' | 'full_page_writes' | 'synchronous_commit')[]
  /** Whether the connection is encrypted; the server's name was verified where the URL asks for that. */
  isEncrypted: boolean
  /** Whether it is reached by its socket, or by an address of this machine. */
  isHere: boolean
  /** Standbys that have each commit before it is answered. */
  synchronousStandbys: number
  standbys: number
  archiving: { isOn: boolean; lastAt: number | null; failedAt: number | null }
  /**
   * Milliseconds since the oldest transaction under way began, and the id of its process; such a transaction stops
   * vacuum.
   */
  oldestTransactionMs: number
  inactiveSlots: readonly string[]
  /** Dead and live rows of the tables that change most. */
  deadShares: readonly { table: string; dead: number; live: number }[]
  /** Its clock less this machine's, in milliseconds. */
  aheadMs: number
  roundTripMs: number
  connections: { used: number; most: number }
}

/** The oldest server that is good enough. */
export const leastVersion = 150_000

/** Why Posthorn cannot use a server at all; undefined: it can. `isNew`: tables are still to be made there. */
export function unfitServer(
  { version, encoding, isStandby, mayMakeTables }: ServerFacts,
  isNew: boolean,
): string | undefined {
  if (version < leastVersion) {
    return `it is PostgreSQL ${Math.floor(version / 10_000)}, and 15 is the oldest that Posthorn runs on`
  }
  if (isStandby) {
    return 'it is a standby, which takes no writes: name the primary, or all hosts of them, in store.url'
  }
  if (isNew && !mayMakeTables) {
    return 'the user of store.url may make no tables there: make it the owner of the database'
  }
  if (encoding === 'UTF8') return undefined
  return `its encoding is ${encoding}, which has no signs for most names: make one with: create database NAME encoding 'UTF8' template template0`
}

/** Why the server may lose what it has confirmed; undefined: it does not. */
export function weakServer({ weak }: ServerFacts): string | undefined {
  if (weak.length === 0) return undefined
  const { length } = weak
  return `${weak.join(' and ')} ${length === 1 ? 'is' : 'are'} off: what it has answered may be lost with its power`
}
