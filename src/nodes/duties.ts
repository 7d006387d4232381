import { databaseClock, type OwnNode, type Store, type Tx } from '../store/index.js'
import { areAlive, mostClockOffMs } from './lease.js'

/**
 * What one of the nodes does for all. Whose a duty is stands in the database; two who have one for a moment do nothing
 * twice, as each effect has a condition of its own.
 */
export const dutyNames = [
  /** Sweeps, notices, tasks with contacts, erasures. */
  'chores',
  'calendar',
  'courier',
  'expand',
  'automate',
  'segments',
  /** Roll-up of the figures, the index of recipients, the names of events. */
  'figures',
] as const
export type DutyName = (typeof dutyNames)[number]

/** Whether this appliance has the duty; one that is alone has all of them. */
export const holds = (node: Pick<OwnNode, 'isOthers'>, name: DutyName): boolean =>
  !node.isOthers(dutyNames.indexOf(name))

/** For `noteOthers`: a bit for each duty that is not among those. */
export const othersBits = (own: readonly DutyName[]): number =>
  dutyNames.reduce((bits, name, at) => (own.includes(name) ? bits : bits | (1 << at)), 0)

/** How the duties stand for a node: those that it has, and how many of them are more than its share. */
export interface DutyShare {
  own: DutyName[]
  tooMany: number
  /** How far its clock is ahead of the database's, where that is so far that it has no duties. */
  clockOffMs?: number
}

/** Whether a clock is so far from the database's that what is due by it would come too early or too late for all. */
export const isClockOff = (aheadMs: number): boolean => Math.abs(aheadMs) > mostClockOffMs

/**
 * Takes, up to a fair share, what no living node has. A taking counts where nobody else has taken it since it was looked
 * at. A node that drains takes nothing, and has all of its own too many; and so does one whose clock is off, unless
 * those of all are: then it is the database's that is.
 */
export async function shareDuties(
  { read, byRow }: Pick<Store, 'read' | 'byRow'>,
  { epoch }: { epoch: number },
): Promise<DutyShare> {
  const living = await areAlive(read)
    .where('draining', '=', 0)
    .select(['epoch', 'clock_ahead_ms'])
    .execute()
  const right = living.filter((row) => !isClockOff(row.clock_ahead_ms))
  const epochs = new Set((right.length > 0 ? right : living).map((row) => row.epoch))
  const rows = await read.selectFrom('duties').select(['name', 'epoch']).execute()
  const ownerOf = new Map(rows.map((row) => [row.name, row.epoch]))
  const own = dutyNames.filter((name) => ownerOf.get(name) === epoch)
  if (!epochs.has(epoch)) {
    const clockOffMs = living.find((row) => row.epoch === epoch)?.clock_ahead_ms
    return { own, tooMany: own.length, ...(clockOffMs !== undefined && { clockOffMs }) }
  }
  const fair = Math.ceil(dutyNames.length / epochs.size)
  const free = dutyNames.filter((name) => !epochs.has(ownerOf.get(name) ?? 0))
  // A transaction for nothing would have the others look for what it has changed.
  if (free.length > 0 && own.length < fair) {
    const taken = await byRow(async (tx) => {
      const got: DutyName[] = []
      for (const name of free) {
        if (own.length + got.length >= fair) break
        if (await take(tx, { name, epoch, from: ownerOf.get(name) })) got.push(name)
      }
      return got
    })
    own.push(...taken)
  }
  return { own, tooMany: Math.max(0, own.length - fair) }
}

async function take(
  tx: Tx,
  { name, epoch, from }: { name: DutyName; epoch: number; from: number | undefined },
): Promise<boolean> {
  const taken = await tx
    .insertInto('duties')
    .values({ name, epoch, since: databaseClock })
    .onConflict((conflict) =>
      conflict
        .column('name')
        .doUpdateSet({ epoch, since: databaseClock })
        .where('duties.epoch', '=', from ?? 0),
    )
    .returning('name')
    .executeTakeFirst()
  return taken !== undefined
}

/** Another node may take it from now on. */
export async function giveBackDuty(
  { byRow }: Pick<Store, 'byRow'>,
  { epoch }: { epoch: number },
  name: DutyName,
): Promise<void> {
  await byRow((tx) =>
    tx
      .updateTable('duties')
      .set({ epoch: 0 })
      .where('name', '=', name)
      .where('epoch', '=', epoch)
      .execute(),
  )
}
