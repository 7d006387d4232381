import type { Selectable } from 'kysely'
import { type Plans, refuseBeyondCeiling } from '../billing/index.js'
import type { Clock } from '../clock/index.js'
import type { BodyOf } from '../contract/index.js'
import { ApiError } from '../errors/index.js'
import { idsIn, prepared, type Read, type Store, type TopicRow, type Tx } from '../store/index.js'
import type * as operations from './contract.js'

export interface Topic {
  id: string
  name: string
  description: string
  position: number
  archived: boolean
  /** How many addresses have left it. */
  optedOut: number
  createdAt: number
}

/**
 * Makes a topic. A name that the account has already, also on an archived topic, is a conflict. With `plans`, a 403
 * where the account has as many topics as it may. `alongside` is written in the same transaction.
 */
export async function createTopic(
  { store, clock, plans }: { store: Store; clock: Clock; plans?: Pick<Plans, 'ceilings'> },
  accountId: string,
  given: BodyOf<typeof operations.createTopic>,
  alongside: (tx: Tx, topic: Topic) => Promise<void> = async () => {},
): Promise<Topic> {
  const topic: Topic = {
    id: store.ids.uuid(),
    name: given.name.trim(),
    description: given.description?.trim() ?? '',
    position: given.position ?? 0,
    archived: false,
    optedOut: 0,
    createdAt: clock.now(),
  }
  await store.write(async (tx) => {
    if (plans !== undefined) await refuseBeyondCeiling(tx, plans, accountId, 'topics')
    const { numInsertedOrUpdatedRows } = await tx
      .insertInto('topics')
      .values({
        id: topic.id,
        account_id: accountId,
        name: topic.name,
        name_key: nameKey(topic.name),
        description: topic.description,
        position: topic.position,
        archived: 0,
        created_at: topic.createdAt,
      })
      // The unique index decides, not a query before it: two requests may create the same name at
      // once.
      .onConflict((conflict) => conflict.columns(['account_id', 'name_key']).doNothing())
      .executeTakeFirstOrThrow()
    if (numInsertedOrUpdatedRows === 0n) throw taken(topic.name)
    await alongside(tx, topic)
  })
  return topic
}

/** Changes what is given and nothing else; archiving and restoring keep every opt-out. */
export async function updateTopic(
  { store }: { store: Store },
  accountId: string,
  id: string,
  { name, description, position, archived }: BodyOf<typeof operations.updateTopic>,
): Promise<Topic> {
  const newName = name?.trim()
  const changes = {
    ...(newName === undefined ? {} : { name: newName, name_key: nameKey(newName) }),
    ...(description === undefined ? {} : { description: description.trim() }),
    ...(position === undefined ? {} : { position }),
    ...(archived === undefined ? {} : { archived: archived ? 1 : 0 }),
  }
  return await store.write(async (tx) => {
    const row = await rowOf(tx, accountId, id)
    if (row === undefined) throw new ApiError('not_found', 'The account has no topic with this id')
    if (newName !== undefined) await refuseTaken(tx, row, newName)
    // The row was read in this transaction, so nobody has changed it since.
    const changed = { ...row, ...changes }
    await tx.updateTable('topics').set(changed).where('id', '=', row.id).execute()
    return toTopic(changed)
  })
}

/**
 * Moves a topic one place up or down in the preference centre; the first and the last one stay where they are. Throws a
 * 404, and a 409 for an archived one, which has no place there.
 */
export async function moveTopic(
  { store }: { store: Store },
  accountId: string,
  id: string,
  way: 'up' | 'down',
): Promise<Topic> {
  return await store.write(async (tx) => {
    const moved = await findTopic(tx, accountId, id)
    const topics = await listTopics(tx, accountId)
    const from = topics.findIndex((one) => one.id === moved.id)
    const other = topics[from + (way === 'up' ? -1 : 1)]
    if (other === undefined) return moved
    const ordered = topics.map((one) => (one === other ? moved : one.id === moved.id ? other : one))
    // Topics with equal positions are in the order of their names, so each gets a position of its own.
    for (const [position, one] of ordered.entries()) {
      if (one.position === position) continue
      await tx.updateTable('topics').set({ position }).where('id', '=', one.id).execute()
    }
    return { ...moved, position: topics.indexOf(other) }
  })
}

