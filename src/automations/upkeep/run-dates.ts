import { type Clock, isDueBy } from '../../clock/index.js'
import type { Log } from '../../log/index.js'
import { makeRunTally } from '../../runs/index.js'
import { idsIn, isPassing, type Read, type Store, type Tx } from '../../store/index.js'
import { dateEvent, dateFor, dateSays, type Versions } from '../definition/index.js'
import {
  judgeStarts,
  type LiveLimit,
  type NewEvent,
  startRuns,
  storeEvents,
  type TakenEvent,
} from '../events/index.js'
import { triggerOf } from './backfill.js'
import { contactsIn, placeDates, ruleIn } from './place-dates.js'

interface DateDeps {
  store: Store
  clock: Clock
  log: Log
  versions: Versions
  isFull: LiveLimit
}

// Contacts in a transaction, for which other writes wait.
const perWrite = 200
// An automation with a fault of its own is looked at again so much later; the others go on.
const passOverMs = 60_000

const active = ['filling', 'current'] as const

/** Whether a date has come for somebody, or something is left to do. */
export async function datesWait({
  store: { read },
  clock,
}: Pick<DateDeps, 'store' | 'clock'>): Promise<boolean> {
  return (
    (await nextLeft(read, [])) !== undefined || (await nextDue(read, clock.now(), [])) !== undefined
  )
}

/** From when on `datesWait` holds, as long as nobody commits; undefined: never. */
export async function datesDueAt(
  deps: Pick<DateDeps, 'store' | 'clock'>,
): Promise<number | undefined> {
  const now = deps.clock.now()
  if (await datesWait(deps)) return now
  const next = await deps.store.read
    .selectFrom('automation_date_due')
    .select(({ fn }) => fn.min<number | null>('at').as('at'))
    .where('at', '>', now)
    .executeTakeFirst()
  return next?.at ?? undefined
}

/**
 * Keeps the times of automations that begin on a date of a contact, and begins them. All of it goes on after a kill: a
 * contact's next time is written in the transaction that begins the run, and a cursor with the rows that it stands for.
 */
export function makeDateKeeper(deps: DateDeps) {
  const { store, clock, log } = deps
  const passed = new Map<string, number>()
  const apart = async (id: string, work: () => Promise<void>) => {
    try {
      await work()
    } catch (error) {
      if (isPassing(error)) throw error
      log.error({ automationId: id, error }, 'An automation by date waits; tried again in a minute')
      passed.set(id, clock.now() + passOverMs)
    }
  }
  return {
    /** These contacts of an account have changed; it may be told twice. */
    async changed(accountId: string, contactIds: readonly string[]): Promise<void> {
      for (let at = 0; at < contactIds.length; at += perWrite) {
        await store.write(async (tx) => {
          const rows = await tx
            .selectFrom('automation_dates')
            .select(['automation_id', 'rule'])
            .where('account_id', '=', accountId)
            .where('state', 'in', active)
            .execute()
          await placeDates(tx, rows, contactIds.slice(at, at + perWrite), { now: clock.now() })
        })
      }
    },
    /** Does some of what is left; resolves with whether there was any. */
    async work(): Promise<boolean> {
      const now = clock.now()
      for (const [id, until] of passed) if (isDueBy(until, now, passOverMs)) passed.delete(id)
      const due = await nextDue(store.read, now, [...passed.keys()], perWrite)
      if (due !== undefined) await apart(due.id, () => beginSome(deps, due))
      const left = await nextLeft(store.read, [...passed.keys()])
      if (left !== undefined) await apart(left, () => moveOn(deps, left))
      return due !== undefined || left !== undefined
    },
    waits: () => datesWait({ store, clock }),
  }
}

/** The automation for which a date came first, and its contacts for whom it has come: a search of the index of times. */
async function nextDue(
  read: Read,
  now: number,
  passed: readonly string[],
  limit = 1,
): Promise<{ id: string; contactIds: string[] } | undefined> {
  const rows = await read
    .selectFrom('automation_date_due as due')
    .select(['due.automation_id as id', 'due.contact_id as contactId'])
    .where('due.at', '<=', now)
    .where('due.automation_id', 'not in', idsIn(passed, 'text'))
    // The rows of a stopped automation go in slices.
    .where(({ exists, selectFrom }) =>
      exists(
        selectFrom('automation_dates as dates')
          .select('dates.automation_id')
          .whereRef('dates.automation_id', '=', 'due.automation_id')
          .where('dates.state', 'in', active),
      ),
    )
    .orderBy('due.at')
    .limit(limit)
    .execute()
  const id = rows[0]?.id
  if (id === undefined) return undefined
  return { id, contactIds: rows.filter((row) => row.id === id).map((row) => row.contactId) }
}

/** An automation whose contacts are to be looked at, or whose rows are to go. */
async function nextLeft(read: Read, passed: readonly string[]): Promise<string | undefined> {
  const row = await read
    .selectFrom('automation_dates')
    .select('automation_id as id')
    .where('state', 'in', ['filling', 'stopped', 'ended'])
    .where('automation_id', 'not in', idsIn(passed, 'text'))
    .limit(1)
    .executeTakeFirst()
  return row?.id
}

const findDates = (read: Read, id: string) =>
  read.selectFrom('automation_dates').selectAll().where('automation_id', '=', id).executeTakeFirst()

