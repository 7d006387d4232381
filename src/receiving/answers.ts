import { isoTime } from '../clock/index.js'
import { parseTime } from '../emails/index.js'
import { cursorOf, idInCursor, type Read, storedJson } from '../store/index.js'
import { findReceived, listReceived, type ReceivedFilter } from './mails.js'
import { deciding, type ReceivingRule } from './rule.js'
import { domainsReceiving, listRules, type MovedRule, noWebhooks, type RuleDeps } from './rules.js'
import { shownAttachment, summaryOf } from './shown.js'
import { postmaster, receiverOf, takingAt } from './taking.js'

/** A rule as the API and commands show it. */
export const shownRule = (rule: ReceivingRule) => ({
  id: rule.id,
  place: rule.place,
  domainId: rule.domainId,
  pattern: rule.pattern,
  action: rule.action,
  forwardTo: rule.forwardTo,
  enabled: rule.enabled,
  note: rule.note,
  createdAt: isoTime(rule.createdAt),
})

/** A rule after a change, with the others that it has moved. */
export const shownChange = ({ rule, moved }: { rule: ReceivingRule; moved: MovedRule[] }) => ({
  ...shownRule(rule),
  moved,
})

/** A page of received mails. */
export async function receivedAnswer(
  read: Read,
  accountId: string,
  {
    limit,
    cursor,
    receivedAfter,
    receivedBefore,
    ...given
  }: Omit<ReceivedFilter, 'after' | 'before'> & {
    limit: number
    cursor?: string | undefined
    receivedAfter?: string | undefined
    receivedBefore?: string | undefined
  },
) {
  const filter = {
    ...given,
    recipient: given.recipient?.toLowerCase(),
    after: receivedAfter === undefined ? undefined : parseTime(receivedAfter),
    before: receivedBefore === undefined ? undefined : parseTime(receivedBefore),
  }
  const scope = `received ${accountId} ${JSON.stringify(Object.entries(filter).sort())}`
  const before = cursor === undefined ? undefined : idInCursor(cursor, scope)
  const { rows, next } = await listReceived(read, accountId, filter, { limit, before })
  return {
    received: rows.map(summaryOf),
    hasMore: next !== undefined,
    nextCursor: next === undefined ? null : cursorOf(next, scope),
  }
}

/** One received mail, with all that was read in it. */
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
            status:
              row.forward_fault === null
                ? (forwarded?.status ?? (row.forward_id === null ? null : 'gone'))
                : 'refused',
            detail: row.forward_fault ?? forwarded?.reply ?? null,
          }
        : null,
  }
}

/** Where mail to an address of the account would go. `local` and `host` in lower case. */
export async function whereAnswer(
  deps: RuleDeps,
  accountId: string,
  local: string,
  host: string,
): Promise<WhereMailGoes> {
  const { read } = deps.store
  const receiver = await receiverOf(read, host)
  const address = `${local}@${host}`
  const none = { address, taken: false, rule: null }
  if (receiver?.accountId !== accountId) {
    const own = (await domainsReceiving(read, { accountId })).find((one) => one.host === host)
    const why =
      own === undefined
        ? `The account does not receive at ${host}`
        : `The domain ${own.name} is not verified`
    return { ...none, why }
  }
  const found = deciding(receiver.rules, local)
  const rule = (await listRules(read, accountId, deps.plans)).find(({ id }) => id === found?.id)
  if (rule === undefined) {
    return local === postmaster
      ? { ...none, taken: true, why: 'It goes to the operator of this server: no rule is about it' }
      : { ...none, why: 'No rule is about it' }
  }
  const taking = await takingAt(deps, receiver, local, host)
  const shown = { address, rule: shownRule(rule) }
  // After its codes, a reply is a sentence.
  if (taking.kind === 'refused') return { ...shown, taken: false, why: taking.reply.slice(10) }
  return { ...shown, taken: true, why: wordsOf(rule) }
}

interface WhereMailGoes {
  address: string
  taken: boolean
  rule: ReturnType<typeof shownRule> | null
  why: string
}

function wordsOf({ action, forwardTo, place, pattern, note }: ReceivingRule): string {
  const leads =
    action === 'forward'
      ? `is forwarded to ${forwardTo}`
      : action === 'webhook'
        ? 'is told to webhooks'
        : 'is stored'
  const by = `, by rule ${place} (${pattern})`
  return note === noWebhooks ? `It is stored${by}. ${note}` : `It ${leads}${by}`
}
