import { sql } from 'kysely'
import { type Clock, pause } from '../clock/index.js'
import { packageVersion } from '../config/index.js'
import { OperatorError } from '../errors/index.js'
import {
  databaseClock,
  endedTransactions,
  type Read,
  type Store,
  type TransactionCounts,
  type Tx,
} from '../store/index.js'
import type { FileHashes } from './files.js'

/** How long an appliance without a sign of life still counts as alive. */
export const leaseMs = 10_000

/** What an appliance knows of its hold. */
export interface Holding {
  name: string
  number: number
  epoch: number
  /** The last sign of life that the database has acknowledged. */
  beat: number
  /** No other appliance was alive when it came. */
  isFirst: boolean
  /** It shall take nothing new, and give up what it has. */
  isDraining: boolean
  /** When this number changes, it shall look for work. */
  wakes: number
  others: OthersSeen
}

/** What a sign of life saw of the others. */
export interface OthersSeen {
  /**
   * Changes when anybody else has committed more than signs of life. It may be smaller by up to `unsure`, as some of
   * this appliance's own transactions may or may not have ended in time to be counted.
   */
  commits: number
  unsure: number
  /** Changes when a node has come or gone, drains, or has a different clock from the database's. */
  standing: number
  /**
   * How long the lease lasts that ends first among those whose epoch is not over; infinite if this appliance is
   * alone.
   */
  leaseLeftMs: number
}

const nobody: OthersSeen = {
  commits: 0,
  unsure: 0,
  standing: 0,
  leaseLeftMs: Number.POSITIVE_INFINITY,
}

/** The node that holds the database, and how long it has given no sign of life. */
export interface OtherNode {
  name: string
  version: string
  silentMs: number
}

/** An appliance that starts, and whether others that join may be alive. */
export interface Comer {
  name: string
  joins: boolean
  /** A hash of the operator's plans, which must equal the others'; empty for those of the release. */
  plans?: string
  /** Hashes of the other files that all nodes must share. */
  files?: FileHashes
  /** The last migration that its release knows. */
  schema?: string
  /** Its weight among the others, for its share of the duties. */
  weight?: number
}

/** Rows of nodes that are alive. */
export const areAlive = (read: Read | Tx) =>
  read.selectFrom('nodes').where('gone_at', 'is', null).where('held_until', '>', databaseClock)

const leaseLookMs = 500

/** Waits until the leases of nodes that have ended are over; resolves with whether a node is alive all the same. */
export async function isAnyAlive(read: Read, clock: Clock): Promise<boolean> {
  for (let waitedMs = 0; ; waitedMs += leaseLookMs) {
    const living = await areAlive(read).select('name').execute()
    if (living.length === 0 || waitedMs > leaseMs) return living.length > 0
    await pause(clock, leaseLookMs)
  }
}

/**
 * The appliance that keeps `comer` from starting now: it has the same name, or one of the two must be alone.
 */
export async function holderOf(read: Read | Tx, comer: Comer): Promise<OtherNode | undefined> {
  const rows = await areAlive(read)
    .select(['name', 'version', 'joins'])
    .select((eb) => eb(eb.ref('held_until'), '-', databaseClock).as('left_ms'))
    .execute()
  const row = rows.find(({ name, joins }) => name === comer.name || !comer.joins || joins === 0)
  if (row === undefined) return undefined
  return { name: row.name, version: row.version, silentMs: Math.max(0, leaseMs - row.left_ms) }
}

// As many as `writersOfNode` has numbers for.
const mostNodes = 31

/**
 * Takes the database for `leaseMs`, which `beat` prolongs; undefined while another appliance prevents it. An appliance
 * that ended without giving it back holds it until its lease is over, as nobody can know that it is dead. With `isFile`
 * nobody else can be there, as the data directory is locked.
 */
export async function takeDatabase(
  { write }: Pick<Store, 'write'>,
  {
    name,
    joins,
    plans = '',
    files = {},
    schema = '',
    weight = 1,
    isFile = false,
  }: Comer & { isFile?: boolean },
): Promise<Holding | undefined> {
  const version = packageVersion()
  return await write(async (tx) => {
    if (!isFile && (await holderOf(tx, { name, joins })) !== undefined) return undefined
    const living = isFile ? [] : await areAlive(tx).select(['name', 'plans']).execute()
    refuseOther(living, plans)
    const isFirst = living.length === 0
    const rows = await tx.selectFrom('nodes').select(['name', 'number', 'epoch', 'beat']).execute()
    // The numbers belong to the rows, so a single appliance continues with its predecessor's.
    const own = rows.find((row) => row.name === name) ?? (isFirst && !joins ? rows[0] : undefined)
    const number = own?.number ?? freeNumber(rows.map((row) => row.number))
    const epoch = await drawEpoch(tx, Math.max(0, ...rows.map((row) => row.epoch)))
    // The beats of all nodes form one series of numbers, which shows if the database went back.
    const beat = Math.max(0, ...rows.map((row) => row.beat)) + 1
    if (own !== undefined && own.name !== name)
      await tx.deleteFrom('nodes').where('name', '=', own.name).execute()
    // What it has told stays until it tells it anew: the others go by that, and must not miss it meanwhile.
    const values = {
      number,
      epoch,
      beat,
      version,
      schema,
      weight,
      plans,
      files: JSON.stringify(files),
      held_until: 0,
      joins: joins ? 1 : 0,
      gone_at: null,
      ended_well: 0,
      draining: 0,
      taken_over: 0,
      address: '',
      wakes: 0,
    } as const
    await tx
      .insertInto('nodes')
      .values({ name, ...values })
      .onConflict((conflict) => conflict.column('name').doUpdateSet(values))
      .execute()
    await tx
      .updateTable('nodes')
      .set((eb) => ({
        started_at: databaseClock,
        // For a file the row only says who had it last; the hold ends with the process.
        held_until: isFile ? 0 : eb(databaseClock, '+', leaseMs),
      }))
      .where('name', '=', name)
      .execute()
    return { name, number, epoch, beat, isFirst, isDraining: false, wakes: 0, others: nobody }
  })
}

