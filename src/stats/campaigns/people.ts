import { sql } from 'kysely'
import { markContacts } from '../../changes/index.js'
import { addressKey } from '../../mime/index.js'
import { cell, prepared, rowsOf, type Tx } from '../../store/index.js'
import type { CampaignTold } from './told.js'

const times = ['opened_at', 'clicked_at', 'left_at', 'complained_at', 'taken_at'] as const
const timeOf = {
  opened: 'opened_at',
  clicked: 'clicked_at',
  left: 'left_at',
  complained: 'complained_at',
  taken: 'taken_at',
} as const

type Person = Record<(typeof times)[number], number | null> & {
  accountId: string
  address: string
  broadcastId: string
  emailId: string
  unreachedAt: number | null
  bounce: number | null
  provider: string | null
}

/**
 * Notes for each contact what they did with campaigns, and whether one did not reach them. `bounceOf` has the number
 * of each reason. Somebody who is not a contact (any more) has no row.
 */
export async function addCampaignPeople(
  tx: Tx,
  told: readonly CampaignTold[],
  bounceOf: ReadonlyMap<CampaignTold, number>,
): Promise<void> {
  const people = new Map<string, Person>()
  for (const one of told) {
    if (one.machine) continue
    const address = addressKey(one.recipient)
    const place = `${one.broadcastId} ${address}`
    const person = people.get(place) ?? newPerson(one, address)
    people.set(place, person)
    person.provider = one.provider ?? person.provider
    if (one.what === 'unreached') {
      person.unreachedAt = one.at
      person.bounce = bounceOf.get(one) ?? null
    } else {
      const column = timeOf[one.what]
      person[column] = Math.min(one.at, person[column] ?? one.at)
    }
  }
  if (people.size === 0) return
  const cells = [...people.values()].map(cellsOf)
  const rows = await add(tx, { json: JSON.stringify(cells) })
  await markContacts(tx, [...new Set(rows.map(({ id }) => id))])
}

/** A recipient whose mail a server has taken. */
export interface Taken {
  accountId: string
  recipient: string
  broadcastId: string
  emailId: string
  provider: string
  at: number
}

/**
 * Notes this for some mails that were looked up. Readers wait until all mails are, so nobody is marked as changed.
 */
export async function addTaken(tx: Tx, taken: readonly Taken[]): Promise<void> {
  const cells = taken.map((one) => {
    const person = {
      ...newPerson(one, addressKey(one.recipient)),
      taken_at: one.at,
      provider: one.provider,
    }
    return cellsOf(person)
  })
  if (cells.length > 0) await add(tx, { json: JSON.stringify(cells) })
}

const cellsOf = (one: Person) => [
  one.accountId,
  one.address,
  one.broadcastId,
  one.emailId,
  ...times.map((time) => one[time]),
  one.unreachedAt,
  one.bounce,
  one.provider,
]

const newPerson = (
  { accountId, broadcastId, emailId }: Omit<Taken, 'recipient' | 'at' | 'provider'>,
  address: string,
): Person => ({
  accountId,
  address,
  broadcastId,
  emailId,
  opened_at: null,
  clicked_at: null,
  left_at: null,
  complained_at: null,
  taken_at: null,
  unreachedAt: null,
  bounce: null,
  provider: null,
})

/** The earlier of two times, of which either may be missing. */
const earlier = (column: (typeof times)[number]) => {
  const [known, given] = [sql.ref(`broadcast_people.${column}`), sql.ref(`excluded.${column}`)]
  return sql<
    number | null
  >`case when ${known} is null or ${given} < ${known} then ${given} else ${known} end`
}

/** The new value where there is one. */
const latest = (column: 'unreached_at' | 'bounce' | 'provider') =>
  sql<never>`coalesce(${sql.ref(`excluded.${column}`)}, ${sql.ref(`broadcast_people.${column}`)})`

const add = prepared<{ json: string }, { id: string }>((db, { json }) =>
  db
    .insertInto('broadcast_people')
    .columns([
      ...(['broadcast_id', 'contact_id', 'email_id', 'opened_at', 'clicked_at'] as const),
      ...(['left_at', 'complained_at', 'taken_at', 'unreached_at', 'bounce'] as const),
      'provider',
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
          cell(2, 'text').as('broadcast_id'),
          'contacts.id',
          cell(3, 'text').as('email_id'),
          cell<number | null>(4, 'integer').as('opened_at'),
          cell<number | null>(5, 'integer').as('clicked_at'),
          cell<number | null>(6, 'integer').as('left_at'),
          cell<number | null>(7, 'integer').as('complained_at'),
          cell<number | null>(8, 'integer').as('taken_at'),
          cell<number | null>(9, 'integer').as('unreached_at'),
          cell<number | null>(10, 'integer').as('bounce'),
          cell<string | null>(11, 'text').as('provider'),
        ])
        // Without this, SQLite takes `on conflict` for a part of the join.
        .where(sql<boolean>`true`),
    )
    .onConflict((conflict) =>
      conflict.columns(['contact_id', 'broadcast_id']).doUpdateSet({
        opened_at: earlier('opened_at'),
        clicked_at: earlier('clicked_at'),
        left_at: earlier('left_at'),
        complained_at: earlier('complained_at'),
        taken_at: earlier('taken_at'),
        unreached_at: latest('unreached_at'),
        bounce: latest('bounce'),
        provider: latest('provider'),
      }),
    )
    .returning('contact_id as id'),
)
