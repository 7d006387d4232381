import { type AccountBilling, checkOpen } from '../../billing/index.js'
import { requireContact } from '../../contacts/index.js'
import { ApiError } from '../../errors/index.js'
import { startedByHand } from '../../events/index.js'
import { makeRunTally } from '../../runs/index.js'
import type { Read, Tx } from '../../store/index.js'
import { findAutomation, type RunContact } from '../definition/index.js'
import {
  type AcceptDeps,
  judgeStarts,
  type NewEvent,
  startRuns,
  storeEvents,
  type Trigger,
  tooManyRuns,
} from '../events/index.js'
import { contactColumns, contactOf, type EntryRefusal } from '../runs/index.js'
import { requireTrigger } from './backfill.js'

type StartOneDeps = Pick<AcceptDeps, 'store' | 'clock' | 'versions' | 'isFull' | 'automate'>

// The event that begins such a run. No client can send it, no step can wait for it, and no other automation hears it.
const { one: eventName } = startedByHand

/** Why the contact does not enter, told to whoever asked for it. */
export const whyNotStarted: Readonly<Record<EntryRefusal, string>> = {
  already_running: 'They are in this automation now',
  already_entered: 'They have been through this automation, which takes everybody once',
  too_soon: 'They were in this automation not long ago: it says how soon they may enter again',
  filtered: 'The filter of the automation does not let them in',
  suppressed: 'Nothing is sent to them: they unsubscribed, bounced, complained or are suppressed',
  too_old: 'What begins the run is too old',
  limit: 'They have entered this automation too often in the last hour',
}

/**
 * Starts a run of an enabled automation for one contact: filter, re-entry and suppressions say whether they enter.
 * Throws a 404, a 422 unless the automation is enabled, and a 409 that says why they do not enter.
 */
export async function startForContact(
  deps: StartOneDeps,
  billing: AccountBilling,
  { automationId, contactId }: { automationId: string; contactId: string },
  alongside: (tx: Tx, run: { id: string }) => Promise<void> = async () => {},
): Promise<{ id: string; name: string }> {
  checkOpen(billing)
  const { accountId } = billing
  const { store, clock, versions } = deps
  if (await deps.isFull()) throw tooManyRuns()
  const run = await store.write(async (tx) => {
    const trigger = await requireStarter(tx, accountId, automationId)
    const contact = await requireRunContact(tx, accountId, contactId)
    const now = clock.now()
    const event: NewEvent = { contact, name: eventName, payload: '{}' }
    const stored = { id: 0, name: eventName, payload: {}, at: now }
    const asIf = [{ ...event, stored }]
    const [judged] = await judgeStarts(tx, versions, { accountId, now }, asIf, [trigger])
    if (judged === undefined) throw new Error(`${automationId} cannot be read`)
    const { reason } = judged
    if (reason !== undefined)
      throw new ApiError('conflict', whyNotStarted[reason], { fields: { reason } })
    const tally = makeRunTally()
    const taken = await storeEvents(tx, accountId, now, [event])
    const ingesting = { ids: store.ids, versions }
    const [began] = await startRuns(tx, ingesting, { accountId, now, tally }, taken, trigger)
    await tally.write(tx)
    const id = began?.[0]?.runId
    if (!id) throw new Error('A run that was let in did not begin')
    await alongside(tx, { id })
    return { id, name: trigger.name }
  }, accountId)
  deps.automate()
  return run
}

async function requireStarter(read: Read, accountId: string, id: string): Promise<Trigger> {
  const trigger = await requireTrigger(read, await findAutomation(read, accountId, id))
  return { ...trigger, event: eventName }
}

/** Throws a 404. */
async function requireRunContact(
  read: Read,
  accountId: string,
  contactId: string,
): Promise<RunContact> {
  const { id } = await requireContact(read, accountId, contactId)
  const row = await read
    .selectFrom('contacts')
    .select([...contactColumns])
    .where('contacts.id', '=', id)
    .executeTakeFirstOrThrow()
  return contactOf(row)
}
