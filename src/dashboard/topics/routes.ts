import { ApiError } from '../../errors/index.js'
import type { AccountPages } from '../shell/page.js'
import { sampleFrame } from '../templates/rendered.js'
import { changePages } from './change.js'
import type { TopicPageDeps } from './deps.js'
import { listPage } from './list.js'
import { oneTopicPages } from './one.js'

/** The kinds of marketing mail that recipients leave one by one. */
export function topicPages(pages: AccountPages, deps: TopicPageDeps): void {
  pages.get('/topics', 'contacts.read', (visit) => listPage(deps, visit))
  // A document of its own, as a frame needs an address.
  pages.get('/topics/-/centre', 'contacts.read', async ({ account, query }) => {
    const html = await deps.sampleCentre(account.id)
    if (html === undefined) throw new ApiError('not_found', 'There is no such account')
    return sampleFrame(html, query)
  })
  changePages(pages, deps)
  oneTopicPages(pages, deps)
}
