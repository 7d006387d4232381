import { type DeleteResult, sql } from 'kysely'
import { nextTurn } from '../bounded/index.js'
import { releaseContents } from '../contents/index.js'
import { removeEntries } from '../emails/index.js'
import type { Retentions } from '../events/index.js'
import {
  cell,
  firstUuidAt,
  greatest,
  idsOf,
  mailNumber,
  prepared,
  type Read,
  readExtras,
  rowsOf,
  storedTexts,
  type Tx,
} from '../store/index.js'
import { forgetDeliveries } from './past-deliveries.js'
import { inSlices, type RetentionDeps } from './slices.js'
import { countedBelow } from './state.js'
import { releaseBodies } from './uses.js'

// How many mails are deleted by one set of statements; each has some ten rows in other tables.
const mailsAPiece = 20
const mailsARead = 200

/**
 * Deletes the mails that their accounts no longer keep, with their deliveries and index entries. Their
 * age counts from the end of the last delivery. A mail that waits is not touched. Resolves with how
 * many were deleted.
 */
export async function forgetMails(
  deps: RetentionDeps,
  retentions: Retentions,
  { now, signal }: { now: number; signal: AbortSignal },
): Promise<number> {
  let gone = 0
  for (const [accountId, keepMs] of await retentions()) {
    if (signal.aborted) break
    const until = now - keepMs
    for (let after: string | undefined = ''; after !== undefined && !signal.aborted; ) {
      const below = await countedBelow(deps.store.read)
      const rows: OldMail[] = await oldMails(deps.store.read, {
        accountId,
        after,
        before: firstUuidAt(until),
        below,
        limit: mailsARead,
      })
      after = rows.length < mailsARead ? undefined : rows.at(-1)?.id
      const through = rows.filter((mail) => isThrough(mail) && (mail.endedAt ?? 0) < until)
      // A run of an automation may wait for an open or click of this mail.
      const asked = await askedAbout(deps.store.read, through)
      const old = through.filter(({ id }) => !asked.has(id))
      const pieces = []
      for (let from = 0; from < old.length; from += mailsAPiece) {
        // The freed bytes are those of the bodies, which may have megabytes.
        const item = old.slice(from, from + mailsAPiece)
        pieces.push({ item, bytes: item.reduce((sum, { bytes }) => sum + bytes, 0) })
      }
      const forget = async (tx: Tx, mails: readonly OldMail[]) => {
        gone += await deleteMails(tx, mails, now)
      }
      await inSlices(deps, pieces, forget, signal, 'byRow')
      await nextTurn()
    }
  }
  return gone
}

/** A mail that may be old enough, with everything that decides about its deletion. */
interface OldMail {
  id: string
  accountId: string
  bodyId: number | null
  to_list: string
  extras: string | null
  message_id: string
  broadcastExtras: string | null
  type: 'transactional' | 'marketing'
  stepId: number | null
  waiting: number
  /** When its last delivery ended, or when it was to leave, whichever is later. */
  endedAt: number | null
  isQueued: 0 | 1
  /** The figures have not counted all its events yet. */
  isNew: 0 | 1
  bytes: number
}

/** Nothing of the mail waits, and the figures have counted all of it. */
const isThrough = ({ waiting, isQueued, isNew }: OldMail) => waiting === 0 && !isQueued && !isNew

/** One page of an account's mails. */
interface OldMails {
  accountId: string
  after: string
  before: string
  below: number
  limit: number
}

/** An account's mails in the order of their ids, by the index `emails_account`; all else by keys. */
export const oldMails = prepared<OldMails, OldMail>((db, values) =>
  db
    .selectFrom('emails')
    .leftJoin('broadcasts', 'broadcasts.id', 'emails.broadcast_id')
    .leftJoin('bodies', 'bodies.id', 'emails.body_id')
    .select(['emails.id', 'emails.account_id as accountId', 'emails.body_id as bodyId'])
    .select(['emails.to_list', 'emails.extras', 'emails.message_id'])
    .select(['broadcasts.extras as broadcastExtras'])
    .select(['emails.type', 'automation_step_id as stepId', 'emails.waiting'])
    .select((eb) => [
      greatest(
        eb.ref('emails.created_at'),
        sql`coalesce(emails.scheduled_at, 0)`,
        sql`coalesce(${eb
          .selectFrom('deliveries')
          .select(({ fn }) => fn.max('ended_at').as('at'))
          .whereRef('deliveries.email_id', '=', 'emails.id')}, 0)`,
      ).as('endedAt'),
      sql<number>`coalesce(octet_length(html), 0) + coalesce(octet_length(text), 0)`.as('bytes'),
      isQueued.as('isQueued'),
      isNew.as('isNew'),
    ])
    .where('emails.account_id', '=', values.accountId)
    .where('emails.id', '>', values.after)
    .where('emails.id', '<', values.before)
    .where(mailNumber, '<', values.below)
    .orderBy('emails.id')
    .limit(values.limit),
)

const isQueued = sql<0 | 1>`exists (select 1 from queue where queue.email_id = emails.id)`

const isNew = sql<0 | 1>`exists (select 1 from events where events.email_id = emails.id
  and events.id > (select event_id from figure_cursors where figure_cursors.id = 1))`

