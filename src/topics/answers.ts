import { isoTime } from '../clock/index.js'
import type { Read } from '../store/index.js'
import { optOutCounts } from './opt-out.js'
import { listTopics, type Topic } from './topic.js'

/** What is answered when it was made. */
export const createdTopic = ({ id, name }: Topic) => ({ id, name, message: 'Topic created' })

/** Those of an account, as the API and the command show them. */
export async function topicsAnswer(read: Read, accountId: string, archived = false) {
  const topics = await listTopics(read, accountId, { archived })
  const left = await optOutCounts(
    read,
    topics.map(({ id }) => id),
  )
  return { topics: topics.map((topic) => shownTopic(topic, left)) }
}

/** A topic as the API shows it, with how many addresses have left it. */
export const shownTopic = (topic: Topic, left: ReadonlyMap<string, number>) => ({
  id: topic.id,
  name: topic.name,
  description: topic.description,
  position: topic.position,
  archived: topic.archived,
  optedOut: left.get(topic.id) ?? 0,
  createdAt: isoTime(topic.createdAt),
})
