import { ApiError } from '../../errors/index.js'
import { file } from '../shell/answer.js'
import type { AccountPages } from '../shell/page.js'
import { actionPages } from './actions.js'
import { contentPages } from './content.js'
import type { NewMailDeps } from './deps.js'
import { exportEmails } from './export.js'
import { wantedOf } from './filter.js'
import { showLog } from './log.js'
import { showMail } from './mail.js'
import { newMailPages } from './new-mail.js'

/** The log of an account's mails, a page for each mail, and what can be done with it. */
export function emailPages(pages: AccountPages, deps: NewMailDeps): void {
  pages.get('/emails', 'emails.read', (visit) => showLog(deps, visit))

  pages.get('/emails.csv', 'emails.read', async ({ account, query, now }) => {
    const { filter, fault } = wantedOf(query, now)
    // The page shows a filter's fault above an empty list, but an empty file would look like an answer.
    if (fault !== undefined) throw new ApiError('validation_error', fault)
    const rows = exportEmails(deps.store.read, account.id, filter)
    const detail = { filter: query.toString() }
    const audit = { action: 'emails.export', target: 'emails.csv', detail }
    return file(rows, 'text/csv; charset=utf-8', { saveAs: 'emails.csv', audit })
  })

  newMailPages(pages, deps)
  pages.get('/emails/:id', 'emails.read', (visit) => showMail(deps, visit))
  contentPages(pages, deps)
  actionPages(pages, deps)
}
