import { boolean, optional, type } from 'superstruct'
import type { Principal } from '../accounts/index.js'
import { checkOpen, type Plans, readBilling } from '../billing/index.js'
import { type Clock, isoTime } from '../clock/index.js'
import { type Api, described, QueryFlag, reply, Uuid } from '../http/index.js'
import { rule } from '../json/index.js'
import type { Store } from '../store/index.js'
import { listOptOuts, optOutCounts } from './opt-out.js'
import {
  createTopic,
  isLine,
  listTopics,
  maxDescriptionLength,
  maxNameLength,
  type Topic,
  updateTopic,
} from './topic.js'

export interface TopicRouteDeps {
  store: Store
  clock: Clock
  plans: Plans
}

// One answer has no more: the API reads opt-outs without pages.
const maxOptOuts = 500

const TopicParams = {
  params: type({ id: Uuid }),
  notFound: 'The account has no topic with this id',
}
const Name = line(1, maxNameLength)
const Description = line(0, maxDescriptionLength)
const Position = rule<number>('a whole number', Number.isSafeInteger)

const TopicBody = type({
  name: Name,
  description: optional(Description),
  position: optional(Position),
})

const ChangesBody = type({
  name: optional(Name),
  description: optional(Description),
  position: optional(Position),
  archived: optional(described(boolean(), 'true or false')),
})

/**
 * `/v1/topics`: list, create, change, archive, and who has left. Only creating needs an open
 * account: one that has not paid may still read and put in order what it has.
 */
export function topicRoutes(api: Api<Principal>, deps: TopicRouteDeps): void {
  const { read } = deps.store

  api.get(
    '/v1/topics',
    { query: type({ includeArchived: optional(QueryFlag) }) },
    async ({ account, query }) => {
      const archived = query.includeArchived === true
      const topics = await listTopics(read, account.accountId, { archived })
      const left = await optOutCounts(
        read,
        topics.map(({ id }) => id),
      )
      return { topics: topics.map((topic) => shown(topic, left)) }
    },
  )

  api.post('/v1/topics', { body: TopicBody }, async ({ account, body, remember }) => {
    const { accountId } = account
    checkOpen(await readBilling(read, deps.plans, accountId))
    const { name, description, position } = body
    const given = { name, description, position }
    const topic = await createTopic(deps, accountId, given, (tx, topic) =>
      // The answer is remembered in the same transaction: a repeat with this Idempotency-Key makes
      // no second topic.
      remember(tx, created(topic), 201),
    )
    return reply(201, created(topic))
  })

  api.patch(
    '/v1/topics/:id',
    { ...TopicParams, body: ChangesBody },
    async ({ account, params, body: { name, description, position, archived } }) => {
      const changes = { name, description, position, archived }
      const topic = await updateTopic(deps, account.accountId, params.id, changes)
      return shown(topic, await optOutCounts(read, [topic.id]))
    },
  )

  // DELETE archives. A topic is never deleted, as its opt-outs must hold for as long as somebody
  // might send on it.
  api.delete('/v1/topics/:id', TopicParams, async ({ account, params }) => {
    await updateTopic(deps, account.accountId, params.id, { archived: true })
    return { message: 'Topic archived; opt-outs are kept' }
  })

  api.get('/v1/topics/:id/opt-outs', TopicParams, async ({ account, params }) => {
    const { topic, optOuts } = await listOptOuts(read, account.accountId, params.id, maxOptOuts)
    return {
      topic,
      optOuts: optOuts.map((one) => ({ ...one, optedOutAt: isoTime(one.optedOutAt) })),
    }
  })
}

const created = ({ id, name }: Topic) => ({ id, name, message: 'Topic created' })

/** A topic as the API shows it, with how many addresses have left it. */
const shown = (topic: Topic, left: ReadonlyMap<string, number>) => ({
  id: topic.id,
  name: topic.name,
  description: topic.description,
  position: topic.position,
  archived: topic.archived,
  optedOut: left.get(topic.id) ?? 0,
  createdAt: isoTime(topic.createdAt),
})

/** A text that stands in one line of a page or header. */
function line(min: number, max: number) {
  return rule<string>(
    `a string of ${min} to ${max} characters without control characters`,
    (value) => typeof value === 'string' && isLine(value, min, max),
  )
}
