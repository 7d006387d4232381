import type { Selectable, UpdateResult } from 'kysely'
import { type Plans, readBilling } from '../billing/index.js'
import { type Clock, hourMs, pause } from '../clock/index.js'
import { requireList } from '../contacts/index.js'
import { OperatorError } from '../errors/index.js'
import { makeRunTally } from '../runs/index.js'
import {
  type AutomationBackfillRow,
  prepared,
  type Read,
  type Store,
  storedObject,
} from '../store/index.js'
import type { Automation } from './automation.js'
import type { EntryRefusal } from './entry.js'
import type { Trigger } from './insert-runs.js'
import type { Traveller } from './run.js'
import { type IngestDeps, type NewEvent, storeEvents, type TakenEvent } from './store-events.js'
import { judgeStarts, startRuns } from './triggers.js'

export type Backfill = Selectable<AutomationBackfillRow>

interface BackfillDeps {
  store: Store
  clock: Clock
  plans: Plans
  versions: IngestDeps['versions']
  automate: () => void
  /** Whether there are as many live runs as there may be. */
  isFull: () => Promise<boolean>
}

// What begins such a run. No step can wait for it, and no other automation hears it.
const eventName = '$backfill'

/**
 * From now on the contacts of the list enter the automation, `perHour` of them an hour: those whom its
 * filter, its re-entry and suppressions let in. The running appliance does it (`runBackfills`). Throws an
 * OperatorError while it is not enabled, or such a start is under way; a 404 for the list.
 */