/**
 * Nodes with other plans would treat the same mail differently. They may have different releases, as far as the schema
 * allows.
 */
function refuseOther(living: readonly { name: string; plans: string }[], plans: string): void {
  const other = living.find((one) => one.plans !== plans)
  if (other === undefined) return
  throw new OperatorError(
    `The plans of this node (plans.toml) are other ones than those of ${other.name}: give all nodes the same file`,
  )
}

/** Never given twice, even if a node's row was forgotten. */
async function drawEpoch(tx: Tx, ofRows: number): Promise<number> {
  const row = await tx.selectFrom('appliance').select('last_epoch').executeTakeFirst()
  const epoch = Math.max(row?.last_epoch ?? 0, ofRows) + 1
  await tx.updateTable('appliance').set({ last_epoch: epoch }).execute()
  return epoch
}

function freeNumber(taken: readonly number[]): number {
  for (let number = 1; number <= mostNodes; number++) if (!taken.includes(number)) return number
  throw new OperatorError(
    `The database knows ${mostNodes} nodes, and can have no more: 'posthorn node forget NAME' drops one that does not come back`,
  )
}

/** The number of an appliance's last sign of life in the database; for an unknown appliance, the last of any. */
export async function lastBeatOf(read: Read | Tx, name: string): Promise<number> {
  const rows = await read.selectFrom('nodes').select(['name', 'beat']).execute()
  const own = rows.find((row) => row.name === name)
  return own?.beat ?? Math.max(0, ...rows.map(({ beat }) => beat))
}

/** How far a clock may differ from the database's before its node loses its duties. */
export const mostClockOffMs = 5_000

/**
 * The state of all nodes whose epochs are not over, as one number: each possible state adds a value
 * of its own.
 */
const standing = sql<number | null>`(select sum(epoch * 4 + draining * 2
  + case when abs(clock_ahead_ms) > ${sql.lit(mostClockOffMs)} then 1 else 0 end)
  from nodes where gone_at is null)`

/**
 * A sign of life, whose statement also reads what others did. Undefined: others have ended this appliance's epoch, and
 * it has to end. `transactions` counts its own, this one included; `alongside` is written with it.
 */
export async function beat(
  { byRow }: Pick<Store, 'byRow'>,
  held: Holding,
  now: number,
  {
    transactions = () => ({ begun: 0, underWay: 1 }),
    alongside,
  }: { transactions?: () => TransactionCounts; alongside?: (tx: Tx) => Promise<unknown> } = {},
): Promise<Holding | undefined> {
  let own = transactions()
  const row = await byRow(async (tx) => {
    await alongside?.(tx)
    // Counted here, as a transaction that lost against another runs again.
    own = transactions()
    return await tx
      .updateTable('nodes')
      .set((eb) => ({
        beat: eb('beat', '+', 1),
        held_until: eb(databaseClock, '+', leaseMs),
        clock_ahead_ms: eb(eb.val(now), '-', databaseClock),
      }))
      .where('name', '=', held.name)
      .where('epoch', '=', held.epoch)
      .where('gone_at', 'is', null)
      .returning((eb) => [
        'beat',
        'draining',
        'wakes',
        'held_until',
        endedTransactions.as('ended'),
        // Each beat is a transaction that did nothing else.
        eb
          .selectFrom('nodes as other')
          .select(({ fn }) => fn.sum<number>('other.beat').as('beats'))
          .where('other.name', '<>', held.name)
          .as('other_beats'),
        eb
          .selectFrom('nodes as other')
          .select(({ fn }) => fn.min<number>('other.held_until').as('until'))
          .where('other.name', '<>', held.name)
          .where('other.gone_at', 'is', null)
          .as('others_until'),
        standing.as('standing'),
      ])
      .executeTakeFirst()
  })
  if (row === undefined) return undefined
  const until = row.others_until ?? Number.POSITIVE_INFINITY
  return {
    ...held,
    beat: row.beat,
    isDraining: row.draining === 1,
    wakes: row.wakes,
    others: {
      // The asking transaction has not ended yet.
      commits: row.ended - (own.begun - own.underWay) - (row.other_beats ?? 0),
      unsure: Math.max(0, own.underWay - 1),
      standing: row.standing ?? 0,
      leaseLeftMs: until - (row.held_until - leaseMs),
    },
  }
}

/** Called at an orderly end, so that the next appliance need not wait. */
export async function releaseDatabase(
  { byRow }: Pick<Store, 'byRow'>,
  held: Holding,
): Promise<void> {
  await byRow((tx) =>
    tx
      .updateTable('nodes')
      .set({ held_until: 0, gone_at: databaseClock, ended_well: 1 })
      .where('name', '=', held.name)
      .where('epoch', '=', held.epoch)
      .where('gone_at', 'is', null)
      .execute(),
  )
}
