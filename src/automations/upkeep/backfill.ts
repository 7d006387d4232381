import type { Selectable } from 'kysely'
import { nextTurn } from '../../bounded/index.js'
import type { Clock } from '../../clock/index.js'
import { requireList } from '../../contacts/index.js'
import { ApiError } from '../../errors/index.js'
import { startedByHand } from '../../events/index.js'
import { requireSegment } from '../../segments/index.js'
import {
  type AutomationBackfillRow,
  prepared,
  type Read,
  type Store,
  type Tx,
} from '../../store/index.js'
import {
  type Automation,
  type Crowd,
  findAutomation,
  nothing,
  type RunContact,
  type WrittenAlongside,
} from '../definition/index.js'
import {
  type IngestDeps,
  judgeStarts,
  type NewEvent,
  type TakenEvent,
  type Trigger,
} from '../events/index.js'
import { contactColumns, contactOf, type EntryRefusal, type RunContactRow } from '../runs/index.js'

/** A start over a list or a segment: how far it is, and how fast it may go. */
export type Backfill = Selectable<AutomationBackfillRow>

interface BackfillDeps {
  store: Store
  clock: Clock
}

// The event that begins such a run. No step can wait for it, and no other automation hears it.
const { crowd: eventName } = startedByHand

/** The crowd of a row. */
export const crowdOf = ({
  list_id,
  is_segment,
}: Pick<Backfill, 'list_id' | 'is_segment'>): Crowd =>
  is_segment === 1 ? { segmentId: list_id } : { listId: list_id }

/** The name of the list or segment. Throws a 404. */
export async function requireCrowd(
  read: Read,
  accountId: string,
  crowd: Crowd,
): Promise<{ id: string; name: string }> {
  if ('listId' in crowd) return await requireList(read, accountId, crowd.listId)
  return await requireSegment(read, accountId, crowd.segmentId)
}

/**
 * From now on the contacts of the list or segment enter the automation, `perHour` of them an hour: those whom its
 * filter, its re-entry and suppressions let in. The running appliance does it (`runBackfills`). Throws a 422 while the
 * automation is not enabled, a 409 while such a start is under way, a 404 for the list or segment.
 */
export async function startBackfill(
  { store, clock }: BackfillDeps,
  { id, account_id }: Pick<Automation, 'id' | 'account_id'>,
  { crowd, perHour }: { crowd: Crowd; perHour: number },
  alongside: (tx: Tx, started: Backfill) => Promise<void> = async () => {},
): Promise<Backfill> {
  return await store.write(async (tx) => {
    const automation = await findAutomation(tx, account_id, id)
    await requireTrigger(tx, automation)
    await refuseDated(tx, automation)
    const whom = await requireCrowd(tx, account_id, crowd)
    const before = await findBackfill(tx, id)
    if (before !== undefined && before.ended_at === null) {
      throw new ApiError(
        'conflict',
        'A start is under way: stop it first, or let it come to its end',
      )
    }
    const now = clock.now()
    const row: Backfill = {
      automation_id: id,
      account_id,
      list_id: whom.id,
      is_segment: 'segmentId' in crowd ? 1 : 0,
      per_hour: perHour,
      cursor: '',
      seen: 0,
      started: 0,
      next_at: now,
      created_at: now,
      ended_at: null,
    }
    await tx
      .insertInto('automation_backfills')
      .values(row)
      .onConflict((conflict) => conflict.column('automation_id').doUpdateSet(row))
      .execute()
    await alongside(tx, row)
    return row
  })
}

/** Ends a start that is under way; its runs go on. Resolves with how far it was. Throws a 409 where there is none. */
export async function stopBackfill(
  { store, clock }: Pick<BackfillDeps, 'store' | 'clock'>,
  { id, account_id }: Pick<Automation, 'id' | 'account_id'>,
  alongside: WrittenAlongside = nothing,
): Promise<Backfill> {
  return await store.write(async (tx) => {
    const automation = await findAutomation(tx, account_id, id)
    const row = await findBackfill(tx, id)
    if (row === undefined || row.ended_at !== null) {
      throw new ApiError('conflict', 'No start over a list or a segment is under way')
    }
    const ended_at = clock.now()
    await tx
      .updateTable('automation_backfills')
      .set({ ended_at })
      .where('automation_id', '=', id)
      .execute()
    await alongside(tx, automation)
    return { ...row, ended_at }
  })
}

/** The latest start over a list or segment of the automation. */
export async function findBackfill(read: Read, id: string): Promise<Backfill | undefined> {
  return await read
    .selectFrom('automation_backfills')
    .selectAll()
    .where('automation_id', '=', id)
    .executeTakeFirst()
}

// Members that are judged together: each read is short, so that others have the database in
// between.
const membersARead = 200

/** Whom a start over a list or segment would let in now, and why not the others. */
export interface JudgedCrowd {
  name: string
  /** People who were looked at; with `isAll` false there are more. */
  seen: number
  starts: number
  /** How many of those who would be let in have been in it before. */
  again: number
  refused: Map<EntryRefusal, number>
  /** For those who would not be let in, the addresses of the first few by reason. */
  some: Map<EntryRefusal, string[]>
  isAll: boolean
}

// So many addresses are told for each reason: enough to see who they are.
const mostTold = 5

