import {
  type SuppressionReason,
  suppressionPage,
  suppressionReasons,
} from '../../suppression/index.js'
import { type PageAnswer, page } from '../shell/answer.js'
import { type BesidePages, listOf } from '../shell/listing.js'
import type { Visit } from '../shell/visit.js'
import type { SuppressionPageDeps } from './deps.js'
import { reasonChips, type SuppressionView, suppressionView } from './view.js'

/** One page of the list, of one reason or of all. */
interface SuppressionsView extends BesidePages {
  base: string
  accountId: string
  mayWrite: boolean
  reasons: { label: string; href: string; here: boolean }[]
  reason: SuppressionReason | undefined
  records: SuppressionView[]
}

const pageSize = 50

/** The addresses that the account must not mail, in order. */
export async function listPage(
  { store: { read } }: SuppressionPageDeps,
  visit: Visit,
): Promise<PageAnswer> {
  const { account, base, query, now } = visit
  const reason = suppressionReasons.find((one) => one === query.get('reason'))
  const listing = { path: `${base}/suppression`, query, filters: { reason } }
  const { rows, ...beside } = await listOf(listing, (cursor) =>
    suppressionPage(read, account.id, { reason, cursor, limit: pageSize }),
  )
  const view: SuppressionsView = {
    base,
    accountId: account.id,
    mayWrite: visit.may('suppression.write'),
    reason,
    reasons: [
      { label: 'All', href: `${base}/suppression`, here: reason === undefined },
      ...suppressionReasons.map((one) => ({
        label: capital(reasonChips[one].text),
        href: `${base}/suppression?reason=${one}`,
        here: one === reason,
      })),
    ],
    records: rows.map((record) => suppressionView(record, base, now)),
    ...beside,
  }
  return page('suppression/list', view, { title: 'Suppression' })
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
