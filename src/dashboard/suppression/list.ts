import { pageOf, textCursorOf, textInCursor } from '../../store/index.js'
import {
  listSuppressions,
  type Suppression,
  type SuppressionReason,
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
  // The cursor is signed for this account and this reason: one of another list leads nowhere.
  const scope = `suppression page ${account.id} ${reason ?? ''}`
  const cursor = query.get('after')
  const after = cursor === null ? undefined : lastIn(textInCursor(cursor, scope))
  const found = await listSuppressions(read, account.id, { reason, after, limit: pageSize + 1 })
  const { page: records, nextCursor } = pageOf(found, pageSize, (last) =>
    textCursorOf(`${last.reason} ${last.email}`, scope),
  )
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
    newer: cursor === null ? undefined : here,
    older:
      nextCursor === null
        ? undefined
        : `${here}${reason === undefined ? '?' : '&'}after=${nextCursor}`,
  }
  return page('suppression/list', view, { title: 'Suppression' })
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1)

/** What `textCursorOf` was given. */
function lastIn(text: string): Pick<Suppression, 'email' | 'reason'> {
  const at = text.indexOf(' ')
  return { reason: text.slice(0, at) as SuppressionReason, email: text.slice(at + 1) }
}
