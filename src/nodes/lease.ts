import { sql } from 'kysely'
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

/** How long an appliance that gives no sign of life is still taken for alive. */
export const leaseMs = 10_000

/** What an appliance knows of its hold. */
export interface Holding {
  name: string
  number: number
  epoch: number
  /** The last sign of life that the database has acknowledged. */
  beat: number
  /** No other one was alive when it came. */
  isFirst: boolean
  /** It is to take nothing new, and to give up what it has. */
  isDraining: boolean
  /** Another number than the one before: it is to look for what there is to do. */
  wakes: number
  others: OthersSeen
}

/** What a sign of life has seen of the others. */
export interface OthersSeen {
  /**
   * Another number when anybody but this appliance has committed more than signs of life: smaller by up to `unsure`, as
   * some of its own transactions may have ended in time to be counted, and may not.
   */
  commits: number
  unsure: number
  /** Another number when one has come or gone, drains, or has another clock than the database. */
  standing: number
  /** For how long the lease of the first one lasts whose epoch is not over; infinite where this one is alone. */
  leaseLeftMs: number
}

const nobody: OthersSeen = {
  commits: 0,
  unsure: 0,
  standing: 0,
  leaseLeftMs: Number.POSITIVE_INFINITY,
}

/** Who holds it, and since how long it gave no sign of life. */
export interface OtherNode {
  name: string
  version: string
  silentMs: number
}

/** Who comes, and whether others may be there that come in the same way. */
export interface Comer {
  name: string
  joins: boolean
  /** A hash of its plans, which have to be those of the others. */
  plans?: string
  /** Hashes of the other files that all are to go by. */
  files?: FileHashes
  /** The last migration that its release knows. */
  schema?: string
  /** How much of what is shared it takes, beside those of the others. */
  weight?: number
}

/** Rows of nodes that are alive. */
export const areAlive = (read: Read | Tx) =>
  read.selectFrom('nodes').where('gone_at', 'is', null).where('held_until', '>', databaseClock)

/** The appliance that keeps `comer` from coming at this moment: of its name, or one of them is to be alone. */
export async function holderOf(read: Read | Tx, comer: Comer): Promise<OtherNode | undefined> {
  const rows = await areAlive(read)
    .select(['name', 'version', 'joins'])
    .select((eb) => eb(eb.ref('held_until'), '-', databaseClock).as('left_ms'))
    .execute()
  const row = rows.find(({ name, joins }) => name === comer.name || !comer.joins || joins === 0)
  if (row === undefined) return undefined
  return { name: row.name, version: row.version, silentMs: Math.max(0, leaseMs - row.left_ms) }
}

// As `writersOfNode` has numbers for.
const mostNodes = 31

/**
 * Takes the database for `leaseMs`, to be prolonged by `beat`; undefined while another appliance keeps it from that. One
 * that ended without giving it back holds it until its lease is over, whoever asks: nobody can know that it is dead. With
 * `isFile` nobody else can be there, as the data directory is locked.
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
    // Its numbers are those of the rows, so whoever is alone goes on with those of the one before.
    const own = rows.find((row) => row.name === name) ?? (isFirst && !joins ? rows[0] : undefined)
    const number = own?.number ?? freeNumber(rows.map((row) => row.number))
    const epoch = await drawEpoch(tx, Math.max(0, ...rows.map((row) => row.epoch)))
    // The beats of all go on in one row of numbers, by which one sees that the database went back.
    const beat = Math.max(0, ...rows.map((row) => row.beat)) + 1
    if (own !== undefined && own.name !== name)
      await tx.deleteFrom('nodes').where('name', '=', own.name).execute()
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
      records: '',
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
        // Of a file it says who had it last, and ends with the process.
        held_until: isFile ? 0 : eb(databaseClock, '+', leaseMs),
      }))
      .where('name', '=', name)
      .execute()
    return { name, number, epoch, beat, isFirst, isDraining: false, wakes: 0, others: nobody }
  })
}

/** Nodes with other plans would not do the same with one mail. Of two releases they may be, as far as the schema lets them. */
function refuseOther(living: readonly { name: string; plans: string }[], plans: string): void {
  const other = living.find((one) => one.plans !== plans)
  if (other === undefined) return
  throw new OperatorError(
    `The plans of this node (plans.toml) are other ones than those of ${other.name}: give all nodes the same file`,
  )
}

/** Never given twice, also where the row of a node was forgotten. */
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

/** The number of the last sign of life that the database knows of an appliance; of one that it does not know, of whomever. */
export async function lastBeatOf(read: Read | Tx, name: string): Promise<number> {
  const rows = await read.selectFrom('nodes').select(['name', 'beat']).execute()
  const own = rows.find((row) => row.name === name)
  return own?.beat ?? Math.max(0, ...rows.map(({ beat }) => beat))
}

/** By how much a clock may be off the database's before its node has no duties. */
export const mostClockOffMs = 5_000

/** How those stand whose epochs are not over, as a number: what each may be counts by itself. */
const standing = sql<number | null>`(select sum(epoch * 4 + draining * 2
  + case when abs(clock_ahead_ms) > ${sql.lit(mostClockOffMs)} then 1 else 0 end)
  from nodes where gone_at is null)`

/**
 * A sign of life, which sees in the same statement what others have done. Undefined: others have ended its epoch
 * meanwhile, and this appliance has to end. `transactions`: those of its own, this one among them; `alongside` is written
 * with it.
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
    // Here, as one that lost against another runs again.
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
        // Each is a transaction that has done nothing else.
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
      // The one that asks has not ended.
      commits: row.ended - (own.begun - own.underWay) - (row.other_beats ?? 0),
      unsure: Math.max(0, own.underWay - 1),
      standing: row.standing ?? 0,
      leaseLeftMs: until - (row.held_until - leaseMs),
    },
  }
}

/** At an orderly end: the next appliance need not wait. */
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
