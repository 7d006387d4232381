import { sql } from 'kysely'
import { addressKey } from '../../mime/index.js'
import { cell, prepared, rowsOf, type Tx } from '../../store/index.js'
import { others } from '../add-figures.js'
import type { CampaignTold } from './told.js'
import { linkOf } from './words.js'

// How many links a campaign has. Further ones are counted together: each recipient may have links of their own.
const maxLinks = 200

interface Clicked {
  broadcastId: string
  url: string
  clicked: number
  machine: number
  /** Account, address and time of each click by a person. */
  people: [accountId: string, address: string, at: number][]
}

/** Counts clicks for each link, and notes who clicked which. */
export async function addLinkClicks(tx: Tx, told: readonly CampaignTold[]): Promise<void> {
  const links = new Map<string, Clicked>()
  for (const { what, url, broadcastId, machine, accountId, recipient, at } of told) {
    if (what !== 'clicked' || url === undefined) continue
    const link = linkOf(url) ?? others
    const place = `${broadcastId} ${link}`
    const one = links.get(place) ?? { broadcastId, url: link, clicked: 0, machine: 0, people: [] }
    links.set(place, one)
    if (machine) one.machine++
    else {
      one.clicked++
      one.people.push([accountId, addressKey(recipient), at])
    }
  }
  for (const { broadcastId, url, clicked, machine, people } of links.values()) {
    const number = await numberOf(tx, broadcastId, url)
    const given = { broadcastId, number, clicked, machine }
    const json = JSON.stringify(people)
    const rows = people.length === 0 ? [] : await addPeople(tx, { broadcastId, number, json })
    await addClicks(tx, { ...given, people: rows.length })
  }
}

/** The link's number; it gets one with its first click. */
async function numberOf(tx: Tx, broadcastId: string, url: string): Promise<number> {
  const [known] = await numbersOf(tx, { broadcastId, url })
  if (known !== undefined) return known.number
  const [last] = await lastOf(tx, { broadcastId })
  const number = (last?.number ?? 0) + 1
  if (number > maxLinks && url !== others) return await numberOf(tx, broadcastId, others)
  await insertLink(tx, { broadcastId, number, url })
  return number
}

type Given = { broadcastId: string }

const numbersOf = prepared<Given & { url: string }, { number: number }>(
  (db, { broadcastId, url }) =>
    db
      .selectFrom('broadcast_links')
      .select('number')
      .where('broadcast_id', '=', broadcastId)
      .where('url', '=', url),
)

const lastOf = prepared<Given, { number: number }>((db, { broadcastId }) =>
  db
    .selectFrom('broadcast_links')
    .select('number')
    .where('broadcast_id', '=', broadcastId)
    .orderBy('number', 'desc')
    .limit(1),
)

const insertLink = prepared<Given & { number: number; url: string }, unknown>((db, given) =>
  db.insertInto('broadcast_links').values({
    broadcast_id: given.broadcastId,
    number: given.number,
    url: given.url,
    clicked: 0,
    people: 0,
    clicked_machine: 0,
  }),
)

const addClicks = prepared<
  Given & { number: number; clicked: number; machine: number; people: number },
  unknown
>((db, { broadcastId, number, clicked, machine, people }) =>
  db
    .updateTable('broadcast_links')
    .set({
      clicked: sql`clicked + ${clicked}`,
      people: sql`people + ${people}`,
      clicked_machine: sql`clicked_machine + ${machine}`,
    })
    .where('broadcast_id', '=', broadcastId)
    .where('number', '=', number),
)

/** Resolves with those who had not clicked the link before. */
const addPeople = prepared<Given & { number: number; json: string }, { id: string }>(
  (db, { broadcastId, number, json }) =>
    db
      .insertInto('broadcast_link_people')
      .columns(['broadcast_id', 'link', 'contact_id', 'at'])
      .expression((eb) =>
        eb
          .selectFrom(rowsOf(json))
          .innerJoin('contacts', (join) =>
            join
              .on('contacts.account_id', '=', cell(0, 'text'))
              .on('contacts.address', '=', cell(1, 'text')),
          )
          .select([
            eb.val(broadcastId).as('broadcast_id'),
            eb.val(number).as('link'),
            'contacts.id',
            cell(2, 'integer').as('at'),
          ])
          .where(sql<boolean>`true`),
      )
      .onConflict((conflict) => conflict.doNothing())
      .returning('contact_id as id'),
)
