import { type ConsentKind, consentHistory, recordConsent } from '../consent/index.js'
import type { Form } from '../http/index.js'
import type { Read, Tx } from '../store/index.js'
import { leaveReasons, type WhyLeft } from './leave-reasons.js'
import type { UnsubscribeTarget } from './link.js'
import type { Strings } from './strings.js'
import type { SubscriptionDeps } from './subscription.js'
import type { ReasonView } from './view.js'

/** How many said what of those who left by a campaign; `words`: they chose no reason, and wrote something. */
export const countedReasons = [...leaveReasons, 'words'] as const

const maxWords = 500
const leaving: ReadonlySet<ConsentKind> = new Set(['unsubscribed', 'left_topic'])

/** The question, as pages have it. */
export const askedReason = ({
  reason: { thanks: _, choices, ...reason },
}: Strings): ReasonView => ({
  ...reason,
  choices: leaveReasons.map((value) => ({ value, label: choices[value] })),
})

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
    // Of the mail by which they left, whichever of its pages is open.
    const left = history[last]?.detail.emailId
    if (left !== undefined) await countReason(tx, left, reason ?? 'words')
  })
}

async function countReason(
  tx: Tx,
  emailId: string,
  reason: (typeof countedReasons)[number],
): Promise<void> {
  const mail = await tx
    .selectFrom('emails')
    .select('broadcast_id')
    .where('id', '=', emailId)
    .executeTakeFirst()
  // Another kind of mail, or one that is no longer kept.
  if (mail === undefined || mail.broadcast_id === null) return
  await tx
    .insertInto('broadcast_why_left')
    .values({ broadcast_id: mail.broadcast_id, reason, said: 1 })
    .onConflict((conflict) =>
      conflict
        .columns(['broadcast_id', 'reason'])
        .doUpdateSet((eb) => ({ said: eb('broadcast_why_left.said', '+', 1) })),
    )
    .execute()
}

/** Why people left by a campaign, the most frequent reason first. */
export async function whyLeft(
  read: Read,
  broadcastId: string,
): Promise<{ reason: (typeof countedReasons)[number]; said: number }[]> {
  const rows = await read
    .selectFrom('broadcast_why_left')
    .select(['reason', 'said'])
    .where('broadcast_id', '=', broadcastId)
    .execute()
  const sorted = rows.toSorted((one, other) => other.said - one.said)
  return sorted.flatMap(({ reason: stored, said }) => {
    const reason = countedReasons.find((one) => one === stored)
    return reason === undefined ? [] : [{ reason, said }]
  })
}
