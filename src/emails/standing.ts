import { type AccountBilling, checkSending, readBilling } from '../billing/index.js'
import { ApiError } from '../errors/index.js'
import { rememberRows } from '../store/index.js'
import { type EmailDeps, oncePerDeps } from './deps.js'
import { noSenders, type Senders } from './sender.js'

/** What an account's mails are checked against before the write that accepts them, which asks again. */
export interface Standing {
  billing: AccountBilling
  senders: Senders
}

/**
 * An account's state, up to a second old if it may send transactional mail. Marketing mail depends on more, and is
 * looked up each time.
 */
export async function standingOf(
  deps: EmailDeps,
  accountId: string,
  type: 'transactional' | 'marketing' = 'transactional',
): Promise<Standing> {
  if (type === 'marketing') return await look(deps, accountId)
  return await remembering(deps)(accountId)
}

async function look({ store, plans }: EmailDeps, accountId: string): Promise<Standing> {
  return { billing: await readBilling(store.read, plans, accountId), senders: noSenders() }
}

/**
 * Only accounts that may send are remembered: one that was paused or renewed must notice at once.
 */
const remembering = oncePerDeps((deps) => {
  const remembered = rememberRows<Standing>(deps, ({ billing }) => maySend(billing))
  return (accountId: string) => remembered(accountId, () => look(deps, accountId))
})

function maySend(billing: AccountBilling): boolean {
  try {
    checkSending(billing, 'transactional')
    return true
  } catch (error) {
    if (error instanceof ApiError) return false
    throw error
  }
}
