import { isTestId, prepared, type Read } from '../store/index.js'
import type { ReturnPaths } from './return-path.js'

/** The owner of a test key's mail, by its return path; undefined for any other mail. */
export function makeTestOwner(read: Read, returnPaths: ReturnPaths) {
  return async (mailFrom: string) => {
    const id = returnPaths.deliveryOf(mailFrom)
    const [waiting] = id === undefined ? [] : await waitingOf(read, { id })
    return waiting !== undefined && isTestId(waiting.emailId) ? waiting : undefined
  }
}

/** A delivery is in the queue until its attempt is settled, which is after the final dot. */
const waitingOf = prepared<{ id: number }, { accountId: string; emailId: string }>((db, { id }) =>
  db
    .selectFrom('queue')
    .select(['account_id as accountId', 'email_id as emailId'])
    .where('id', '=', id),
)
