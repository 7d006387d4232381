import { sql } from 'kysely'
import { markContacts } from '../changes/index.js'
import type { EventDetail } from '../events/index.js'
import { addressKey } from '../mime/index.js'
import {
  cell,
  isTestId,
  prepared,
  rowsOf,
  type Store,
  storedJson,
  type Tx,
} from '../store/index.js'
import { type LoggedEvent, tellFirsts } from './count-event.js'
import { readCursors } from './cursors.js'

/** What some events say about an address of an account. */
export interface Engaged {
  accountId: string
  /** The whole address in lower case. */
  address: string
  sent: number
  opened: number
  clicked: number
  lastSentAt: number | null
  lastOpenedAt: number | null
  lastClickedAt: number | null
}

/** What events say of each address that they are about: what servers took for it, and what its people did with it. */
export function engagedIn(events: Iterable<LoggedEvent>): Engaged[] {
  const engaged = new Map<string, Engaged>()
  for (const { accountId, emailId, recipient, type, at, detail } of events) {
    // Nobody got this mail or opened it: it is in the test inbox.
    if (isTestId(emailId)) continue
    const isSent = (type === 'delivered' || type === 'relayed') && detail?.before === undefined
    const isVisit = (type === 'opened' || type === 'clicked') && detail?.machine !== true
    if (recipient === null || !(isSent || isVisit)) continue
    const address = addressKey(recipient)
    const place = `${accountId} ${address}`
    const one = engaged.get(place) ?? nothingOf(accountId, address)
    engaged.set(place, one)
    const first = detail?.first === true ? 1 : 0
    if (isSent) {
      one.sent++
      one.lastSentAt = Math.max(at, one.lastSentAt ?? at)
    } else if (type === 'opened') {
      one.opened += first
      one.lastOpenedAt = Math.max(at, one.lastOpenedAt ?? at)
    } else {
      one.clicked += first
      one.lastClickedAt = Math.max(at, one.lastClickedAt ?? at)
    }
  }
  return [...engaged.values()]
}

const nothingOf = (accountId: string, address: string): Engaged => ({
  accountId,
  address,
  sent: 0,
  opened: 0,
  clicked: 0,
  lastSentAt: null,
  lastOpenedAt: null,
  lastClickedAt: null,
})

/**
 * Adds it to the contacts with these addresses, in one statement; resolves with their ids. Other addresses are passed
 * over.
 */
export async function addEngagement(tx: Tx, engaged: readonly Engaged[]): Promise<string[]> {
  if (engaged.length === 0) return []
  const cells = engaged.map((one) => [
    one.accountId,
    one.address,
    one.sent,
    one.opened,
    one.clicked,
    one.lastSentAt,
    one.lastOpenedAt,
    one.lastClickedAt,
  ])
  const ids = (await add(tx, { json: JSON.stringify(cells) })).map(({ id }) => id)
  await markContacts(tx, ids)
  return ids
}

const sum = (column: 'sent' | 'opened' | 'clicked') =>
  sql<number>`${sql.ref(`contact_engagement.${column}`)} + ${sql.ref(`excluded.${column}`)}`
/** The later of two times, of which either may be missing. */
const later = (column: 'last_sent_at' | 'last_opened_at' | 'last_clicked_at') => {
  const [known, given] = [sql.ref(`contact_engagement.${column}`), sql.ref(`excluded.${column}`)]
  return sql<
    number | null
  >`case when ${known} is null or ${given} > ${known} then ${given} else ${known} end`
}

const add = prepared<{ json: string }, { id: string }>((db, { json }) =>
  db
    .insertInto('contact_engagement')
    .columns([
      'contact_id',
      'sent',
      'opened',
      'clicked',
      'last_sent_at',
      'last_opened_at',
      'last_clicked_at',
    ])
    .expression((eb) =>
      eb
        .selectFrom(rowsOf(json))
        .innerJoin('contacts', (join) =>
          join
            .on('contacts.account_id', '=', cell(0, 'text'))
            .on('contacts.address', '=', cell(1, 'text')),
        )
        .select([
          'contacts.id',
          cell(2, 'integer').as('sent'),
          cell(3, 'integer').as('opened'),
          cell(4, 'integer').as('clicked'),
          cell<number | null>(5, 'integer').as('last_sent_at'),
          cell<number | null>(6, 'integer').as('last_opened_at'),
          cell<number | null>(7, 'integer').as('last_clicked_at'),
        ])
        // Without this, SQLite takes `on conflict` for a part of the join.
        .where(sql<boolean>`true`),
    )
    .onConflict((conflict) =>
      conflict.column('contact_id').doUpdateSet({
        sent: sum('sent'),
        opened: sum('opened'),
        clicked: sum('clicked'),
        last_sent_at: later('last_sent_at'),
        last_opened_at: later('last_opened_at'),
        last_clicked_at: later('last_clicked_at'),
      }),
    )
    .returning('contact_id as id'),
)

/**
 * Counts some events from the time before engagement was counted. Resolves with whether there may be more. Only one
 * thread may call it, as with `rollUp`.
 */
export async function engageBefore({ read, write }: Store, limit: number): Promise<boolean> {
  const { engaged_id: from, engaged_until: until } = await read
    .selectFrom('figure_cursors')
    .select(['engaged_id', 'engaged_until'])
    .where('id', '=', 1)
    .executeTakeFirstOrThrow()
  if (from >= until) return false
  const rows = await read
    .selectFrom('events')
    .select(['id', 'account_id as accountId', 'email_id as emailId', 'delivery_id as deliveryId'])
    .select(['recipient', 'class', 'type', 'at', 'reply', 'detail'])
    .where('id', '>', from)
    .where('id', '<=', until)
    .orderBy('id')
    .limit(limit)
    .execute()
  const { untold_until } = await readCursors(read)
  const events = rows.map((row) => ({
    ...row,
    detail: (storedJson(row.detail) ?? null) as EventDetail | null,
  }))
  const told = events.filter(({ id }) => id > untold_until)
  const untold = await tellFirsts(
    read,
    events.filter(({ id }) => id <= untold_until),
  )
  const engaged_id = rows.length < limit ? until : (rows.at(-1)?.id ?? until)
  await write(async (tx) => {
    const { numUpdatedRows } = await tx
      .updateTable('figure_cursors')
      .set({ engaged_id })
      .where('id', '=', 1)
      .where('engaged_id', '=', from)
      .executeTakeFirstOrThrow()
    if (numUpdatedRows === 1n) await addEngagement(tx, engagedIn([...untold, ...told]))
  })
  return engaged_id < until
}
