import { ApiError } from '../errors/index.js'
import { idsIn, type Read, textCursorOf, textInCursor } from '../store/index.js'
import type { Contact } from './contact.js'
import { type ContactSearch, reasonOf } from './filters.js'
import { requireList } from './list.js'
import { type Member, type MemberPage, withReasons } from './members.js'
import { noMailReason } from './no-mail.js'
import { type FoundContact, type FoundPlace, type Whose, waysOf } from './search-ways.js'

interface SearchOptions {
  limit: number
  cursor?: string | undefined
  /** The country of phone numbers without an international prefix; ISO 3166. */
  defaultCountry: string
}

// How much a page reads at most, so that it always takes only some milliseconds.
const mostLooked = 1_000
const perLook = 250

/**
 * A page of an account's contacts: by address; those of a list, where no beginning is asked for, newest first. A page
 * may have fewer than `limit`, or none, and still a next page: it ends after reading a number of contacts that do not
 * match.
 */
export async function findContacts(
  read: Read,
  accountId: string,
  search: ContactSearch,
  { limit, cursor, defaultCountry }: SearchOptions,
): Promise<MemberPage> {
  const listId =
    search.listId === undefined ? undefined : (await requireList(read, accountId, search.listId)).id
  if (search.email !== undefined && search.q?.trim()) {
    throw new ApiError('validation_error', 'Give either email or q')
  }
  const segmentId = search.segmentId && (await segmentNamed(read, accountId, search.segmentId))
  const wanted = { ...search, listId, segmentId }
  const scope = `all contacts ${accountId} ${JSON.stringify([search.email, search.q, listId, search.state, search.newest, segmentId])}`
  const ways = waysOf({ read, accountId }, wanted, defaultCountry)
  const begin = cursor === undefined ? { way: 0, after: undefined } : placeIn(cursor, scope)
  const isPicky =
    listId !== undefined || segmentId !== undefined || search.state !== undefined || ways.length > 1
  const atOnce = isPicky ? perLook : limit + 1
  const found: (Begin & { member: Member })[] = []
  let looked = 0
  for (let { way, after } = begin; way < ways.length; ) {
    const rows = (await ways[way]?.rows(after, atOnce)) ?? []
    // A contact that came by an earlier way does not come again.
    const fresh = rows.filter(
      ({ contact }) =>
        contact !== undefined && !ways.slice(0, way).some(({ fits }) => fits(contact)),
    )
    for (const one of await fitting({ read, accountId }, fresh, wanted)) {
      found.push({ ...one, way })
    }
    looked += rows.length
    const last = rows.at(-1)
    const isOver = rows.length < atOnce
    if (found.length > limit) return endingAt(found.slice(0, limit), found[limit - 1], scope)
    if (!isOver && looked >= mostLooked) return endingAt(found, { way, after: last?.after }, scope)
    if (isOver) [way, after] = [way + 1, undefined]
    else after = last?.after
  }
  return endingAt(found, undefined, scope)
}

/** A page, and where the next one begins, if there is one. */
const endingAt = (
  found: readonly { member: Member }[],
  next: Begin | undefined,
  scope: string,
): MemberPage => ({
  members: found.map(({ member }) => member),
  nextCursor:
    next === undefined
      ? null
      : textCursorOf(
          JSON.stringify([next.way, next.after?.key, next.after?.id, next.after?.shelf]),
          scope,
        ),
})

/** Reads what `endingAt` has written; the cursor's tag says that nobody else has written it. */
function placeIn(cursor: string, scope: string): Begin {
  const [way, key, id, shelf] = JSON.parse(textInCursor(cursor, scope)) as [
    number,
    string,
    string,
    number | null,
  ]
  return { way, after: { key, id, shelf: shelf ?? undefined } }
}

/** The contacts on the wanted list and in the wanted state, with why they are not mailed. */
async function fitting(
  { read, accountId }: Whose,
  found: readonly FoundContact[],
  { listId, segmentId, state }: ContactSearch,
): Promise<{ member: Member; after: FoundPlace }[]> {
  const contacts = found.flatMap(({ contact }) => contact ?? [])
  const listed = listId && (await onList(read, listId, contacts))
  const held = segmentId && (await inSegment(read, segmentId, contacts))
  const { members, reasonsFor } = await withReasons(read, accountId, contacts)
  const isIn = (member: Member) => {
    if (listed && !listed.has(member.id)) return false
    if (held && !held.has(member.id)) return false
    if (state === undefined) return true
    if (state === 'mailable') return member.suppressed === null
    if (state === 'erased') return noMailReason(member) === 'erased'
    return reasonsFor(member).has(reasonOf[state])
  }
  const places = new Map(found.map(({ contact, after }) => [contact?.id, after]))
  return members.flatMap((member) => {
    const after = places.get(member.id)
    return after === undefined || !isIn(member) ? [] : [{ member, after }]
  })
}

/** Which of these contacts are on a list. */
async function onList(read: Read, listId: string, contacts: readonly Contact[]) {
  const ids = contacts.map(({ id }) => id)
  const rows = await read
    .selectFrom('list_members')
    .select('contact_id')
    .where('list_id', '=', listId)
    .where('contact_id', 'in', idsIn(ids, 'text'))
    .execute()
  return new Set(rows.map(({ contact_id }) => contact_id))
}

/** Which of these contacts are in a segment. */
async function inSegment(read: Read, segmentId: string, contacts: readonly Contact[]) {
  const ids = contacts.map(({ id }) => id)
  const rows = await read
    .selectFrom('segment_members')
    .select('contact_id')
    .where('segment_id', '=', segmentId)
    .where('contact_id', 'in', idsIn(ids, 'text'))
    .execute()
  return new Set(rows.map(({ contact_id }) => contact_id))
}

/** The id of an account's segment; throws a 404. `segments/` is above this folder, so only its table is read. */
async function segmentNamed(read: Read, accountId: string, id: string): Promise<string> {
  const segment = await read
    .selectFrom('segments')
    .select('id')
    .where('id', '=', id.toLowerCase())
    .where('account_id', '=', accountId)
    .where('state', '<>', 'deleted')
    .executeTakeFirst()
  if (segment !== undefined) return segment.id
  throw new ApiError('not_found', 'The account has no segment with this id', { is: 'noSegment' })
}

/** Where a page begins: in which way, and after which contact. */
interface Begin {
  way: number
  after: FoundPlace | undefined
}