export async function startBackfill(
  { store, clock }: Pick<BackfillDeps, 'store' | 'clock'>,
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
      ...{ automation_id: id, account_id, list_id: list.id, per_hour: perHour, cursor: '' },
      ...{ seen: 0, started: 0, next_at: now, created_at: now, ended_at: null },
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
  { store, clock }: Pick<BackfillDeps, 'store' | 'clock'>,
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

/** Whom a start over the list would let in now, and why not the others; it writes nothing. */
export async function judgeBackfill(
  { store: { read }, clock, versions }: Pick<BackfillDeps, 'store' | 'clock' | 'versions'>,
  automation: Automation,
  givenList: string,
): Promise<{ seen: number; starts: number; refused: Map<EntryRefusal, number> }> {
  const trigger = await requireTrigger(read, automation)
  const { account_id: accountId } = automation
  const { id: listId } = await requireList(read, accountId, givenList)
  const told = { seen: 0, starts: 0, refused: new Map<EntryRefusal, number>() }
  for (let cursor: string | undefined = ''; cursor !== undefined; ) {
    const members: Traveller[] = await membersAfter(read, listId, cursor, perWrite)
    const now = clock.now()
    const events = members.map((contact) => provisional(contact, listId, now))
    const judged = await judgeStarts(read, versions, { accountId, now }, events, [trigger])
    for (const { reason } of judged) {
      if (reason === undefined) told.starts += 1
      else told.refused.set(reason, (told.refused.get(reason) ?? 0) + 1)
    }
    told.seen += members.length
    cursor = members.length < perWrite ? undefined : members.at(-1)?.id
  }
  return told
}

// Some milliseconds of the turn to write, and a rest in which others have theirs.
const perWrite = 200
const restMs = 20
// After a time without the appliance no more than this is made up for.
const catchUpMs = 10_000

/**
 * Takes all starts that are under way on, in turn, as far as their rates let them now. A kill at any
 * point is made good by the next call: the cursor moves in the transaction that starts the runs.
 */
export async function runBackfills(deps: BackfillDeps, signal: AbortSignal): Promise<void> {
  for (let isDue = true; isDue && !signal.aborted; ) {
    isDue = false
    for (const row of await underWay(deps.store.read, {})) {
      if (signal.aborted) return
      if (row.next_at > deps.clock.now()) continue
      if (!(await startSome(deps, row))) continue
      isDue = true
      await pause(deps.clock, restMs, signal)
    }
  }
}

/** Starts the next runs; resolves with whether it is to be looked at again at once. */
async function startSome(deps: BackfillDeps, row: Backfill): Promise<boolean> {
  const { store, clock, plans, versions } = deps
  const { automation_id: id, account_id: accountId, list_id: listId, per_hour: perHour } = row
  // It goes on once the account does, and there is room for its runs.
  const { suspended, state } = await readBilling(store.read, plans, accountId)
  if (suspended !== null || state === 'expired' || (await deps.isFull())) return false
  const limit = Math.min(perWrite, Math.ceil(perHour / 60))
  const outcome = await store.write(async (tx) => {
    const before = await findBackfill(tx, id)
    if (before === undefined || before.ended_at !== null || before.cursor !== row.cursor) return
    const trigger = await triggerOf(tx, id)
    // Disabled since: it goes on when it is enabled.
    if (trigger === undefined) return
    const now = clock.now()
    const members = await membersAfter(tx, listId, before.cursor, limit)
    const events = members.map((contact) => provisional(contact, listId, now))
    const judged = await judgeStarts(tx, versions, { accountId, now }, events, [trigger])
    const entering = judged.flatMap(({ event, reason }) => (reason === undefined ? [event] : []))
    const tally = makeRunTally()
    const stored = await storeEvents(tx, accountId, now, entering)
    await startRuns(tx, { ids: store.ids, versions }, { accountId, now, tally }, stored, trigger)
    await tally.write(tx)
    const started = entering.length
    const done = members.length < limit
    const next_at = Math.max(before.next_at, now - catchUpMs) + (started * hourMs) / perHour
    await advance(tx, {
      ...{ id, cursor: members.at(-1)?.id ?? before.cursor, seen: before.seen + members.length },
      ...{ started: before.started + started, nextAt: Math.round(next_at) },
      endedAt: done ? now : null,
    })
    return { started, isDue: !done && next_at <= now }
  })
  if (outcome === undefined) return false
  if (outcome.started > 0) deps.automate()
  return outcome.isDue
}

const underWay = prepared<object, Backfill>((db) =>
  db
    .selectFrom('automation_backfills')
    .selectAll()
    .where('ended_at', 'is', null)
    .orderBy('next_at'),
)

const advance = prepared<
  {
    id: string
    cursor: string
    seen: number
    started: number
    nextAt: number
    endedAt: number | null
  },
  UpdateResult
>((db, { id, cursor, seen, started, nextAt, endedAt }) =>
  db
    .updateTable('automation_backfills')
    .set({ cursor, seen, started, next_at: nextAt, ended_at: endedAt })
    .where('automation_id', '=', id),
)

async function triggerOf(read: Read, automationId: string): Promise<Trigger | undefined> {
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

async function requireTrigger(read: Read, { id, name, status }: Automation): Promise<Trigger> {
  const trigger = await triggerOf(read, id)
  if (trigger !== undefined) return trigger
  throw new OperatorError(`${name} is ${status}; only an enabled automation starts runs`)
}

const eventOf = (contact: Traveller, listId: string): NewEvent => ({
  contact,
  name: eventName,
  payload: JSON.stringify({ listId }),
})

/** As it would be kept; whom the automation does not let in has no event of it. */
const provisional = (contact: Traveller, listId: string, now: number): TakenEvent => ({
  ...eventOf(contact, listId),
  stored: { id: 0, name: eventName, payload: { listId }, at: now },
})

async function membersAfter(
  read: Read,
  listId: string,
  cursor: string,
  limit: number,
): Promise<Traveller[]> {
  const rows = await members(read, { listId, cursor, limit })
  return rows.map(({ metadata, ...contact }) => ({
    ...contact,
    metadata: storedObject(metadata),
  }))
}

interface MemberColumns extends Omit<Traveller, 'metadata'> {
  metadata: string | null
}

const members = prepared<{ listId: string; cursor: string; limit: number }, MemberColumns>(
  (db, { listId, cursor, limit }) =>
    db
      .selectFrom('list_members')
      .innerJoin('contacts', 'contacts.id', 'list_members.contact_id')
      .select(['contacts.id', 'email', 'first_name as firstName', 'last_name as lastName'])
      .select(['phone', 'metadata', 'created_at as createdAt'])
      .where('list_id', '=', listId)
      .where('contact_id', '>', cursor)
      .orderBy('contact_id')
      .limit(limit),
)
