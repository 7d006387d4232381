import type { Effect, EventType, MailEvent } from '../../events/index.js'
import type { JsonObject } from '../../json/index.js'
import { makeRunTally, type RunTally } from '../../runs/index.js'
import { cell, idsOf, newUuid, prepared, rowsOf, type Tx } from '../../store/index.js'
import { makeVersions, type RunContact, type Versions } from '../definition/index.js'
import { contactColumns, contactOf, type RunContactRow } from '../runs/index.js'
import { ingestEvents } from './ingest.js'
import { type LiveLimit, readListeners } from './listeners.js'
import type { NewEvent } from './store-events.js'

// What ends a delivery: from then on nothing is merged into its mail.
const ends: readonly EventType[] = ['delivered', 'relayed', 'bounced', 'failed', 'suppressed']
// What readers do with a mail; an unsubscription is counted too, but the appliance has no event of its own for it.
const visits: readonly EventType[] = ['opened', 'clicked']
const told: readonly EventType[] = [...ends, ...visits, 'unsubscribed']

/** The appliance's own events, which automations may begin with and wait for (automations.md §3.3). */
const systemEvents: Partial<Record<EventType, string>> = {
  opened: '$email.opened',
  clicked: '$email.clicked',
  bounced: '$email.bounced',
}

/**
 * An effect of events. The counters of steps follow what becomes of their mails, and the merged values of mails that
 * have left are deleted. Opens, clicks and bounces start automations that begin with them, and runs that wait for them
 * hear them. Machines never count.
 */
export function makeFollowAutomations(isFull: LiveLimit): Effect {
  const versions = makeVersions()
  return async (tx, events) => {
    const concerned = events.filter(({ type }) => told.includes(type))
    if (concerned.length === 0) return
    const ofSteps = concerned.filter(({ stepId }) => stepId !== null)
    if (ofSteps.length > 0) await countForSteps(tx, ofSteps)
    await takeSystemEvents(tx, concerned, versions, isFull)
  }
}

/** A mail that a step has made. */
interface StepMail {
  id: string
  stepId: number
}

/**
 * Counts in the transaction that writes the events of mails, so that the figures of steps never differ from the log.
 * All events of a batch are counted together, one update a step.
 */
async function countForSteps(tx: Tx, events: readonly MailEvent[]): Promise<void> {
  const emailIds = JSON.stringify([...new Set(events.map(({ emailId }) => emailId))])
  const mails = new Map((await stepMails(tx, { emailIds })).map((mail) => [mail.id, mail]))
  if (mails.size === 0) return
  const tally = makeRunTally()
  const ended: string[] = []
  for (const event of events) {
    const mail = mails.get(event.emailId)
    if (mail === undefined) continue
    const { type } = event
    if (ends.includes(type)) ended.push(mail.id)
    if (type === 'bounced') countBounce(event, mail, tally)
    else if (type === 'delivered' || type === 'unsubscribed') tally.step(mail.stepId, type)
    else if ((type === 'opened' || type === 'clicked') && isFirst(event)) {
      tally.step(mail.stepId, type)
    }
  }
  if (ended.length > 0) await forgetMerges(tx, { emailIds: JSON.stringify(ended) })
  await tally.write(tx)
}

/** A late report takes back that the mail was delivered; a second report changes nothing. */
function countBounce({ before }: MailEvent, { stepId }: StepMail, tally: RunTally): void {
  if (before === 'bounced') return
  if (before === 'delivered') tally.step(stepId, 'delivered', -1)
  tally.step(stepId, 'bounced')
}

/**
 * Whether this is the first open or click of the mail by a person: the figures count mails, not
 * clicks.
 */
const isFirst = ({ detail }: MailEvent) => detail?.machine !== true && detail?.first === true

/** Most mails belong to no automation; the partial index on `automation_step_id` passes them over. */
const stepMails = prepared<{ emailIds: string }, StepMail>((db, { emailIds }) =>
  db
    .selectFrom('emails')
    .select('id')
    .select((eb) => eb.ref('automation_step_id').$notNull().as('stepId'))
    .where('id', 'in', idsOf(emailIds, 'text'))
    .where('automation_step_id', 'is not', null),
)

/** Deletes the values of mails that have ended: they are the contacts' data, and no longer needed. */
const forgetMerges = prepared<{ emailIds: string }, unknown>((db, { emailIds }) =>
  db.deleteFrom('email_merges').where('email_id', 'in', idsOf(emailIds, 'text')),
)

