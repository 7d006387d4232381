import { listTopics, type Topic } from '../../topics/index.js'
import { type PageAnswer, page } from '../shell/answer.js'
import type { Visit } from '../shell/visit.js'
import type { TopicPageDeps } from './deps.js'

/** The topics as recipients see them, or the archived ones. */
interface TopicsView {
  base: string
  accountId: string
  mayWrite: boolean
  archived: boolean
  topics: (Pick<Topic, 'name' | 'description' | 'optedOut'> & {
    page: string
    isFirst: boolean
    isLast: boolean
  })[]
  /** Where the preference centre is shown in a frame. */
  centre: string
}

/** All topics of an account: nobody has more than fit, as each is a choice that recipients read. */
export async function listPage(
  { store: { read } }: TopicPageDeps,
  visit: Visit,
): Promise<PageAnswer> {
  const { account, base, query } = visit
  const archived = query.get('show') === 'archived'
  const all = await listTopics(read, account.id, { archived })
  const topics = all.filter((topic) => topic.archived === archived)
  const view: TopicsView = {
    base,
    accountId: account.id,
    mayWrite: visit.may('contacts.write'),
    archived,
    topics: topics.map(({ id, name, description, optedOut }, at) => ({
      name,
      description,
      optedOut,
      page: `${base}/topics/${id}`,
      isFirst: at === 0,
      isLast: at === topics.length - 1,
    })),
    centre: `${base}/topics/-/centre`,
  }
  return page('topics/list', view, { title: 'Topics' })
}
