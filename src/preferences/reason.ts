import { type ConsentKind, consentHistory, recordConsent } from '../consent/index.js'
import type { Form } from '../http/index.js'
import type { UnsubscribeTarget } from './link.js'
import type { SubscriptionDeps } from './subscription.js'

/** Why people leave, as they may say afterwards. */
export const leaveReasons = ['too_many', 'not_wanted', 'never_asked', 'other'] as const
export type WhyLeft = (typeof leaveReasons)[number]

const maxWords = 500
const leaving: ReadonlySet<ConsentKind> = new Set(['unsubscribed', 'left_topic'])

/** What the form says; undefined: nothing, or nothing that may be kept. */
export function reasonIn(form: Form): { reason: WhyLeft | undefined; words: string } | undefined {
  const reason = leaveReasons.find((one) => one === form.get('reason'))
  const words = (form.get('words') ?? '').replace(/\p{Cc}+/gu, ' ').trim()
  const kept = words.toWellFormed().slice(0, maxWords).trim()
  return reason === undefined && kept === '' ? undefined : { reason, words: kept }
}

/** Keeps why somebody has left beside that they did: once, so that nobody fills the record by a link. */
export async function keepReason(
  { store, clock }: SubscriptionDeps,
  { accountId, address, topicId, emailId }: UnsubscribeTarget,
  { reason, words }: { reason: WhyLeft | undefined; words: string },
): Promise<void> {
  await store.write(async (tx) => {
    const history = await consentHistory(tx, accountId, address)
    const last = history.findLastIndex(({ kind }) => leaving.has(kind))
    if (last === -1 || history.slice(last).some(({ kind }) => kind === 'said_why')) return
    const detail = {
      by: 'recipient',
      ...(reason !== undefined && { reasons: [reason] }),
      ...(words !== '' && { note: words }),
      ...(topicId !== undefined && { topicId }),
      ...(emailId !== undefined && { emailId }),
    }
    await recordConsent(tx, accountId, address, { at: clock.now(), kind: 'said_why', detail })
  })
}
