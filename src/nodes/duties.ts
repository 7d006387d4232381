import { databaseClock, type OwnNode, type Store, type Tx } from '../store/index.js'
import { areAlive, mostClockOffMs } from './lease.js'

/**
 * What is shared in parts, so that several nodes do it beside each other: campaigns each by itself, automations by account,
 * webhooks by endpoint.
 */
const parted = { courier: 16, expand: 8, automate: 8 } as const
type PartedDuty = keyof typeof parted

const whole = [
  /** Sweeps, notices, tasks with contacts, erasures, what is left half done. */
  'chores',
  'calendar',
  'segments',
  /** Roll-up of the figures, the index of recipients, the names of events. */
  'figures',
] as const
type WholeDuty = (typeof whole)[number]

/** A kind of duty, of which there may be several parts. */
export type DutyKind = WholeDuty | PartedDuty
export type DutyName = WholeDuty | `${PartedDuty}:${number}`

const partsOf = (kind: PartedDuty): DutyName[] =>
  Array.from({ length: parted[kind] }, (_, part) => `${kind}:${part}` as const)

/**
 * What one of the nodes does for all. Whose a duty is stands in the database; two who have one for a moment do nothing
 * twice, as each effect has a condition of its own. The last ones are given to who comes: of each kind some.
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

/** Whether this appliance has the duty, or a part of it; one that is alone has all of them. */
export const holds = (node: Pick<OwnNode, 'isOthers'>, kind: DutyKind): boolean =>
  namesOf(kind).some((name) => isOurs(node, name))

/** Whether no other node has a part of it. */
export const holdsAll = (node: Pick<OwnNode, 'isOthers'>, kind: DutyKind): boolean =>
  namesOf(kind).every((name) => isOurs(node, name))

/** Whether what has this id is this appliance's part of the duty. */
export const holdsPart = (node: Pick<OwnNode, 'isOthers'>, kind: PartedDuty, id: string): boolean =>
  isOurs(node, `${kind}:${hashOf(id) % parted[kind]}`)

/** Which parts of it are this appliance's, as a text that is another one when they have moved. */
export const partsHeld = (node: Pick<OwnNode, 'isOthers'>, kind: PartedDuty): string =>
  partsOf(kind)
    .filter((name) => isOurs(node, name))
    .join()

/** FNV-1a: ids that were made one after another differ in it. */
function hashOf(id: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < id.length; i++) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193)
  return (hash ^ (hash >>> 15)) >>> 0
}

/** For who looks: kinds with all of their parts by the name alone, else those that are there, as `expand (3 of 8)`. */
export const dutiesInWords = (names: readonly DutyName[]): string[] =>
  dutyKinds.flatMap((kind) => {
    const of = namesOf(kind)
    const own = of.filter((name) => names.includes(name)).length
    return own === 0 ? [] : own === of.length ? [kind] : [`${kind} (${own} of ${of.length})`]
  })

/** For `noteOthers`: the numbers of all duties that are not among those. */
export const othersThan = (own: readonly DutyName[]): number[] =>
  dutyNames.flatMap((name, at) => (own.includes(name) ? [] : at))

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
 * Takes, up to a fair share among the nodes of its own release (by their weight), what no living node has. A taking counts where nobody else has taken it since it was looked
 * at. A node that drains takes nothing, and has all of its own too many; and so does one whose clock is off, unless
 * those of all are: then it is the database's that is.
 */
export async function shareDuties(
  { read, byRow }: Pick<Store, 'read' | 'byRow'>,
  { epoch }: { epoch: number },
): Promise<DutyShare> {
  const living = await areAlive(read)
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
  // Another release may not know a duty of this one: a share left to it would be nobody's.
  const alike = able.filter(
    ({ version, schema }) => version === self.version && schema === self.schema,
  )
  const weights = alike.reduce((sum, { weight }) => sum + weight, 0)
  const fair = Math.ceil((dutyNames.length * self.weight) / weights)
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