/** Judges whom a start would let in, and writes nothing. `most` bounds how many people it looks at. */
export async function judgeBackfill(
  { store: { read }, clock, versions }: BackfillDeps & Pick<IngestDeps, 'versions'>,
  automation: Automation,
  crowd: Crowd,
  most = Number.POSITIVE_INFINITY,
): Promise<JudgedCrowd> {
  const trigger = await requireTrigger(read, automation)
  await refuseDated(read, automation)
  const { account_id: accountId } = automation
  const { name } = await requireCrowd(read, accountId, crowd)
  const refused = new Map<EntryRefusal, number>()
  const some = new Map<EntryRefusal, string[]>()
  const told: JudgedCrowd = { name, seen: 0, starts: 0, again: 0, refused, some, isAll: true }
  for (let cursor: string | undefined = ''; cursor !== undefined; ) {
    if (told.seen >= most) return { ...told, isAll: false }
    if (told.seen > 0) await nextTurn()
    const members: RunContact[] = await membersAfter(read, crowd, cursor, membersARead)
    const now = clock.now()
    const events = members.map((contact) => provisional(contact, crowd, now))
    const judged = await judgeStarts(read, versions, { accountId, now }, events, [trigger])
    for (const { reason, entry, event } of judged) {
      if (reason === undefined) {
        told.starts += 1
        if (entry !== undefined) told.again += 1
        continue
      }
      refused.set(reason, (refused.get(reason) ?? 0) + 1)
      const before = some.get(reason) ?? []
      if (before.length < mostTold) some.set(reason, [...before, event.contact.email])
    }
    told.seen += members.length
    cursor = members.length < membersARead ? undefined : members.at(-1)?.id
  }
  return told
}

/** What begins the runs of an enabled automation; undefined for any other. */
export async function triggerOf(read: Read, automationId: string): Promise<Trigger | undefined> {
  const row = await read
    .selectFrom('automation_triggers as triggers')
    .innerJoin('automations', (join) =>
      join
        .onRef('automations.account_id', '=', 'triggers.account_id')
        .onRef('automations.id', '=', 'triggers.automation_id'),
    )
    .select(['automation_id as automationId', 'triggers.version', 'name'])
    .where('automations.id', '=', automationId)
    .executeTakeFirst()
  return row && { ...row, event: eventName }
}

/** Only an enabled automation has a row in `automation_triggers`, so a missing row tells that it is not enabled. */
export async function requireTrigger(
  read: Read,
  { id, name, status }: Pick<Automation, 'id' | 'name' | 'status'>,
): Promise<Trigger> {
  const trigger = await triggerOf(read, id)
  if (trigger !== undefined) return trigger
  const message = `“${name}” is ${status}: only an enabled automation starts runs`
  const is = status === 'archived' ? 'noEntry' : 'notOn'
  throw new ApiError('validation_error', message, { status: 422, is, names: [name] })
}

/** Whether each person enters an enabled automation on a day of their own. */
export async function beginsOnDates(read: Read, automationId: string): Promise<boolean> {
  const row = await read
    .selectFrom('automation_dates')
    .select('automation_id')
    .where('automation_id', '=', automationId)
    .where('state', 'in', ['filling', 'current'])
    .executeTakeFirst()
  return row !== undefined
}

/** Begun for all at once, it would wish a birthday on a wrong day, to people without one, and twice in a year. */
async function refuseDated(read: Read, { id, name }: Pick<Automation, 'id' | 'name'>) {
  if (!(await beginsOnDates(read, id))) return
  throw new ApiError('validation_error', `“${name}” ${onTheirDay}`, { status: 422 })
}

/** Why an automation by date is not started for many at once. */
export const onTheirDay =
  'begins for each person on a day of their own, so it cannot be started for a list or a segment: whoever has the date enters when the day comes'

/**
 * Runs of such a start have an event like all others, of a name that no client can send (it begins
 * with $).
 */
const eventOf = (contact: RunContact, crowd: Crowd): NewEvent => ({
  contact,
  name: eventName,
  payload: JSON.stringify(crowd),
})

/** The event as it would be kept: a contact whom the automation does not let in gets no event. */
export const provisional = (contact: RunContact, crowd: Crowd, now: number): TakenEvent => ({
  ...eventOf(contact, crowd),
  stored: { id: 0, name: eventName, payload: { ...crowd }, at: now },
})

/** The people of a list or segment behind `cursor`, in the order of their ids. */
export async function membersAfter(
  read: Read,
  crowd: Crowd,
  cursor: string,
  limit: number,
): Promise<RunContact[]> {
  const rows =
    'listId' in crowd
      ? await members(read, { listId: crowd.listId, cursor, limit })
      : await inSegment(read, { segmentId: crowd.segmentId, cursor, limit })
  return rows.map(contactOf)
}

/**
 * By contact after a cursor: the list may have a million members, and somebody may join or leave
 * while it is gone through.
 */
const members = prepared<{ listId: string; cursor: string; limit: number }, RunContactRow>(
  (db, { listId, cursor, limit }) =>
    db
      .selectFrom('list_members')
      .innerJoin('contacts', 'contacts.id', 'list_members.contact_id')
      .select(contactColumns)
      .where('list_id', '=', listId)
      .where('contact_id', '>', cursor)
      .orderBy('contact_id')
      .limit(limit),
)

/** The same for a segment. */
const inSegment = prepared<{ segmentId: string; cursor: string; limit: number }, RunContactRow>(
  (db, { segmentId, cursor, limit }) =>
    db
      .selectFrom('segment_members')
      .innerJoin('contacts', 'contacts.id', 'segment_members.contact_id')
      .select(contactColumns)
      .where('segment_id', '=', segmentId)
      .where('contact_id', '>', cursor)
      .orderBy('contact_id')
      .limit(limit),
)
