import {
  type SuppressionReason,
  suppressionPage,
  suppressionReasons,
} from '../../suppression/index.js'
import { type PageAnswer, page } from '../shell/answer.js'
import type { Visit } from '../shell/visit.js'
import type { SuppressionPageDeps } from './deps.js'
import { reasonChips, type SuppressionView, suppressionView } from './view.js'

/** One page of the list, of one reason or of all. */
interface SuppressionsView {
  base: string
  accountId: string
  mayWrite: boolean
  reasons: { label: string; href: string; here: boolean }[]
  reason: SuppressionReason | undefined
  records: SuppressionView[]
  newer: string | undefined
  older: string | undefined
}

const pageSize = 50

/** Whom the account must not mail, by address. */
export async function listPage(
  { store: { read } }: SuppressionPageDeps,
  visit: Visit,
): Promise<PageAnswer> {
  const { account, base, query, now } = visit
  const reason = suppressionReasons.find((one) => one === query.get('reason'))
  const cursor = query.get('after') ?? undefined
  const asked = { reason, cursor, limit: pageSize }
  const { page: records, nextCursor } = await suppressionPage(read, account.id, asked)
  const here = `${base}/suppression${reason === undefined ? '' : `?reason=${reason}`}`
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
    records: records.map((record) => suppressionView(record, base, now)),
    newer: cursor === undefined ? undefined : here,
    older:
      nextCursor === null
        ? undefined
        : `${here}${reason === undefined ? '?' : '&'}after=${nextCursor}`,
  }
  return page('suppression/list', view, { title: 'Suppression' })
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)
