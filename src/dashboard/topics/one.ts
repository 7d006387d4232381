import type { Form } from '../../http/index.js'
import { findAnyTopic, listOptOuts, type Topic } from '../../topics/index.js'
import { type Moment, moment } from '../format.js'
import { type PageAnswer, page } from '../shell/answer.js'
import { type Faults, noFaults } from '../shell/faults.js'
import type { Html } from '../shell/html.js'
import type { AccountPages } from '../shell/page.js'
import { markOf, markPart, type StoredNow } from '../shell/stale.js'
import type { Visit } from '../shell/visit.js'
import { addressPage } from '../suppression/view.js'
import type { TopicPageDeps } from './deps.js'

/** A topic, and who left it last. */
interface OneTopicView {
  base: string
  accountId: string
  mayWrite: boolean
  topic: Topic
  page: string
  left: { email: string; name: string | null; at: Moment; page: string }[]
  /** What its form was filled with. */
  mark: Html
  faults: Faults
}

// What a page has room for; the API gives more.
const shownLeft = 100

/** Of what the form about a topic is filled with. */
export const markOfTopic = ({ name, description }: Topic): string => markOf([name, description])

/** What is stored of a topic otherwise than it was sent. */
const storedNow = ({ name, description }: Topic, sent: Form): StoredNow[] =>
  [
    { label: 'Name', value: name, typed: sent.get('name') },
    { label: 'What it is about', value: description, typed: sent.get('description') },
  ].filter(({ value, typed = '' }) => typed.trim() !== value)

/** A topic: its words, and who has left it. Throws a 404. */
export async function showTopic(
  { store: { read } }: TopicPageDeps,
  visit: Visit,
  faults: Faults,
): Promise<PageAnswer> {
  const { account, base, params, now } = visit
  const topic = await findAnyTopic(read, account.id, params.id ?? '')
  const { optOuts } = await listOptOuts(read, account.id, topic.id, shownLeft)
  const view: OneTopicView = {
    base,
    accountId: account.id,
    mayWrite: visit.may('contacts.write'),
    topic,
    page: `${base}/topics/${topic.id}`,
    left: optOuts.map(({ email, name, optedOutAt }) => ({
      email,
      name,
      at: moment(optedOutAt, now),
      page: addressPage(base, email),
    })),
    mark: await markPart(read, visit, {
      target: topic.id,
      mark: markOfTopic(topic),
      page: `${base}/topics/${topic.id}`,
      now: () => storedNow(topic, visit.fields),
    }),
    faults,
  }
  return page('topics/one', view, { title: topic.name })
}

/** The page of one topic. */
export function oneTopicPages(pages: AccountPages, deps: TopicPageDeps): void {
  pages.get('/topics/:id', 'contacts.read', (visit) => showTopic(deps, visit, noFaults))
}
