import { databaseClock, type OwnNode, type Store, type Tx } from '../store/index.js'
import { mostClockOffMs } from './lease.js'

/**
 * Duties that are shared in parts, so that several nodes work in parallel: campaigns singly, automations by account,
 * webhooks by endpoint.
 */
const parted = { courier: 16, expand: 8, automate: 8 } as const
type PartedDuty = keyof typeof parted

const whole = [
  /** Sweeps, notices, tasks with contacts, erasures, unfinished work. */
  'chores',
  'calendar',
  'segments',
  /** Roll-up of the figures, the index of recipients, the names of events. */
  'figures',
] as const
type WholeDuty = (typeof whole)[number]

/** A kind of duty, which may have several parts. */
export type DutyKind = WholeDuty | PartedDuty
export type DutyName = WholeDuty | `${PartedDuty}:${number}`

const partsOf = (kind: PartedDuty): DutyName[] =>
  Array.from({ length: parted[kind] }, (_, part) => `${kind}:${part}` as const)

/**
 * The duties that one node does for all. The database has each duty's owner. If two nodes have one for a moment,
 * nothing happens twice, as each effect has a condition of its own. A new node gets the last ones of the list, some of
 * each kind.
 */
export const dutyNames: readonly DutyName[] = [
  ...whole,
  ...partsOf('expand').flatMap((name, part): DutyName[] => [
    `courier:${2 * part}`,
    name,
    `courier:${2 * part + 1}`,
    `automate:${part}`,
  ]),
]

export const dutyKinds: readonly DutyKind[] = [...whole, 'courier', 'expand', 'automate']

export const kindOfDuty = (name: DutyName): DutyKind => name.replace(/:\d+$/, '') as DutyKind

const namesOf = (kind: DutyKind): DutyName[] =>
  dutyNames.filter((name) => kindOfDuty(name) === kind)

const isOurs = (node: Pick<OwnNode, 'isOthers'>, name: DutyName): boolean =>
  !node.isOthers(dutyNames.indexOf(name))

/** Whether this appliance has the duty, or a part of it; a single appliance has all. */
export const holds = (node: Pick<OwnNode, 'isOthers'>, kind: DutyKind): boolean =>
  namesOf(kind).some((name) => isOurs(node, name))

/** Whether no other node has a part of it. */
export const holdsAll = (node: Pick<OwnNode, 'isOthers'>, kind: DutyKind): boolean =>
  namesOf(kind).every((name) => isOurs(node, name))

/** Whether this id belongs to this appliance's part of the duty. */
export const holdsPart = (node: Pick<OwnNode, 'isOthers'>, kind: PartedDuty, id: string): boolean =>
  isOurs(node, `${kind}:${hashOf(id) % parted[kind]}`)

/** This appliance's parts of the duty, as a text that changes when they move. */
export const partsHeld = (node: Pick<OwnNode, 'isOthers'>, kind: PartedDuty): string =>
  partsOf(kind)
    .filter((name) => isOurs(node, name))
    .join()

/** FNV-1a: ids that were made in succession have different hashes. */
function hashOf(id: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < id.length; i++) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193)
  return (hash ^ (hash >>> 15)) >>> 0
}

/** For people: a kind with all its parts by its name alone, else with the number of parts, as `expand (3 of 8)`. */
export const dutiesInWords = (names: readonly DutyName[]): string[] =>
  dutyKinds.flatMap((kind) => {
    const of = namesOf(kind)
    const own = of.filter((name) => names.includes(name)).length
    return own === 0 ? [] : own === of.length ? [kind] : [`${kind} (${own} of ${of.length})`]
  })

/** For `noteOthers`: the numbers of all other duties. */
export const othersThan = (own: readonly DutyName[]): number[] =>
  dutyNames.flatMap((name, at) => (own.includes(name) ? [] : at))

/** A node's duties, and how many of them exceed its share. */
export interface DutyShare {
  own: DutyName[]
  tooMany: number
  /** How far its clock is ahead of the database's, if that is too far to have duties. */
  clockOffMs?: number
}

/** Whether a clock is so far from the database's that its due work would come too early or too late for all. */
export const isClockOff = (aheadMs: number): boolean => Math.abs(aheadMs) > mostClockOffMs

/**
 * Takes duties whose owner's epoch is over, up to a fair share among the nodes of its own release (by their weight). Taking
 * succeeds only if nobody else took the duty since it was read. A draining node takes nothing, and all its duties
 * exceed its share. The same holds for a node whose clock is off, unless all clocks are: then the database's is wrong.
 */
export async function shareDuties(
  { read, byRow }: Pick<Store, 'read' | 'byRow'>,
  { epoch }: { epoch: number },
): Promise<DutyShare> {
  const living = await read
    .selectFrom('nodes')
    .where('gone_at', 'is', null)
    .where('draining', '=', 0)
    .select(['epoch', 'clock_ahead_ms', 'version', 'schema', 'weight'])
    .execute()
  const right = living.filter((row) => !isClockOff(row.clock_ahead_ms))
  const able = right.length > 0 ? right : living
  const epochs = new Set(able.map((row) => row.epoch))
  const rows = await read.selectFrom('duties').select(['name', 'epoch']).execute()
  const ownerOf = new Map(rows.map((row) => [row.name, row.epoch]))
  const own = dutyNames.filter((name) => ownerOf.get(name) === epoch)
  const self = able.find((row) => row.epoch === epoch)
  if (self === undefined) {
    const clockOffMs = living.find((row) => row.epoch === epoch)?.clock_ahead_ms
    return { own, tooMany: own.length, ...(clockOffMs !== undefined && { clockOffMs }) }
  }
  // Another release may not know a duty of this one, and a share left to it would be done by
  // nobody.
  const alike = able.filter(
    ({ version, schema }) => version === self.version && schema === self.schema,
  )
  const weights = alike.reduce((sum, { weight }) => sum + weight, 0)
  const fair = Math.ceil((dutyNames.length * self.weight) / weights)
  const free = dutyNames.filter((name) => !epochs.has(ownerOf.get(name) ?? 0))
  // A needless transaction would make the others look for changes.
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

/** Gives the duty up: another node may take it from now on. */
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
