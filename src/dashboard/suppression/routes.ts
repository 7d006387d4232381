import { exportSuppressions } from '../../suppression/index.js'
import { file } from '../shell/answer.js'
import type { AccountPages } from '../shell/page.js'
import { addPages } from './add.js'
import { addressPages } from './address.js'
import type { SuppressionPageDeps } from './deps.js'
import { listPage } from './list.js'

/** The addresses that an account must not mail, and why. */
export function suppressionPages(pages: AccountPages, deps: SuppressionPageDeps): void {
  pages.get('/suppression', 'suppression.read', (visit) => listPage(deps, visit))
  addressPages(pages, deps)
  addPages(pages, deps)
  pages.get('/suppression.csv', 'suppression.read', async ({ account }) => {
    const rows = exportSuppressions(deps.store.read, account.id)
    const audit = { action: 'suppression.export', target: 'suppression.csv' }
    return file(rows, 'text/csv; charset=utf-8', { saveAs: 'suppression.csv', audit })
  })
}
