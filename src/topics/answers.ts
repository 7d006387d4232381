import { isoTime } from '../clock/index.js'
import type { Read } from '../store/index.js'
import { listTopics, type Topic } from './topic.js'

/** The answer when a topic was made. */
export const createdTopic = ({ id, name }: Topic) => ({ id, name, message: 'Topic created' })

/** An account's topics, as the API and the command show them. */
export async function topicsAnswer(read: Read, accountId: string, archived = false) {
  const topics = await listTopics(read, accountId, { archived })
  return { topics: topics.map(shownTopic) }
}

/** A topic as the API shows it, with how many addresses have left it. */
export const shownTopic = (topic: Topic) => ({
  id: topic.id,
  name: topic.name,
  description: topic.description,
  position: topic.position,
  archived: topic.archived,
  optedOut: topic.optedOut,
  createdAt: isoTime(topic.createdAt),
})
