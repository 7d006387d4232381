import { dayMs, isRecent } from '../clock/index.js'
import {
  type ConsentEvent,
  type ConsentKind,
  consentHistory,
  recordConsent,
} from '../consent/index.js'
import { findContact } from '../contacts/index.js'
import type { Form } from '../http/index.js'
import type { Read, Tx } from '../store/index.js'
import { leaveReasons, type WhyLeft } from './leave-reasons.js'
import type { UnsubscribeTarget } from './link.js'
import type { Strings } from './strings.js'
import { isOfTest, type SubscriptionDeps } from './subscription.js'
import type { ReasonView } from './view.js'

/** How many of those who left by a campaign said what; `words`: they chose no reason, and wrote something. */
export const countedReasons = [...leaveReasons, 'words'] as const
export type CountedReason = (typeof countedReasons)[number]

const maxWords = 500
const leaving: ReadonlySet<ConsentKind> = new Set(['unsubscribed', 'left_topic'])

/** The question, as pages show it. */
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

// Whoever answers more often lengthens the record no more: anybody may have the link.
const mostADay = 20

/** An answer in the record, with the mail by which the person had left. */
interface Answer {
  at: number
  emailId: string | undefined
  reason: CountedReason
  note: string
}

/** The last time that they left, whether they have said why since, and all that they ever said. */
function leavingIn(history: readonly ConsentEvent[]) {
  const answers: Answer[] = []
  let left: ConsentEvent | undefined
  let hasSaid = false
  for (const event of history) {
    const { at, kind, detail } = event
    // Coming back to one topic leaves the others unchanged: those rows are no leaving.
    if (leaving.has(kind) && detail.by !== 'return') {
      left = event
      hasSaid = false
    } else if (kind === 'said_why' && left !== undefined) {
      const reason = countedReasons.find((one) => one === detail.reasons?.[0]) ?? 'words'
      answers.push({ at, emailId: left.detail.emailId, reason, note: detail.note ?? '' })
      hasSaid = true
    }
  }
  return { left, hasSaid, answers }
}

/** Whether somebody has left and has not said why since. */
export async function isToSayWhy(
  read: Read,
  { accountId, address }: Pick<UnsubscribeTarget, 'accountId' | 'address'>,
): Promise<boolean> {
  const { left, hasSaid } = leavingIn(await consentHistory(read, accountId, address))
  return left !== undefined && !hasSaid
}

/**
 * Keeps why somebody has left, beside the fact. A later answer replaces the earlier one: each person counts once in the
 * report of a campaign, with their last answer. Resolves with whether it is kept: not for somebody who has left
 * nothing, and not the twenty-first answer of a day.
 */
export async function keepReason(
  { store, clock }: SubscriptionDeps,
  { accountId, address, topicId, emailId }: UnsubscribeTarget,
  { reason, words }: { reason: WhyLeft | undefined; words: string },
): Promise<boolean> {
  if (isOfTest({ emailId })) return false
  return await store.write(async (tx) => {
    const now = clock.now()
    const { left, hasSaid, answers } = leavingIn(await consentHistory(tx, accountId, address))
    if (left === undefined) return false
    const said = reason ?? 'words'
    const last = answers.at(-1)
    if (hasSaid && last?.reason === said && last.note === words) return true
    if (answers.filter(({ at }) => isRecent(at, now, dayMs)).length >= mostADay) return false
    const detail = {
      by: 'recipient',
      ...(reason !== undefined && { reasons: [reason] }),
      ...(words !== '' && { note: words }),
      ...(topicId !== undefined && { topicId }),
      ...(emailId !== undefined && { emailId }),
    }
    await recordConsent(tx, accountId, address, { at: now, kind: 'said_why', detail })
    // The mail by which they left counts, whichever mail's page is open.
    const by = left.detail.emailId
    if (by === undefined) return true
    const before = answers.findLast((one) => one.emailId === by)?.reason
    await countReason(tx, { accountId, address, emailId: by }, said, before)
    return true
  })
}

/** Counts an answer in place of `before`, the same person's earlier answer for the same mail. */
async function countReason(
  tx: Tx,
  { accountId, address, emailId }: { accountId: string; address: string; emailId: string },
  reason: CountedReason,
  before: CountedReason | undefined,
): Promise<void> {
  if (reason === before) return
  const mail = await tx
    .selectFrom('emails')
    .select('broadcast_id')
    .where('id', '=', emailId)
    .executeTakeFirst()
  // The mail is of another kind, or no longer kept.
  if (mail === undefined || mail.broadcast_id === null) return
  await noteReason(tx, { accountId, address, emailId, broadcastId: mail.broadcast_id }, reason)
  if (before !== undefined) {
    await tx
      .updateTable('broadcast_why_left')
      .set((eb) => ({ said: eb('said', '-', 1) }))
      .where('broadcast_id', '=', mail.broadcast_id)
      .where('reason', '=', before)
      .where('said', '>', 0)
      .execute()
  }
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

/** Notes the reason for the contact, if there is one: the figures' thread may not have noted the leaving yet. */
async function noteReason(
  tx: Tx,
  {
    accountId,
    address,
    emailId,
    broadcastId,
  }: Record<'accountId' | 'address' | 'emailId' | 'broadcastId', string>,
  reason: CountedReason,
): Promise<void> {
  const contact = await findContact(tx, accountId, address)
  if (contact === undefined) return
  await tx
    .insertInto('broadcast_people')
    .values({
      contact_id: contact.id,
      broadcast_id: broadcastId,
      email_id: emailId,
      why_left: reason,
    })
    .onConflict((conflict) =>
      conflict.columns(['contact_id', 'broadcast_id']).doUpdateSet({ why_left: reason }),
    )
    .execute()
}

/** Why people left by a campaign, the most frequent reason first. */
export async function whyLeft(
  read: Read,
  broadcastId: string,
): Promise<{ reason: CountedReason; said: number }[]> {
  const rows = await read
    .selectFrom('broadcast_why_left')
    .select(['reason', 'said'])
    .where('broadcast_id', '=', broadcastId)
    .where('said', '>', 0)
    .execute()
  const sorted = rows.toSorted((one, other) => other.said - one.said)
  return sorted.flatMap(({ reason: stored, said }) => {
    const reason = countedReasons.find((one) => one === stored)
    return reason === undefined ? [] : [{ reason, said }]
  })
}
