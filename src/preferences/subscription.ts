import { type Clock, dayMs, isRecent } from '../clock/index.js'
import { consentHistory } from '../consent/index.js'
import { isTestId, type Read, type Store, type Tx } from '../store/index.js'
import { lift, suppress, suppressionsOf } from '../suppression/index.js'
import { listTopics, optedOutAmong, optIn, optOut, topicsLeftBy } from '../topics/index.js'
import type { UnsubscribeTarget } from './link.js'

/** What a change of a subscription needs. */
export interface SubscriptionDeps {
  store: Store
  clock: Clock
}

/**
 * Whether a link is from a mail of a test key. Whoever follows it is the program's maker, not the recipient: the pages
 * answer as always, and change nothing.
 */
export const isOfTest = ({ emailId }: Pick<UnsubscribeTarget, 'emailId'>): boolean =>
  emailId !== undefined && isTestId(emailId)

/** Whether the recipient has left the topic, or all marketing mail of the account. */
export async function hasLeft(read: Read, target: UnsubscribeTarget): Promise<boolean> {
  const { accountId, address, topicId } = target
  const records = await suppressionsOf(read, accountId, address)
  if (records.some(({ reason }) => reason === 'unsubscribe')) return true
  if (topicId === undefined) return false
  return (await optedOutAmong(read, accountId, topicId, [address])).size > 0
}

/** The recipient's own wish: leaves the topic alone, or all marketing mail. Twice is as once. */
export async function unsubscribe(
  { store, clock }: SubscriptionDeps,
  { accountId, address, topicId, emailId }: UnsubscribeTarget,
  detail: string,
): Promise<void> {
  if (isOfTest({ emailId })) return
  await store.write(async (tx) => {
    const now = clock.now()
    if (topicId !== undefined) {
      await optOut(tx, accountId, { topicId, address, emailId }, now)
      return
    }
    const record = {
      email: address,
      reason: 'unsubscribe',
      by: 'recipient',
      emailId: emailId ?? null,
      detail,
    } as const
    await suppress(tx, accountId, record, now)
  }, accountId)
}

// Anybody may have the link, and after each return they could leave once more: the record would grow for ever.
const mostReturnsADay = 20

/** Whether an address has come back so often within a day that it has to wait. */
export async function isBackTooOften(
  tx: Tx,
  { accountId, address }: Pick<UnsubscribeTarget, 'accountId' | 'address'>,
  now: number,
): Promise<boolean> {
  const history = await consentHistory(tx, accountId, address)
  const returns = history.filter(
    ({ kind, at, detail }) =>
      isRecent(at, now, dayMs) &&
      (kind === 'returned_to_topic' || (kind === 'lifted' && detail.by === 'recipient')),
  )
  // Coming back to several topics at once is one return.
  return new Set(returns.map(({ at }) => at)).size >= mostReturnsADay
}

/**
 * Takes an unsubscribe back. Resolves with whether it did: not the twenty-first time of a day. Coming back to one topic
 * is coming back to the account (`interface.md`, Suppression); the recipient may not lift bounces and complaints.
 */
export async function resubscribe(
  { store, clock }: SubscriptionDeps,
  { accountId, address, topicId, emailId }: UnsubscribeTarget,
): Promise<boolean> {
  if (isOfTest({ emailId })) return true
  return await store.write(async (tx) => {
    const at = clock.now()
    if (await isBackTooOften(tx, { accountId, address }, at)) return false
    if (topicId !== undefined) {
      const records = await suppressionsOf(tx, accountId, address)
      // Somebody who had left everything comes back to this topic only.
      if (records.some(({ reason }) => reason === 'unsubscribe')) {
        const gone = new Set(await topicsLeftBy(tx, accountId, address))
        for (const { id } of await listTopics(tx, accountId)) {
          if (id === topicId || gone.has(id)) continue
          await optOut(tx, accountId, { topicId: id, address, emailId, by: 'return' }, at)
        }
      }
      await optIn(tx, accountId, { topicId, address, emailId }, at)
    }
    const lifting = { by: 'recipient', at, reasons: ['unsubscribe'], emailId } as const
    await lift(tx, accountId, address, lifting)
    return true
  }, accountId)
}
