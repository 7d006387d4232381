import { requireList } from '../contacts/index.js'
import { ApiError } from '../errors/index.js'
import { ShapeError } from '../fields/index.js'
import { brokenParts, requireSegment } from '../segments/index.js'
import { type BroadcastRow, likeAnyCase, type Read } from '../store/index.js'

/**
 * The audience of a campaign: everybody in these lists and segments, once, without the people of the excluded ones.
 * Ids, in lower case.
 */
export interface Whom {
  lists: readonly string[]
  segments: readonly string[]
  withoutLists: readonly string[]
  withoutSegments: readonly string[]
}

/** The audience of a campaign, without people who are suppressed or have left its topic. */
export interface Audience {
  accountId: string
  whom: Whom
  topicId: string | null
  /** The kind of its mails: those of a notice are transactional. Marketing by default. */
  type?: 'transactional' | 'marketing'
}

/** The audience of one whole list. */
export const ofList = (listId: string): Whom => ({
  lists: [listId.toLowerCase()],
  segments: [],
  withoutLists: [],
  withoutSegments: [],
})

/** How many lists and segments an audience may name. */
export const mostParts = 20

/** The list, if the audience is one list and nothing else. */
export function onlyListOf(whom: Whom): string | undefined {
  const { lists, segments, withoutLists, withoutSegments } = whom
  const others = segments.length + withoutLists.length + withoutSegments.length
  return lists.length === 1 && others === 0 ? lists[0] : undefined
}

/** Whether it names nobody, as the audience of a draft may. */
export const isNobody = ({ lists, segments }: Whom) => lists.length + segments.length === 0

/** How a request gives it: one list, or an audience. */
export interface WhomInput {
  listId?: string | undefined
  audience?: { [P in keyof Whom]?: readonly string[] | undefined } | undefined
}

/** The audience of a request, each part once. Throws a 400 for both ways or neither, and for too many parts. */
export function whomIn({ listId, audience }: WhomInput): Whom {
  if ((listId === undefined) === (audience === undefined)) {
    const expected = 'listId or audience, one of both'
    const received = listId === undefined ? 'neither' : 'both'
    const message = `Expected ${expected}`
    throw new ShapeError([{ code: 'invalid', expected, received, path: ['listId'], message }])
  }
  if (listId !== undefined) return ofList(listId)
  const ids = (part: keyof Whom) => [
    ...new Set((audience?.[part] ?? []).map((id) => id.toLowerCase())),
  ]
  const whom = {
    lists: ids('lists'),
    segments: ids('segments'),
    withoutLists: ids('withoutLists'),
    withoutSegments: ids('withoutSegments'),
  }
  const parts = Object.values(whom).reduce((sum, { length }) => sum + length, 0)
  if (parts <= mostParts) return whom
  const message = `audience: Expected at most ${mostParts} lists and segments in all`
  throw new ApiError('validation_error', message)
}

/** The audience in a campaign's row. */
export const whomOf = ({ list_id, whom }: Pick<BroadcastRow, 'list_id' | 'whom'>): Whom =>
  whom === null ? ofList(list_id) : (JSON.parse(whom) as Whom)

/** The audience in the form of a row: a single list has a column of its own. */
export function whomColumns(whom: Whom): Pick<BroadcastRow, 'list_id' | 'whom'> {
  const listId = onlyListOf(whom)
  return listId === undefined
    ? { list_id: '', whom: JSON.stringify(whom) }
    : { list_id: listId, whom: null }
}

/**
 * Throws a 404 for a list or segment that the account does not have (any more), or whose rule names something deleted.
 * Throws a 400 for nobody, unless that `mayBeEmpty`, as for a draft, whose segments may be broken too. Parts that
 * `except` has are not checked: a draft keeps a deleted part until somebody removes it.
 */
export async function requireWhom(
  read: Read,
  accountId: string,
  whom: Whom,
  { mayBeEmpty = false, except }: { mayBeEmpty?: boolean; except?: Whom | undefined } = {},
): Promise<void> {
  if (isNobody(whom) && !mayBeEmpty) {
    const message = 'The campaign has no audience yet: choose a list or a segment'
    throw new ApiError('validation_error', message)
  }
  const known = new Set(Object.values(except ?? {}).flat())
  const asked = (ids: readonly string[]) => ids.filter((id) => !known.has(id))
  for (const id of asked([...whom.lists, ...whom.withoutLists])) {
    await requireList(read, accountId, id)
  }
  for (const id of asked([...whom.segments, ...whom.withoutSegments])) {
    const { name, rule } = await requireSegment(read, accountId, id)
    // Such a segment matches nobody: the people whom it should leave out would be mailed.
    const [broken] = mayBeEmpty ? [] : await brokenParts(read, accountId, rule)
    if (broken !== undefined) {
      const message = `The segment "${name}" asks for a ${broken.thing} that is deleted: change its rule`
      throw new ApiError('not_found', message)
    }
  }
}

/** The parts of an audience that still exist. */
export async function stillThere(read: Read, accountId: string, whom: Whom): Promise<Whom> {
  const among = async (
    ids: readonly string[],
    find: (read: Read, accountId: string, id: string) => Promise<unknown>,
  ) => {
    const found: string[] = []
    for (const id of ids) {
      try {
        await find(read, accountId, id)
        found.push(id)
      } catch (error) {
        if (!(error instanceof ApiError) || error.code !== 'not_found') throw error
      }
    }
    return found
  }
  return {
    lists: await among(whom.lists, requireList),
    segments: await among(whom.segments, requireSegment),
    withoutLists: await among(whom.withoutLists, requireList),
    withoutSegments: await among(whom.withoutSegments, requireSegment),
  }
}

/** Campaigns that will be sent, or are being sent, to a list or segment, newest first; only a few of them. */
export async function campaignsTo(
  read: Read,
  accountId: string,
  id: string,
): Promise<{ id: string; name: string }[]> {
  const rows = await read
    .selectFrom('broadcasts')
    .select(['id', 'name', 'subject'])
    .where('account_id', '=', accountId)
    .where('status', 'in', ['draft', 'scheduled', 'sending', 'paused'])
    .where(({ or, eb }) => or([eb('list_id', '=', id), likeAnyCase('whom', `"${id}"`)]))
    .orderBy('id', 'desc')
    .limit(mostNamed)
    .execute()
  return rows.map((row) => ({ id: row.id, name: row.name ?? row.subject }))
}

// As many as a sentence has room for.
const mostNamed = 5