/** A topic to send on: 404 when the account has none with this id, 409 when it is archived. */
export async function findTopic(read: Read, accountId: string, id: string): Promise<Topic> {
  const topic = await findAnyTopic(read, accountId, id)
  if (topic.archived) {
    const message = `The topic "${topic.name}" is archived; restore it to send on it`
    throw new ApiError('conflict', message)
  }
  return topic
}

/**
 * A topic, archived or not: what was sent on it can still be read. 404 when the account has none
 * with this id.
 */
export async function findAnyTopic(read: Read, accountId: string, id: string): Promise<Topic> {
  const row = await rowOf(read, accountId, id)
  if (row === undefined) throw new ApiError('not_found', 'The account has no topic with this id')
  return toTopic(row)
}

/** The name by which recipients know a topic, archived or not; undefined when there is none with this id. */
export async function topicName(
  read: Read,
  accountId: string,
  id: string,
): Promise<string | undefined> {
  return (await rowOf(read, accountId, id))?.name
}

/** The topics in the order of the preference centre: all of them, or `limit` from the one at `offset` on. */
export async function listTopics(
  read: Read,
  accountId: string,
  options: { archived?: boolean; limit?: number; offset?: number } = {},
): Promise<Topic[]> {
  const { archived, limit, offset } = options
  // A prepared statement: this is read for each person whose mail is shown.
  if (!archived && limit === undefined) return (await inUse(read, { accountId })).map(toTopic)
  let query = inOrder(read, accountId)
  if (!archived) query = query.where('archived', '=', 0)
  if (limit !== undefined) query = query.limit(limit).offset(offset ?? 0)
  return (await query.execute()).map(toTopic)
}

const inOrder = (read: Read, accountId: string) =>
  read
    .selectFrom('topics')
    .selectAll()
    .where('account_id', '=', accountId)
    .orderBy('position')
    .orderBy('name_key')

const inUse = prepared<{ accountId: string }, Selectable<TopicRow>>((db, { accountId }) =>
  inOrder(db, accountId).where('archived', '=', 0),
)

/** The account's topics among some ids, archived ones too, in the order of the preference centre. */
export async function topicsAmong(
  read: Read,
  accountId: string,
  ids: readonly string[],
): Promise<Topic[]> {
  const rows = await read
    .selectFrom('topics')
    .selectAll()
    .where('id', 'in', idsIn(ids, 'text'))
    .where('account_id', '=', accountId)
    .orderBy('position')
    .orderBy('name_key')
    .execute()
  return rows.map(toTopic)
}

const rowOf = (read: Read, accountId: string, id: string) =>
  read
    .selectFrom('topics')
    .selectAll()
    // RFC 9562 §4: a UUID is the same in upper and lower case.
    .where('id', '=', id.toLowerCase())
    .where('account_id', '=', accountId)
    .executeTakeFirst()

/**
 * What makes two names the same: case, full-width and composed letters do not tell them apart
 * (Unicode NFKC), as recipients could not either.
 */
const nameKey = (name: string) => name.normalize('NFKC').toLowerCase()

async function refuseTaken(
  read: Read,
  row: Pick<TopicRow, 'id' | 'account_id'>,
  name: string,
): Promise<void> {
  const other = await read
    .selectFrom('topics')
    .select('id')
    .where('account_id', '=', row.account_id)
    .where('name_key', '=', nameKey(name))
    .where('id', '<>', row.id)
    .executeTakeFirst()
  if (other !== undefined) throw taken(name)
}

const taken = (name: string) => new ApiError('conflict', `There is a topic named "${name}" already`)

const toTopic = (row: Selectable<TopicRow>): Topic => ({
  id: row.id,
  name: row.name,
  description: row.description,
  position: row.position,
  archived: row.archived !== 0,
  optedOut: row.opted_out,
  createdAt: row.created_at,
})
