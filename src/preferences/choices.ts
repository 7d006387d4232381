import type { Read } from '../store/index.js'
import { lift, suppressionsOf } from '../suppression/index.js'
import { listTopics, optIn, optOut, type Topic, topicsLeftBy } from '../topics/index.js'
import type { Recipient } from './link.js'
import type { SubscriptionDeps } from './subscription.js'

/** What a recipient gets from an account, as things stand. */
export interface Choices {
  /** Unsubscribed from everything, topics that are yet to come included. */
  left: boolean
  /** False when something keeps mail from the address that is not the recipient's to lift. */
  reachable: boolean
  /** Those that are not archived, in their order. */
  topics: (Topic & { chosen: boolean })[]
}

/** What a page that was sent in says. */
export interface Saved {
  /** Ids of the topics that the page showed. */
  shown: ReadonlySet<string>
  /** Those of them that are ticked. */
  ticked: ReadonlySet<string>
  /** Whether the page said that the recipient was unsubscribed from everything. */
  showedLeft: boolean
}

export async function readChoices(read: Read, { accountId, address }: Recipient): Promise<Choices> {
  const reasons = await suppressionsOf(read, accountId, address)
  const left = reasons.some(({ reason }) => reason === 'unsubscribe')
  const gone = new Set(await topicsLeftBy(read, accountId, address))
  const topics = await listTopics(read, accountId)
  return {
    left,
    reachable: reasons.every(({ reason }) => reason === 'unsubscribe'),
    topics: topics.map((topic) => ({ ...topic, chosen: !left && !gone.has(topic.id) })),
  }
}

/**
 * Makes what the page showed be so, in one transaction: each topic on it as it was ticked, whatever
 * another page has said meanwhile; topics that were not on it stay as they are. A tick lifts an
 * unsubscribe from everything (`interface.md`, Suppression), and nothing else that blocks.
 */
export async function saveChoices(
  { store, clock }: SubscriptionDeps,
  { accountId, address, emailId }: Recipient,
  { shown, ticked, showedLeft }: Saved,
): Promise<void> {
  await store.write(async (tx) => {
    const at = clock.now()
    // Archived ones too: one may have been archived since the page was opened. Others' are not here.
    const topics = await listTopics(tx, accountId, { archived: true })
    const seen = topics.filter(({ id }) => shown.has(id))
    const comesBack = seen.some(({ id }) => ticked.has(id))
    // Who stays away as before keeps the choice of topics from before, to come back to.
    if (showedLeft && !comesBack && (await readChoices(tx, { accountId, address })).left) return
    const gone = new Set(await topicsLeftBy(tx, accountId, address))
    for (const { id: topicId } of seen) {
      const change = { topicId, address, emailId }
      if (ticked.has(topicId)) {
        if (gone.has(topicId)) await optIn(tx, accountId, change, at)
      } else if (!gone.has(topicId)) await optOut(tx, accountId, change, at)
    }
    if (!comesBack) return
    const lifting = { by: 'recipient', at, reasons: ['unsubscribe'], emailId } as const
    await lift(tx, accountId, address, lifting)
  })
}
