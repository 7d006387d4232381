import type { Selectable } from 'kysely'
import type { Clock } from '../../clock/index.js'
import { requireList } from '../../contacts/index.js'
import { OperatorError } from '../../errors/index.js'
import { type AutomationBackfillRow, prepared, type Read, type Store } from '../../store/index.js'
import type { Automation, RunContact } from '../definition/index.js'
import {
  type IngestDeps,
  judgeStarts,
  type NewEvent,
  type TakenEvent,
  type Trigger,
} from '../events/index.js'
import { contactColumns, contactOf, type EntryRefusal, type RunContactRow } from '../runs/index.js'

/** A start over a list: how far it is, and how fast it may go. */
export type Backfill = Selectable<AutomationBackfillRow>

interface BackfillDeps {
  store: Store
  clock: Clock
}

// What begins such a run. No step can wait for it, and no other automation hears it.
const eventName = '$backfill'

/**
 * From now on the contacts of the list enter the automation, `perHour` of them an hour: those whom its
 * filter, its re-entry and suppressions let in. The running appliance does it (`runBackfills`). Throws an
 * OperatorError while it is not enabled, or such a start is under way; a 404 for the list.
 */
export async function startBackfill(
  { store, clock }: BackfillDeps,
  automation: Automation,
  { listId, perHour }: { listId: string; perHour: number },
): Promise<Backfill> {
  const { id, account_id } = automation
  return await store.write(async (tx) => {
    await requireTrigger(tx, automation)
    const list = await requireList(tx, account_id, listId)
    const before = await findBackfill(tx, id)
    if (before !== undefined && before.ended_at === null) {
      throw new OperatorError(
        `A start over list ${before.list_id} is under way; 'posthorn automation start ${id} --stop' ends it`,
      )
    }
    const now = clock.now()
    const row: Backfill = {
      automation_id: id,
      account_id,
      list_id: list.id,
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
    return row
  })
}

/** Ends a start that is under way; its runs go on. Resolves with how far it was. */
export async function stopBackfill(
  { store, clock }: BackfillDeps,
  { id }: Automation,
): Promise<Backfill> {
  return await store.write(async (tx) => {
    const row = await findBackfill(tx, id)
    if (row === undefined || row.ended_at !== null) {
      throw new OperatorError('No start over a list is under way')
    }
    const ended_at = clock.now()
    await tx
      .updateTable('automation_backfills')
      .set({ ended_at })
      .where('automation_id', '=', id)
      .execute()
    return { ...row, ended_at }
  })
}

/** The latest start over a list of the automation. */
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

/** Whom a start over the list would let in now, and why not the others; it writes nothing. */
export async function judgeBackfill(
  { store: { read }, clock, versions }: BackfillDeps & Pick<IngestDeps, 'versions'>,
  automation: Automation,
  givenList: string,
): Promise<{ seen: number; starts: number; refused: Map<EntryRefusal, number> }> {
  const trigger = await requireTrigger(read, automation)
  const { account_id: accountId } = automation
  const { id: listId } = await requireList(read, accountId, givenList)
  const told = { seen: 0, starts: 0, refused: new Map<EntryRefusal, number>() }
  for (let cursor: string | undefined = ''; cursor !== undefined; ) {
    const members: RunContact[] = await membersAfter(read, listId, cursor, membersARead)
    const now = clock.now()
    const events = members.map((contact) => provisional(contact, listId, now))
    const judged = await judgeStarts(read, versions, { accountId, now }, events, [trigger])
    for (const { reason } of judged) {
      if (reason === undefined) told.starts += 1
      else told.refused.set(reason, (told.refused.get(reason) ?? 0) + 1)
    }
    told.seen += members.length
    cursor = members.length < membersARead ? undefined : members.at(-1)?.id
  }
  return told
}

/** What begins the runs of an enabled automation; undefined of any other. */
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

/** Only an enabled automation has a row in `automation_triggers`, so its absence is what tells. */
async function requireTrigger(read: Read, { id, name, status }: Automation): Promise<Trigger> {
  const trigger = await triggerOf(read, id)
  if (trigger !== undefined) return trigger
  throw new OperatorError(`${name} is ${status}; only an enabled automation starts runs`)
}

/**
 * Runs of such a start have an event like all others, of a name that no client can send (it begins
 * with $).
 */
const eventOf = (contact: RunContact, listId: string): NewEvent => ({
  contact,
  name: eventName,
  payload: JSON.stringify({ listId }),
})

/** As it would be kept; whom the automation does not let in has no event of it. */
export const provisional = (contact: RunContact, listId: string, now: number): TakenEvent => ({
  ...eventOf(contact, listId),
  stored: { id: 0, name: eventName, payload: { listId }, at: now },
})

/** The list's members behind `cursor`, in the order of their ids. */
export async function membersAfter(
  read: Read,
  listId: string,
  cursor: string,
  limit: number,
): Promise<RunContact[]> {
  const rows = await members(read, { listId, cursor, limit })
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
