import {
  type ArrivalLimits,
  type ArrivalsLeft,
  arrivalsLeft,
  checkOpen,
  type Plans,
  readBilling,
  refuseBeyondStorage,
} from '../billing/index.js'
import type { Clock } from '../clock/index.js'
import { receiverAt } from '../domains/index.js'
import { ApiError } from '../errors/index.js'
import {
  prepared,
  type Read,
  type ReceivingRuleRow,
  rememberRows,
  type Store,
} from '../store/index.js'
import type { RefusedWhy } from './refused.js'
import { deciding } from './rule.js'

/** For whom a mail is taken, and what is done with it. */
export interface TakenFor {
  address: string
  accountId: string
  domainId: string
  ruleId: string
  action: ReceivingRuleRow['action']
  forwardTo: string | null
  /** How large the mail may be. */
  maxBytes: number
  /** How many mails may come in, and how many more may now; checked again when the mail is written. */
  limits: ArrivalLimits
  left: number
  leftWithin: ArrivalsLeft['within']
}

// RFC 3463 §3.3: the mailbox is full at the moment.
const fullFor = {
  hour: '452 4.2.2 The mailbox takes no more mail this hour, try again later',
  day: '452 4.2.2 The mailbox takes no more mail today, try again tomorrow',
  storage: '452 4.2.2 The mailbox is full, try again later',
}

/** The mailbox of every host; it belongs to the operator where no rule is about it (RFC 5321 §4.5.1). */
export const postmaster = 'postmaster'

/** The answer to RCPT for an address at a host where an account receives. */
export type Taking =
  | { kind: 'taken'; taken: TakenFor }
  /** No rule is about it. */
  | { kind: 'nobody' }
  /** `full`: the limit of the plan that was reached. */
  | { kind: 'refused'; reply: string; full?: Full }

/** The account whose plan takes no more, and why. */
interface Full {
  accountId: string
  why: RefusedWhy
}

/** The rules of a host in their order. */
interface Receiver {
  domainId: string
  accountId: string
  rules: readonly ReceivingRuleRow[]
}

interface TakingDeps {
  store: Store
  clock: Clock
  plans: Plans
}

/**
 * Decides about addresses of receiving hosts; undefined for any other host. Hosts and their rules are remembered for a
 * second. The account's state is checked each time, before the mail is sent, so that nothing has to be sent back.
 */
export function makeTaking(
  deps: TakingDeps & { refused: (accountId: string, why: RefusedWhy) => void },
) {
  const { store } = deps
  const remembered = rememberRows<Receiver | undefined>(deps, (found) => found !== undefined)
  return async (local: string, host: string): Promise<Taking | undefined> => {
    const receiver = await remembered(host, () => receiverOf(store.read, host))
    const taking = receiver && (await takingAt(deps, receiver, local, host))
    if (taking?.kind === 'refused' && taking.full !== undefined) {
      deps.refused(taking.full.accountId, taking.full.why)
    }
    return taking
  }
}

/** The answer to RCPT at a host with these rules at this moment. */
export async function takingAt(
  { store, clock, plans }: TakingDeps,
  receiver: Receiver,
  local: string,
  host: string,
): Promise<Taking> {
  const rule = deciding(receiver.rules, local)
  if (rule === undefined) return { kind: 'nobody' }
  const { accountId, domainId } = receiver
  const billing = await readBilling(store.read, plans, accountId)
  const { plan, paused } = billing
  const closed =
    (await whyClosed(store.read, billing)) ??
    (paused === null ? undefined : '450 4.2.1 The mailbox is paused, try again later')
  const full = (why: keyof typeof fullFor): Taking => ({
    kind: 'refused',
    reply: fullFor[why],
    full: { accountId, why },
  })
  if (closed === 'full') return full('storage')
  if (closed !== undefined) return { kind: 'refused', reply: closed }
  const left = await arrivalsLeft(store.read, accountId, plan, clock.now())
  if (left?.mails === 0) return full(left.within)
  const { id: ruleId, action, forward_to: forwardTo } = rule
  const address = `${local}@${host}`
  const maxBytes = plan.receivedMib * 2 ** 20
  const of = { accountId, domainId, ruleId, action, forwardTo, maxBytes }
  const bounds = {
    limits: plan,
    left: left?.mails ?? Number.POSITIVE_INFINITY,
    leftWithin: left?.within ?? 'day',
  } as const
  return { kind: 'taken', taken: { address, ...of, ...bounds } }
}

/**
 * The refusing reply, or `full` for the plan's storage. A suspension may be lifted, so the sender tries again; a closed
 * account takes no mail, and its senders should know.
 */
async function whyClosed(
  read: Read,
  billing: Awaited<ReturnType<typeof readBilling>>,
): Promise<string | undefined> {
  if (billing.suspended !== null) return '450 4.2.1 The mailbox is suspended, try again later'
  try {
    checkOpen(billing)
    await refuseBeyondStorage(read, billing, 1)
    return undefined
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    return error.code === 'plan_limit_exceeded' ? 'full' : '550 5.2.1 The mailbox is closed'
  }
}

/** Undefined where no account receives. */
export async function receiverOf(read: Read, host: string): Promise<Receiver | undefined> {
  const [domain] = await receiverAt(read, { host })
  if (domain === undefined) return undefined
  const { id: domainId, account_id: accountId } = domain
  return { domainId, accountId, rules: await rulesAt(read, { domainId }) }
}

const rulesAt = prepared<{ domainId: string }, ReceivingRuleRow>((db, { domainId }) =>
  db
    .selectFrom('receiving_rules')
    .selectAll()
    .where('domain_id', '=', domainId)
    .where('enabled', '=', 1)
    .orderBy('place')
    .orderBy('id'),
)
