import { stoppedForClient } from '../../billing/index.js'
import {
  explainWaiting,
  type GateOf,
  surroundingsOf,
  type WaitingDelivery,
  type WhyWaiting,
} from '../../deliveries/index.js'
import { internalFault } from '../../errors/index.js'
import { queueClass, type Read } from '../../store/index.js'
import { type Moment, moment } from '../format.js'

/** Why one delivery waits, in words for the account's people. */
export interface WaitingView {
  recipient: string
  gate: string
  says: string
  next: Moment | undefined
  givesUp: Moment
  /** True when it will be given up before it would be tried again. */
  tooLate: boolean
  attempts: number
}

export interface WaitingDeps {
  read: Read
  now: number
  /** What the running threads know; undefined when nothing of the stream is due. */
  gateOf: GateOf
}

/** Why a delivery waits, as `posthorn queue show` says it, but without the operator's notes. */
export async function whyWaits(
  { read, now, gateOf }: WaitingDeps,
  delivery: WaitingDelivery,
): Promise<WaitingView> {
  const { lane, class: of, accountId, node, held, expiresAt } = delivery
  const [around, live] = await Promise.all([
    surroundingsOf(read, delivery, now),
    gateOf({ lane, class: queueClass[of], accountId }, node),
  ])
  const type = of === 'transactional' ? 'transactional' : 'marketing'
  // Why an account is stopped is told as the API tells it to clients: the operator's own note may
  // speak of other accounts.
  const accountStop = around.accountStop && (await stoppedForClient(read, accountId, type))
  const own = {
    ...delivery,
    // Faults inside the appliance are told to the operator, not to the account.
    held: held?.by === 'fault' ? { ...held, reason: internalFault } : held,
  }
  const why = explainWaiting(own, { ...around, accountStop }, now, live)
  return {
    recipient: delivery.recipient,
    gate: gateInWords(why.gate),
    says:
      why.gate === 'in-flight' ? 'An attempt is under way.' : `${(why.plain ?? why.says).trim()}.`,
    next: why.until === null ? undefined : moment(why.until, now),
    givesUp: moment(expiresAt, now),
    tooLate: why.until !== null && why.until >= expiresAt,
    attempts: delivery.attempts,
  }
}

// Some gates mean the same to people who wait: the mail is in line. Others keep their own name.
const gateWords: Partial<Record<WhyWaiting['gate'], string>> = {
  'in-flight': 'under way',
  'tls-policy': 'TLS policy',
  account: 'account stopped',
  lane: 'in line',
  due: 'in line',
  turn: 'in line',
  dns: 'DNS look-up',
  suspended: 'site suspended',
  rate: 'rate limit',
  brake: 'slowed down',
}

/** A gate's name for people who wait. */
export const gateInWords = (gate: WhyWaiting['gate']): string => gateWords[gate] ?? gate
