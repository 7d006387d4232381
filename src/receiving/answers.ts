import { isoTime } from '../clock/index.js'
import { cursorOf, idInCursor, type Read, storedJson } from '../store/index.js'
import { findReceived, listReceived, type ReceivedFilter } from './mails.js'
import { deciding, type ReceivingRule } from './rule.js'
import { listRules } from './rules.js'
import { shownAttachment, summaryOf } from './shown.js'
import { receiverOf } from './taking.js'

/** A rule as the API and commands show it. */
export const shownRule = (rule: ReceivingRule) => ({
  id: rule.id,
  place: rule.place,
  domainId: rule.domainId,
  pattern: rule.pattern,
  action: rule.action,
  forwardTo: rule.forwardTo,
  enabled: rule.enabled,
  createdAt: isoTime(rule.createdAt),
})

/** A page of what came in. */
export async function receivedAnswer(
  read: Read,
  accountId: string,
  { limit, cursor, ...given }: ReceivedFilter & { limit: number; cursor?: string | undefined },
) {
  const filter = { ...given, recipient: given.recipient?.toLowerCase() }
  const scope = `received ${accountId} ${JSON.stringify(Object.entries(filter).sort())}`
  const before = cursor === undefined ? undefined : idInCursor(cursor, scope)
  const { rows, next } = await listReceived(read, accountId, filter, { limit, before })
  return {
    received: rows.map(summaryOf),
    hasMore: next !== undefined,
    nextCursor: next === undefined ? null : cursorOf(next, scope),
  }
}

/** One mail that came in, with all that was read in it. */
export async function receivedMailAnswer(read: Read, accountId: string, id: string) {
  const { row, texts, header, attachments, forwarded } = await findReceived(read, accountId, id)
  return {
    ...summaryOf(row),
    to: header.to,
    references: header.references,
    fault: row.fault,
    text: texts?.text ?? null,
    quoted: texts?.quoted ?? null,
    html: texts?.html ?? null,
    headers: header.fields,
    attachments: attachments.map((one, index) => shownAttachment(row.id, one, index)),
    results: storedJson(texts?.results ?? null) ?? null,
    forward:
      row.action === 'forward'
        ? {
            to: row.forward_to ?? '',
            status: row.forward_fault === null ? (forwarded?.status ?? null) : 'refused',
            detail: row.forward_fault ?? forwarded?.reply ?? null,
          }
        : null,
  }
}

/** Where mail to an address of the account would go. `local` and `host` in lower case. */
export async function whereAnswer(read: Read, accountId: string, local: string, host: string) {
  const receiver = await receiverOf(read, host)
  const address = `${local}@${host}`
  if (receiver?.accountId !== accountId) {
    return { address, taken: false, rule: null, why: `The account does not receive at ${host}` }
  }
  const found = deciding(receiver.rules, local)
  const rule = (await listRules(read, accountId)).find(({ id }) => id === found?.id)
  if (rule === undefined) return { address, taken: false, rule: null, why: 'No rule is about it' }
  return { address, taken: true, rule: shownRule(rule), why: wordsOf(rule) }
}

function wordsOf({ action, forwardTo, place, pattern }: ReceivingRule): string {
  const leads =
    action === 'forward'
      ? `is forwarded to ${forwardTo}`
      : action === 'webhook'
        ? 'is told to webhooks'
        : 'is stored'
  return `It ${leads}, by rule ${place} (${pattern})`
}
