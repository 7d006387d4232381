import { isRecent } from '../../clock/index.js'
import type { ContactEffect, ContactNews } from '../../contacts/index.js'
import type { JsonObject } from '../../json/index.js'
import { idsOf, newUuid, prepared, type Read, type Tx } from '../../store/index.js'
import { asRunContact, readableVersion, type Versions } from '../definition/index.js'
import { ingestEvents } from './ingest.js'
import type { NewEvent } from './store-events.js'
import { triggersOf } from './triggers.js'

/** Whether the contact's event of that name starts something, or a live run of theirs may hear it. */
type IsHeard = (contactId: string, name: string) => boolean

/**
 * The appliance's own events come with everything that it does, and are kept only where somebody hears them: an enabled
 * automation that begins with one, or a live run that waits for one at any of its steps (events before that step count
 * too), or that ends or jumps with it.
 */
export async function readListeners(
  tx: Tx,
  versions: Versions,
  accountId: string,
  { contactIds, names }: { contactIds: readonly string[]; names: readonly string[] },
): Promise<IsHeard> {
  const starting = await triggersOf(tx, {
    accountId,
    names: JSON.stringify(names.map((name) => [name])),
  })
  const starters = new Set(starting.map(({ event }) => event))
  const heard = new Set<string>()
  for (const run of await liveOf(tx, { contactIds: JSON.stringify(contactIds) })) {
    const version = await readableVersion(versions, tx, run)
    for (const name of version === undefined ? [] : [...version.waitsFor, ...version.listens]) {
      heard.add(`${run.contactId} ${name}`)
    }
  }
  return (contactId, name) => starters.has(name) || heard.has(`${contactId} ${name}`)
}

/** A run of a contact, by its version. */
interface LiveRun {
  contactId: string
  automationId: string
  version: number
}

/** By contact: few runs of one contact are alive at once. */
const liveOf = prepared<{ contactIds: string }, LiveRun>((db, { contactIds }) =>
  db
    .selectFrom('automation_live')
    .select(['contact_id as contactId', 'automation_id as automationId', 'version'])
    .where('contact_id', 'in', idsOf(contactIds, 'text')),
)

/** Whether as many runs of all accounts are live as are allowed. */
export type LiveLimit = (read: Read, now: number) => Promise<boolean>

// The number need not be exact, and counting takes longer than an event.
const countEveryMs = 10_000

/** Counts the live runs of all accounts now and then; `read` may be a transaction. */
export function makeLiveLimit(maxLive: number): LiveLimit {
  let counted: { at: number; full: boolean } | undefined
  return async (read, now) => {
    if (counted !== undefined && isRecent(counted.at, now, countEveryMs)) return counted.full
    const { live } = await read
      .selectFrom('automations')
      .select((eb) => eb.fn.sum<number | null>(eb('running', '+', eb.ref('waiting'))).as('live'))
      .executeTakeFirstOrThrow()
    counted = { at: now, full: (live ?? 0) >= maxLive }
    return counted.full
  }
}

/** The events that news of a contact brings, each by its name with what it says. */
const happenedIn = ({ added, listId, form }: ContactNews): [name: string, JsonObject][] => {
  const ofList: JsonObject = listId === undefined ? {} : { listId }
  return [
    ...(added ? [['$contact.created', ofList] as [string, JsonObject]] : []),
    ...(listId === undefined ? [] : [['$list.joined', ofList] as [string, JsonObject]]),
    ...(form === undefined
      ? []
      : [['$form.confirmed', { formId: form.id, form: form.name }] as [string, JsonObject]]),
  ]
}

/**
 * An effect of contacts: automations that begin with `$contact.created`, `$list.joined` or `$form.confirmed` are
 * started, and runs that wait for these hear them, in the transaction that adds somebody. Accounts without such
 * automations cost two searches of an index.
 */
export function makeFollowContacts(
  versions: Versions,
  clock: { now(): number },
  isFull: LiveLimit,
): ContactEffect {
  return async (tx, accountId, news) => {
    const contactIds = news.map(({ contact }) => contact.id)
    const happened = news.flatMap((one) =>
      happenedIn(one).map(([name, says]) => ({ contact: one.contact, name, says })),
    )
    const names = [...new Set(happened.map(({ name }) => name))]
    const isHeard = await readListeners(tx, versions, accountId, { contactIds, names })
    const events = happened
      .filter(({ contact, name }) => isHeard(contact.id, name))
      .map(
        ({ contact, name, says }): NewEvent => ({
          contact: asRunContact(contact),
          name,
          payload: JSON.stringify(says),
          depth: 1,
        }),
      )
    if (events.length === 0) return
    const now = clock.now()
    const ids = { uuid: () => newUuid(now) }
    const full = await isFull(tx, now)
    await ingestEvents(tx, { ids, versions }, { accountId, now, full }, events)
  }
}
