import { newestKeys } from '../../accounts/index.js'
import type { Read } from '../../store/index.js'
import { cursorOf, idInCursor, pageOf } from '../../store/index.js'
import { type PageAnswer, page } from '../shell/answer.js'
import type { Visit } from '../shell/visit.js'
import { type KeyView, keyView } from './view.js'

/** One page of the list. */
interface KeysView {
  base: string
  accountId: string
  mayWrite: boolean
  keys: KeyView[]
  newer: string | undefined
  older: string | undefined
}

const pageSize = 50

/** The account's keys, the newest first. */
export async function listPage(read: Read, visit: Visit): Promise<PageAnswer> {
  const { account, base, query, now } = visit
  // The cursor is signed for this list of this account: another one's leads nowhere.
  const scope = `keys page ${account.id}`
  const cursor = query.get('after')
  const before = cursor === null ? undefined : idInCursor(cursor, scope)
  const found = await newestKeys(read, account.id, { before, limit: pageSize + 1 })
  const { page: keys, nextCursor } = pageOf(found, pageSize, ({ id }) => cursorOf(id, scope))
  const view: KeysView = {
    base,
    accountId: account.id,
    mayWrite: visit.may('keys.write'),
    keys: keys.map((key) => keyView(key, now)),
    newer: cursor === null ? undefined : `${base}/keys`,
    older: nextCursor === null ? undefined : `${base}/keys?after=${nextCursor}`,
  }
  return page('keys/list', view, { title: 'API keys' })
}
