import { ApiError } from '../../errors/index.js'
import { type AskFirst, whyNotAsked } from '../ask-first.js'
import { askSome } from '../ask-some.js'
import type { ContactDeps } from '../list.js'
import type { BulkOrder } from './order.js'

/** How many people are looked at for one slice: each costs a mail, and a write of its own. */
export const asksPerSlice = 20

/**
 * Asks the people of a slice by mail; resolves with how many were asked, and whether the form has no more room now.
 * Throws where such mails are stopped: the task fails, and says so.
 */
export async function askSlice(
  { store, askFirst }: Pick<ContactDeps, 'store'> & { askFirst: AskFirst },
  accountId: string,
  { target = '', note, trigger = false, by }: BulkOrder,
  ids: readonly string[],
): Promise<{ asked: number; isFull: boolean }> {
  const added = `Added by the ${by === 'api' ? 'API' : by}${note === undefined ? '' : `: ${note}`}`
  const whom = { listId: target, ids, note: added, starts: trigger }
  const { asked, held } = await askSome({ read: store.read, askFirst }, accountId, whom)
  if (held.has('stopped')) throw new ApiError('conflict', whyNotAsked.stopped)
  return { asked, isFull: held.has('form') || held.has('careful') }
}
