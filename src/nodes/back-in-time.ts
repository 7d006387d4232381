import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  type DatabasePlace,
  databaseCalled,
  type Read,
  type Tx,
  writeDurably,
} from '../store/index.js'
import { isTable } from '../toml/index.js'

/** The last sign of life that the database acknowledged to this data directory's appliance. */
export interface LastBeat {
  beat: number
  /** By the appliance's clock. */
  at: number
}

// After a crash of the machine it may be some seconds older, and then notices less.
const file = (dataDir: string) => join(dataDir, 'store.beat')

/** Undefined if there is none yet, or it is damaged. */
export function readLastBeat(dataDir: string): LastBeat | undefined {
  try {
    const found: unknown = JSON.parse(readFileSync(file(dataDir), 'utf8'))
    if (!isTable(found) || typeof found.beat !== 'number' || typeof found.at !== 'number') return
    return { beat: found.beat, at: found.at }
  } catch {
    return undefined
  }
}

export const writeLastBeat = (dataDir: string, last: LastBeat) =>
  writeDurably(file(dataDir), JSON.stringify(last))

/** The beats come every two seconds. */
export const beatEveryMs = 2_000

/**
 * By how many milliseconds a database with this `beat` went back; undefined if it did not. It did if it knows fewer
 * signs of life than it acknowledged: a backup was restored, or a standby without the last commits was promoted.
 */
export function wentBack(last: LastBeat | undefined, beat: number): number | undefined {
  if (last === undefined || beat >= last.beat) return undefined
  return (last.beat - beat) * beatEveryMs
}

/** When a node noticed that the database went back, and by how many milliseconds. */
export interface MarkedLoss {
  at: number
  ms: number
}

/** What a node has noticed and nobody has accepted: a node that was away meanwhile cannot notice it. */
export async function markedLoss(read: Read): Promise<MarkedLoss | undefined> {
  const row = await read
    .selectFrom('appliance')
    .select(['went_back_at as at', 'went_back_ms as ms'])
    .executeTakeFirst()
  if (row === undefined || row.at === null || row.ms === null) return undefined
  return { at: row.at, ms: row.ms }
}

/** Writes down what a node has noticed; undefined: it is accepted. */
export async function markLoss(tx: Tx, loss: MarkedLoss | undefined): Promise<void> {
  const { at = null, ms = null } = loss ?? {}
  await tx.updateTable('appliance').set({ went_back_at: at, went_back_ms: ms }).execute()
}

/** The sentence about it, to follow its name, and what to do. */
export const backInWords = (ms: number) => ({
  went: `went back by about ${Math.ceil(ms / 1_000)} seconds: a backup was put back, a standby without the last commits was made the primary, or the primary of before a failover runs again. Nothing is taken or sent`,
  fix: "If it is the primary of before, stop it and accept nothing: the present one is found then. Else 'posthorn database accept --held' goes on and holds what waits, as it may have been sent since; '--lost' goes on as if nothing had been, where only those seconds are gone",
})

export function saysBack(database: DatabasePlace, ms: number): string {
  const { went, fix } = backInWords(ms)
  return `${databaseCalled(database)} ${went}. ${fix}`
}