/** Begins an automation for some contacts for whom the day has come. */
async function beginSome(
  { store, clock, versions, isFull }: DateDeps,
  { id, contactIds }: { id: string; contactIds: readonly string[] },
): Promise<void> {
  await store.write(async (tx) => {
    const now = clock.now()
    const row = await findDates(tx, id)
    if (row === undefined || (row.state !== 'current' && row.state !== 'filling')) return
    const due = await tx
      .selectFrom('automation_date_due')
      .selectAll()
      .where('automation_id', '=', id)
      .where('contact_id', 'in', idsIn(contactIds, 'text'))
      .where('at', '<=', now)
      .execute()
    const ids = due.map((one) => one.contact_id)
    const contacts = new Map((await contactsIn(tx, ids)).map((one) => [one.id, one]))
    const rule = ruleIn(row)
    const done = new Map<string, string>()
    const events: NewEvent[] = []
    for (const { contact_id, at, done: before } of due) {
      const contact = contacts.get(contact_id)
      if (contact === undefined || at === null) continue
      const reached = dateFor(rule, contact, { after: at - 1, done: before })
      // The field has changed since: the contact is placed anew.
      if (reached?.at !== at) continue
      done.set(contact_id, reached.day)
      const says = JSON.stringify(dateSays(rule, contact, reached.day))
      events.push({ contact, name: dateEvent, payload: says, occurredAt: at })
    }
    await begin(tx, { store, versions }, { row, now, full: await isFull(tx, now) }, events)
    await placeDates(tx, [row], ids, { now, done })
    const gone = ids.filter((one) => !contacts.has(one))
    await tx
      .deleteFrom('automation_date_due')
      .where('automation_id', '=', id)
      .where('contact_id', 'in', idsIn(gone, 'text'))
      .execute()
  })
}

/** Keeps an event only for contacts whom the automation lets in; the others have had their day all the same. */
async function begin(
  tx: Tx,
  { store, versions }: Pick<DateDeps, 'store' | 'versions'>,
  {
    row,
    now,
    full,
  }: { row: { automation_id: string; account_id: string }; now: number; full: boolean },
  events: readonly NewEvent[],
): Promise<void> {
  const found = await triggerOf(tx, row.automation_id)
  if (found === undefined || events.length === 0) return
  const trigger = { ...found, event: dateEvent }
  const accountId = row.account_id
  const asIf = events.map((event): TakenEvent => {
    const payload = event.payload === null ? null : JSON.parse(event.payload)
    return { ...event, stored: { id: 0, name: dateEvent, payload, at: now } }
  })
  const judged = await judgeStarts(tx, versions, { accountId, now }, asIf, [trigger])
  const entering = judged.flatMap(({ event, reason }) => (reason === undefined ? [event] : []))
  const tally = makeRunTally()
  const stored = await storeEvents(tx, accountId, now, entering)
  const starting = { accountId, now, full, tally }
  await startRuns(tx, { ids: store.ids, versions }, starting, stored, trigger)
  await tally.write(tx)
}

/** Looks at some more contacts of an automation, or removes some of its rows. */
async function moveOn({ store, clock }: DateDeps, id: string): Promise<void> {
  await store.write(async (tx) => {
    const row = await findDates(tx, id)
    if (row === undefined) return
    if (row.state === 'filling') return await fillSome(tx, row, clock.now())
    if (row.state !== 'stopped' && row.state !== 'ended') return
    const rows = await tx
      .selectFrom('automation_date_due')
      .select(['contact_id', 'done'])
      .where('automation_id', '=', id)
      .where('contact_id', '>', row.cursor)
      .orderBy('contact_id')
      .limit(perWrite)
      .execute()
    const isEnded = row.state === 'ended'
    const theirs = (some: readonly { contact_id: string }[]) =>
      idsIn(
        some.map(({ contact_id }) => contact_id),
        'text',
      )
    await tx
      .deleteFrom('automation_date_due')
      .where('automation_id', '=', id)
      .where('contact_id', 'in', theirs(rows.filter(({ done }) => isEnded || done === null)))
      .execute()
    // A day that is done stays done when the automation is enabled again.
    await tx
      .updateTable('automation_date_due')
      .set({ at: null })
      .where('automation_id', '=', id)
      .where('contact_id', 'in', theirs(rows))
      .execute()
    const last = rows.at(-1)
    if (rows.length === perWrite && last !== undefined) {
      await settle(tx, id, { cursor: last.contact_id, state: row.state })
    } else if (isEnded) {
      await tx.deleteFrom('automation_dates').where('automation_id', '=', id).execute()
    } else await settle(tx, id, { cursor: '', state: 'idle' })
  })
}

async function fillSome(
  tx: Tx,
  row: { automation_id: string; account_id: string; rule: string; cursor: string },
  now: number,
): Promise<void> {
  const contacts = await tx
    .selectFrom('contacts')
    .select('id')
    .where('account_id', '=', row.account_id)
    .where('id', '>', row.cursor)
    .orderBy('id')
    .limit(perWrite)
    .execute()
  const ids = contacts.map((one) => one.id)
  await placeDates(tx, [row], ids, { now })
  const isFull = ids.length < perWrite
  const state = isFull ? 'current' : 'filling'
  await settle(tx, row.automation_id, { cursor: isFull ? '' : (ids.at(-1) ?? ''), state })
}

const settle = (
  tx: Tx,
  id: string,
  to: { cursor: string; state: 'filling' | 'current' | 'stopped' | 'idle' | 'ended' },
) => tx.updateTable('automation_dates').set(to).where('automation_id', '=', id).execute()
