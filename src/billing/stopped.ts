import { prepared, type Read, type SubscriptionRow } from '../store/index.js'
import { type MailType, pausedMessage, suspendedMessage } from './admission.js'
import type { PauseReason } from './billing.js'

/** Why an account's mail of this type does not leave now, as a sentence; undefined when it may. */
export async function stoppedBy(
  read: Read,
  accountId: string,
  type: MailType,
): Promise<string | undefined> {
  const stop = await stopOf(read, accountId, type)
  if (stop === undefined) return undefined
  if (stop.kind === 'suspended') return `The account is suspended: ${stop.note}`
  const what = stop.kind === 'paused' ? 'The account' : "The account's marketing mail"
  return `${what} is paused because of ${stop.reason}s`
}

/** The same in words for the account itself: an operator's note is not its business. */
export async function stoppedForClient(
  read: Read,
  accountId: string,
  type: MailType,
): Promise<string | undefined> {
  const stop = await stopOf(read, accountId, type)
  if (stop === undefined) return undefined
  if (stop.kind === 'suspended') return suspendedMessage
  return pausedMessage(stop.kind === 'paused' ? 'All sending is' : 'Marketing is', stop.reason)
}

type Stop =
  | { kind: 'suspended'; note: string }
  | { kind: 'paused' | 'marketing paused'; reason: PauseReason }

/** The gravest first. */
async function stopOf(read: Read, accountId: string, type: MailType): Promise<Stop | undefined> {
  const [row] = await stopsOf(read, { accountId })
  if (row === undefined) return undefined
  if (row.suspended_reason !== null) return { kind: 'suspended', note: row.suspended_reason }
  if (row.paused !== null) return { kind: 'paused', reason: row.paused }
  if (type === 'transactional' || row.marketing_paused === null) return undefined
  return { kind: 'marketing paused', reason: row.marketing_paused }
}

/** The accounts whose mail does not leave now: `all` of it, or what is no transactional mail. */
export async function stoppedAccounts(read: Read): Promise<{ all: string[]; marketing: string[] }> {
  const rows = await read
    .selectFrom('subscriptions')
    .select(['account_id', 'suspended_reason', 'paused'])
    .where(({ eb, or }) =>
      or([
        eb('suspended_reason', 'is not', null),
        eb('paused', 'is not', null),
        eb('marketing_paused', 'is not', null),
      ]),
    )
    .execute()
  const isWhole = ({ suspended_reason, paused }: (typeof rows)[number]) =>
    suspended_reason !== null || paused !== null
  return {
    all: rows.filter(isWhole).map((row) => row.account_id),
    marketing: rows.filter((row) => !isWhole(row)).map((row) => row.account_id),
  }
}

/** What account protection, or an operator, has paused. */
export async function pausesOf(
  read: Read,
  accountId: string,
): Promise<{ paused: PauseReason | null; marketingPaused: PauseReason | null }> {
  const [row] = await stopsOf(read, { accountId })
  return { paused: row?.paused ?? null, marketingPaused: row?.marketing_paused ?? null }
}

type Stops = Pick<SubscriptionRow, 'suspended_reason' | 'paused' | 'marketing_paused'>

const stopsOf = prepared<{ accountId: string }, Stops>((db, { accountId }) =>
  db
    .selectFrom('subscriptions')
    .select(['suspended_reason', 'paused', 'marketing_paused'])
    .where('account_id', '=', accountId),
)
