import { newestKeys } from '../../accounts/index.js'
import type { Read } from '../../store/index.js'
import { cursorOf, idInCursor, pageOf } from '../../store/index.js'
import { type PageAnswer, page } from '../shell/answer.js'
import { type BesidePages, listOf } from '../shell/listing.js'
import type { Visit } from '../shell/visit.js'
import { type KeyView, keyView } from './view.js'

/** One page of the list. */
interface KeysView extends BesidePages {
  base: string
  accountId: string
  mayWrite: boolean
  keys: KeyView[]
}

const pageSize = 50

/** The account's keys, the newest first. */
export async function listPage(read: Read, visit: Visit): Promise<PageAnswer> {
  const { account, base, query, now } = visit
  // The cursor is signed for this list of this account: one of another account does not work.
  const scope = `keys page ${account.id}`
  const { rows, ...beside } = await listOf({ path: `${base}/keys`, query }, async (after) => {
    const before = after === undefined ? undefined : idInCursor(after, scope)
    const found = await newestKeys(read, account.id, { before, limit: pageSize + 1 })
    return pageOf(found, pageSize, ({ id }) => cursorOf(id, scope))
  })
  const view: KeysView = {
    base,
    accountId: account.id,
    mayWrite: visit.may('keys.write'),
    keys: rows.map((key) => keyView(key, now)),
    ...beside,
  }
  return page('keys/list', view, { title: 'API keys' })
}