/** Mails about whose fate a live run of an automation may still ask. */
async function askedAbout(read: Read, mails: readonly OldMail[]): Promise<ReadonlySet<string>> {
  const keys = mails.flatMap(({ id, accountId, to_list, stepId }) => {
    const [address] = storedTexts(to_list) ?? []
    // In the contacts' form, as SQLite's lower() knows only ASCII letters.
    return stepId === null || address === undefined
      ? []
      : [[id, accountId, address.toLowerCase(), stepId]]
  })
  if (keys.length === 0) return new Set()
  return new Set((await ofLiveRuns(read, { json: JSON.stringify(keys) })).map(({ id }) => id))
}

const ofLiveRuns = prepared<{ json: string }, { id: string }>((db, { json }) =>
  db
    .selectFrom(rowsOf(json))
    .innerJoin('contacts', (join) =>
      join
        .on('contacts.account_id', '=', cell(1, 'text'))
        .on('contacts.address', '=', cell(2, 'text')),
    )
    .innerJoin('automation_steps as steps', (join) => join.on('steps.id', '=', cell(3, 'integer')))
    .innerJoin('automation_live as live', (join) =>
      join
        .onRef('live.contact_id', '=', 'contacts.id')
        .onRef('live.automation_id', '=', 'steps.automation_id'),
    )
    .select(cell(0, 'text').as('id')),
)

/** Deletes finished mails with all their rows; resolves with how many. */
async function deleteMails(tx: Tx, mails: readonly OldMail[], now: number): Promise<number> {
  // Unsubscriptions by a mail are in the record of consent, from which the figures learn the mail.
  if ((await uncountedConsent(tx, {})).length > 0) return 0
  const given = JSON.stringify(mails.map(({ id }) => id))
  // The deleted mails; the rows of the others stay.
  const still = new Set((await deleteRows(tx, { ids: given })).map(({ id }) => id))
  const gone = mails.filter(({ id }) => still.has(id))
  if (gone.length === 0) return 0
  const ids = JSON.stringify(gone.map(({ id }) => id))
  await forgetDeliveries(tx, gone, { ids, now })
  const tags = gone.flatMap(({ id, accountId, extras, broadcastExtras }) =>
    tagsIn(extras ?? broadcastExtras).map(({ name, value }) => [accountId, name, value, id]),
  )
  if (tags.length > 0) await deleteTags(tx, { json: JSON.stringify(tags) })
  await removeEntries(
    tx,
    gone.map(({ id, accountId: account_id, to_list, extras, message_id }) => ({
      id,
      account_id,
      to_list,
      extras,
      message_id,
    })),
  )
  if (gone.some(({ stepId }) => stepId !== null)) await deleteMerges(tx, { ids })
  await releaseContentsOf(tx, gone)
  return gone.length
}

/** The tags of a mail, or of its campaign. */
const tagsIn = (extras: string | null) => readExtras(extras)?.tags ?? []

/** Removes the mails' uses of their bodies, or their whole messages. */
export async function releaseContentsOf(
  tx: Tx,
  mails: readonly { id: string; bodyId: number | null }[],
): Promise<void> {
  const uses = new Map<number, number>()
  for (const { bodyId } of mails) {
    if (bodyId !== null) uses.set(bodyId, (uses.get(bodyId) ?? 0) + 1)
  }
  await releaseBodies(tx, uses)
  const raw = mails.filter(({ bodyId }) => bodyId === null).map(({ id }) => id)
  if (raw.length === 0) return
  const messages = await deleteMessages(tx, { ids: JSON.stringify(raw) })
  await releaseContents(
    tx,
    messages.map(({ contentId }) => contentId),
  )
}

/** Whether somebody unsubscribed by a mail and the figures have not counted it yet. */
const uncountedConsent = prepared<object, { id: number }>((db) =>
  db
    .selectFrom('consent')
    .select('id')
    .where('id', '>', (eb) => eb.selectFrom('figure_cursors').select('consent_id'))
    .where('kind', 'in', ['unsubscribed', 'left_topic'])
    .limit(1),
)

/** Checks again inside the write, as a mail may have been retried since it was read. */
const deleteRows = prepared<{ ids: string }, { id: string }>((db, { ids }) =>
  db
    .deleteFrom('emails')
    .where('id', 'in', idsOf(ids, 'text'))
    .where('waiting', '=', 0)
    .where(sql<boolean>`not ${isQueued}`)
    .where(sql<boolean>`not ${isNew}`)
    .returning('id'),
)

/** By the primary key, as tags have no index by mail. */
const deleteTags = prepared<{ json: string }, DeleteResult>((db, { json }) =>
  db.deleteFrom('email_tags').where(({ eb, refTuple, selectFrom }) =>
    eb(
      refTuple('account_id', 'name', 'value', 'email_id'),
      'in',
      selectFrom(rowsOf(json))
        .select([
          cell(0, 'text').as('account_id'),
          cell(1, 'text').as('name'),
          cell(2, 'text').as('value'),
          cell(3, 'text').as('email_id'),
        ])
        .$asTuple('account_id', 'name', 'value', 'email_id'),
    ),
  ),
)

/** The merged values for recipients of campaigns and automations. */
const deleteMerges = prepared<{ ids: string }, DeleteResult>((db, { ids }) =>
  db.deleteFrom('email_merges').where('email_id', 'in', idsOf(ids, 'text')),
)

/** Messages that programs wrote as a whole, and the contents that they used. */
const deleteMessages = prepared<{ ids: string }, { contentId: number }>((db, { ids }) =>
  db
    .deleteFrom('raw_messages')
    .where('email_id', 'in', idsOf(ids, 'text'))
    .returning('content_id as contentId'),
)
