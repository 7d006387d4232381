import { ApiError } from '../../errors/index.js'
import { frame } from '../shell/answer.js'
import type { AccountPages } from '../shell/page.js'
import { changePages } from './change.js'
import type { TopicPageDeps } from './deps.js'
import { listPage } from './list.js'
import { oneTopicPages } from './one.js'

/** The kinds of marketing mail that recipients leave one by one. */
export function topicPages(pages: AccountPages, deps: TopicPageDeps): void {
  pages.get('/topics', 'contacts.read', (visit) => listPage(deps, visit))
  // A document of its own, as a frame needs an address.
  pages.get('/topics/-/centre', 'contacts.read', async ({ account }) => {
    const html = await deps.sampleCentre(account.id)
    if (html === undefined) throw new ApiError('not_found', 'There is no such account')
    return frame(html)
  })
  changePages(pages, deps)
  oneTopicPages(pages, deps)
}
