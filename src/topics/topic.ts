import type { Clock } from '../clock/index.js'
import { ApiError } from '../errors/index.js'
import type { Read, Store, TopicRow } from '../store/index.js'

export interface Topic {
  id: string
  name: string
  description: string
  position: number
  archived: boolean
  createdAt: number
}

export interface NewTopic {
  name: string
  description?: string | undefined
  position?: number | undefined
}

const maxNameLength = 60
const maxDescriptionLength = 200

/** Makes a topic; a name that the account has already, archived or not, is a conflict. */
export async function createTopic(
  { store, clock }: { store: Store; clock: Clock },
  accountId: string,
  given: NewTopic,
): Promise<Topic> {
  const topic: Topic = {
    id: store.ids.uuid(),
    name: checked('name', given.name, 1, maxNameLength),
    description: checked('description', given.description ?? '', 0, maxDescriptionLength),
    position: given.position ?? 0,
    archived: false,
    createdAt: clock.now(),
  }
  if (!Number.isSafeInteger(topic.position)) {
    throw new ApiError('validation_error', 'position is a whole number')
  }
  const { numInsertedOrUpdatedRows } = await store.write((tx) =>
    tx
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
      .onConflict((conflict) => conflict.columns(['account_id', 'name_key']).doNothing())
      .executeTakeFirstOrThrow(),
  )
  if (numInsertedOrUpdatedRows === 0n) {
    throw new ApiError('conflict', `There is a topic named "${topic.name}" already`)
  }
  return topic
}

/** A topic to send on: 404 when the account has none of this id, 409 when it is archived. */
export async function findTopic(read: Read, accountId: string, id: string): Promise<Topic> {
  const row = await rowOf(read, accountId, id)
  if (row === undefined) throw new ApiError('not_found', 'No such topic')
  if (row.archived !== 0) {
    throw new ApiError('conflict', `The topic "${row.name}" is archived; restore it to send on it`)
  }
  return toTopic(row)
}

/** What recipients know a topic by, archived or not; undefined when there is none of this id. */
export async function topicName(
  read: Read,
  accountId: string,
  id: string,
): Promise<string | undefined> {
  return (await rowOf(read, accountId, id))?.name
}

/** In the order of the preference centre. */
export async function listTopics(
  read: Read,
  accountId: string,
  options: { archived?: boolean } = {},
): Promise<Topic[]> {
  let query = read
    .selectFrom('topics')
    .selectAll()
    .where('account_id', '=', accountId)
    .orderBy('position')
    .orderBy('name_key')
  if (!options.archived) query = query.where('archived', '=', 0)
  return (await query.execute()).map(toTopic)
}

const rowOf = (read: Read, accountId: string, id: string) =>
  read
    .selectFrom('topics')
    .selectAll()
    .where('id', '=', id.toLowerCase())
    .where('account_id', '=', accountId)
    .executeTakeFirst()

/** Full-width and composed letters count as the plain ones. */
const nameKey = (name: string) => name.normalize('NFKC').toLowerCase()

function checked(field: string, given: string, min: number, max: number): string {
  const text = given.trim()
  const length = [...text].length
  if (length < min || length > max || /\p{Cc}/u.test(text)) {
    const message = `${field} has ${min} to ${max} characters and no control characters`
    throw new ApiError('validation_error', message)
  }
  return text
}

const toTopic = (row: TopicRow): Topic => ({
  id: row.id,
  name: row.name,
  description: row.description,
  position: row.position,
  archived: row.archived !== 0,
  createdAt: row.created_at,
})
