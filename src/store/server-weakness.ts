/** What a server says of itself, as far as a mail appliance depends on it. */
export interface ServerFacts {
  /** 150004 is 15.4. */
  version: number
  encoding: string
  /** Of the database; tables of Posthorn compare by bytes, whatever it is. `others`: columns that do not. */
  collation: { name: string; isStale: boolean; others: number }
  /** What it would lose of what it has answered; empty: nothing. */
  weak: readonly ('fsync' | 'full_page_writes' | 'synchronous_commit')[]
  /** Whether the way to it is encrypted; its own name was verified where the address asks for that. */
  isEncrypted: boolean
  /** By its socket, or by an address of this machine. */
  isHere: boolean
  /** Standbys that have each commit before it is answered. */
  synchronousStandbys: number
  standbys: number
  archiving: { isOn: boolean; lastAt: number | null; failedAt: number | null }
  /** Milliseconds since the oldest transaction under way began, and its number of processes' id; it stops vacuum. */
  oldestTransactionMs: number
  inactiveSlots: readonly string[]
  /** Dead rows a live one, of the tables that change most. */
  deadShares: readonly { table: string; dead: number; live: number }[]
  /** Its clock less this machine's, in milliseconds. */
  aheadMs: number
  roundTripMs: number
  connections: { used: number; most: number }
}

/** The oldest server that is good enough. */
export const leastVersion = 150_000

/** Why Posthorn cannot live on a server at all; undefined: it can. */
export function unfitServer({ version, encoding }: ServerFacts): string | undefined {
  if (version < leastVersion) {
    return `it is PostgreSQL ${Math.floor(version / 10_000)}, and 15 is the oldest that Posthorn runs on`
  }
  if (encoding === 'UTF8') return undefined
  return `its encoding is ${encoding}, which has no signs for most names: make one with: create database NAME encoding 'UTF8' template template0`
}

/** Why it may lose what it has answered; undefined: it does not. */
export function weakServer({ weak }: ServerFacts): string | undefined {
  if (weak.length === 0) return undefined
  const { length } = weak
  return `${weak.join(' and ')} ${length === 1 ? 'is' : 'are'} off: what it has answered may be lost with its power`
}