/** Takes in each account's events that one of its automations or the contact's runs hears. */
async function takeSystemEvents(
  tx: Tx,
  events: readonly MailEvent[],
  versions: Versions,
  isFull: LiveLimit,
): Promise<void> {
  const byPeople = events.filter(
    ({ type, recipient, detail }) =>
      systemEvents[type] !== undefined && recipient !== null && detail?.machine !== true,
  )
  for (const accountId of new Set(byPeople.map((event) => event.accountId))) {
    const [automation] = await anyAutomation(tx, { accountId })
    if (automation === undefined) continue
    const theirs = byPeople.filter((event) => event.accountId === accountId)
    const contacts = await contactsOf(tx, accountId, theirs)
    const isHeard = await readListeners(tx, versions, accountId, {
      contactIds: [...contacts.values()].map(({ id }) => id),
      names: [...new Set(theirs.map(({ type }) => systemEvents[type] ?? ''))],
    })
    const depths = await depthsOf(tx, contacts, theirs)
    const news = theirs.flatMap((event): NewEvent[] => {
      const contact = contacts.get(event.recipient?.toLowerCase() ?? '')
      const name = systemEvents[event.type] ?? ''
      if (contact === undefined || !isHeard(contact.id, name)) return []
      const { url } = event.detail ?? {}
      const payload: JsonObject = { emailId: event.emailId, ...(url === undefined ? {} : { url }) }
      return [{ contact, name, payload: JSON.stringify(payload), depth: depths(event) }]
    })
    if (news.length === 0) continue
    const now = Math.max(...theirs.map(({ at }) => at))
    const ids = { uuid: () => newUuid(now) }
    const full = await isFull(tx, now)
    await ingestEvents(tx, { ids, versions }, { accountId, now, full }, news)
  }
}

// Most accounts have none: then an open or a bounce costs this search alone.
const anyAutomation = prepared<{ accountId: string }, { id: string }>((db, { accountId }) =>
  db.selectFrom('automations').select('id').where('account_id', '=', accountId).limit(1),
)

/**
 * How many automations' mails in a row have led to each event: one more than for the event that began its mail's run.
 */
async function depthsOf(
  tx: Tx,
  contacts: ReadonlyMap<string, RunContact>,
  events: readonly MailEvent[],
): Promise<(event: MailEvent) => number> {
  const pairs = events.flatMap(({ emailId, recipient }) => {
    const contact = contacts.get(recipient?.toLowerCase() ?? '')
    return contact === undefined ? [] : [[emailId, contact.id]]
  })
  const rows = await causesOf(tx, { pairs: JSON.stringify(pairs) })
  const causes = new Map(rows.map(({ id, depth }) => [id, depth ?? 0]))
  return ({ emailId }) => 1 + (causes.get(emailId) ?? 0)
}

// The run may be gone by then. So the event is the last one before the mail with which its automation begins.
const causesOf = prepared<{ pairs: string }, { id: string; depth: number | null }>(
  (db, { pairs }) =>
    db
      .selectFrom(rowsOf(pairs))
      .innerJoin('emails', (join) => join.on('emails.id', '=', cell(0, 'text')))
      .innerJoin('automation_steps as steps', 'steps.id', 'emails.automation_step_id')
      .innerJoin('automation_triggers as triggers', (join) =>
        join
          .onRef('triggers.account_id', '=', 'emails.account_id')
          .onRef('triggers.automation_id', '=', 'steps.automation_id'),
      )
      .select('emails.id')
      .select((eb) =>
        eb
          .selectFrom('automation_events as began')
          .select('began.depth')
          .where('began.contact_id', '=', cell(1, 'text'))
          .whereRef('began.name', '=', 'triggers.event')
          .whereRef('began.at', '<=', 'emails.created_at')
          .orderBy('began.id', 'desc')
          .limit(1)
          .as('depth'),
      ),
)

/** By address: events of deliveries know a recipient, not a contact. */
async function contactsOf(
  tx: Tx,
  accountId: string,
  events: readonly MailEvent[],
): Promise<Map<string, RunContact>> {
  const keys = [...new Set(events.map(({ recipient }) => recipient?.toLowerCase() ?? ''))]
  const rows = await contactsAt(tx, { accountId, keys: JSON.stringify(keys) })
  return new Map(rows.map(({ address, ...row }) => [address, contactOf(row)]))
}

/** Contacts by address, in lower case. */
const contactsAt = prepared<
  { accountId: string; keys: string },
  RunContactRow & { address: string }
>((db, { accountId, keys }) =>
  db
    .selectFrom('contacts')
    .select([...contactColumns, 'address'])
    .where('account_id', '=', accountId)
    .where('address', 'in', idsOf(keys, 'text')),
)
