import type { AliasedExpression } from 'kysely'
import { idsOf, prepared, type Read } from '../store/index.js'
import { isNobody, type Whom } from './whom.js'

/*
 * Who is in an audience, by ids of contacts. Each look is a search of an index: lists and segments keep their people in
 * the order of these ids, so that a union of them is a merge.
 */

interface After {
  id: string
  after: string
  limit: number
}

/** The people of all lists, or of all segments; `of` selects one. */
type People = (db: Read) => AliasedExpression<{ id: string; of: string }, 'people'>

const ofLists: People = (db) =>
  db.selectFrom('list_members').select(['contact_id as id', 'list_id as of']).as('people')

const ofSegments: People = (db) =>
  db.selectFrom('segment_members').select(['contact_id as id', 'segment_id as of']).as('people')

const afterIn = (people: People) =>
  prepared<After, { id: string }>((db, { id, after, limit }) =>
    db
      .selectFrom(people(db))
      .select('people.id')
      .where('of', '=', id)
      .where('people.id', '>', after)
      .orderBy('people.id')
      .limit(limit),
  )

const amongIn = (people: People) =>
  prepared<{ id: string; json: string }, { id: string }>((db, { id, json }) =>
    db
      .selectFrom(people(db))
      .select('people.id')
      .where('of', '=', id)
      .where('people.id', 'in', idsOf(json, 'text')),
  )

const onListAfter = afterIn(ofLists)
const inSegmentAfter = afterIn(ofSegments)
const onListAmong = amongIn(ofLists)
const inSegmentAmong = amongIn(ofSegments)

/**
 * The next `limit` of a union after a contact's id, each once, before anybody is left out; fewer at its end. The first
 * of the union are among the first of each part.
 */
async function unionAfter(
  read: Read,
  { lists, segments }: Whom,
  after: string,
  limit: number,
): Promise<string[]> {
  const ids = new Set<string>()
  for (const id of lists) {
    for (const row of await onListAfter(read, { id, after, limit })) ids.add(row.id)
  }
  for (const id of segments) {
    for (const row of await inSegmentAfter(read, { id, after, limit })) ids.add(row.id)
  }
  return [...ids].sort().slice(0, limit)
}

/** Those of `ids` who are in one of these lists or segments. */
async function inAnyOf(
  read: Read,
  { lists, segments }: Pick<Whom, 'lists' | 'segments'>,
  ids: readonly string[],
): Promise<Set<string>> {
  const found = new Set<string>()
  if (ids.length === 0) return found
  const json = JSON.stringify(ids)
  for (const id of lists) for (const row of await onListAmong(read, { id, json })) found.add(row.id)
  for (const id of segments) {
    for (const row of await inSegmentAmong(read, { id, json })) found.add(row.id)
  }
  return found
}

const without = ({ withoutLists, withoutSegments }: Whom) => ({
  lists: withoutLists,
  segments: withoutSegments,
})

/** Those of some contacts who are in an audience. */
export async function amongWhom(read: Read, whom: Whom, ids: readonly string[]): Promise<string[]> {
  const within = [...(await inAnyOf(read, whom, ids))]
  const left = await inAnyOf(read, without(whom), within)
  return within.filter((id) => !left.has(id))
}

/** A page of an audience: who is in it, and where the next page goes on; null: these were the last. */
export async function pageOfWhom(
  read: Read,
  whom: Whom,
  after: string,
  limit: number,
): Promise<{ ids: string[]; next: string | null }> {
  if (isNobody(whom)) return { ids: [], next: null }
  const all = await unionAfter(read, whom, after, limit)
  const left = await inAnyOf(read, without(whom), all)
  return {
    ids: all.filter((id) => !left.has(id)),
    next: all.length < limit ? null : (all.at(-1) ?? null),
  }
}
