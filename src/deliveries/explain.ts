import { counted } from '../amounts/index.js'
import { utcTime } from '../clock/index.js'
import { queueClass, type Read } from '../store/index.js'
import { type StreamKey, stopOf } from './due-rows.js'
import {
  type DeliverySurroundings,
  mostAhead,
  surroundingsOf,
  type WaitingDelivery,
} from './inspect.js'
import { leaseMs } from './lease.js'

/**
 * Why a delivery waits, in one sentence: the gate at which it stands, which the operator can open or wait for, and
 * until when as far as that is known.
 */
export interface WhyWaiting {
  gate: Gate
  /** A sentence without a full stop. */
  says: string
  /** The same without the operator's files and settings, where the sentence names some. */
  plain?: string
  until: number | null
}

/** The gates that the database knows; behind them those that only an outbound thread's memory knows. */
type Gate =
  | 'in-flight'
  | 'held'
  | 'scheduled'
  | 'greylisted'
  | 'tls-policy'
  | 'deferred'
  | 'account'
  | 'lane'
  | 'due'
  | LiveGate['gate']

/** What an outbound thread says of the delivery's site at this moment. */
export interface LiveGate {
  gate:
    | 'dns'
    | 'hold'
    | 'suspended'
    | 'connections'
    | 'warm-up'
    | 'rate'
    | 'brake'
    | 'turn'
    | 'failover'
    /** The stream is another node's, which did not answer. */
    | 'node'
    /** The mail leaves only from addresses of another node. */
    | 'away'
  says: string
  /** For people of an account, where `says` names the operator's files or settings. */
  plain?: string
  until?: number
}

// Postgrey, Rspamd, SQLgrey and Exim's greylistd all say the word.
const greylisting = /^4\d\d\b.*gr[ae]y-?\s?list/is

/** The first gate that holds the delivery, in the order in which it would pass them. */
export function explainWaiting(
  delivery: WaitingDelivery,
  around: DeliverySurroundings,
  now: number,
  live?: LiveGate,
): WhyWaiting {
  const { dueAt, lastReply, held } = delivery
  if (held !== null) return { gate: 'held', says: `Held: ${held.reason}`, until: null }
  if (delivery.lease !== null && dueAt > now) {
    const since = utcTime(dueAt - leaseMs)
    return { gate: 'in-flight', says: `An attempt is under way since ${since}`, until: null }
  }
  if (dueAt > now && delivery.attempts === 0) {
    return { gate: 'scheduled', says: 'Scheduled for a later time', until: dueAt }
  }
  if (dueAt > now) {
    const reply = lastReply ?? 'no reply was kept'
    if (!greylisting.test(reply)) {
      const gate = delivery.lastCause === 'tls-policy' ? 'tls-policy' : 'deferred'
      return { gate, says: `The last attempt failed for now: ${reply}`, until: dueAt }
    }
    const says = `Greylisted: the receiver asks to be tried again later: ${reply}`
    return { gate: 'greylisted', says, until: dueAt }
  }
  if (around.accountStop !== undefined) {
    return { gate: 'account', says: around.accountStop, until: null }
  }
  if (live !== undefined) return { ...live, until: live.until ?? null }
  if (around.laneInFlight > 0) return { gate: 'lane', says: inLine(delivery, around), until: null }
  const says = 'It is due, and a running appliance takes it within half a minute'
  return { gate: 'due', says, until: null }
}

function inLine(
  { lane, class: name }: WaitingDelivery,
  { laneInFlight, ahead }: DeliverySurroundings,
): string {
  const attempts = counted(laneInFlight, 'attempt is', 'attempts are')
  const some = ahead >= mostAhead ? `${mostAhead} or more` : String(ahead)
  return `It is due and in line: ${attempts} under way to ${lane}, and ${some} ${name} deliveries come before it`
}

/**
 * At which gate of the running appliance a stream stands, at the node with this number or at the one that is asked;
 * undefined where no gate is known, or no appliance runs.
 */
export type GateOf = (stream: StreamKey, node?: number) => Promise<LiveGate | undefined>

/** Why each delivery of a list waits. */
export interface Explained {
  delivery: WaitingDelivery
  around: DeliverySurroundings
  live: LiveGate | undefined
  why: WhyWaiting
}

// Each is a question to the running appliance.
const maxStreams = 100

/**
 * Why each of them waits, by what the database and the running appliance know: it asks for a stop once an account, and
 * for a gate once a stream. `explainOne` also looks at what is around a delivery.
 */
export async function explainAll(
  read: Read,
  deliveries: readonly WaitingDelivery[],
  now: number,
  gateOf: GateOf,
): Promise<Explained[]> {
  const stops = new Map<string, string | undefined>()
  const accountKey = ({ class: name, accountId }: WaitingDelivery) => [name, accountId].join(' ')
  for (const [key, delivery] of new Map(deliveries.map((one) => [accountKey(one), one]))) {
    stops.set(key, await stopOf(read, streamOf(delivery)))
  }
  const due = deliveries.filter(({ dueAt, held }) => held === null && dueAt <= now)
  const streams = [...new Map(due.map((delivery) => [streamKey(delivery), delivery]))]
  const gates = new Map(
    await Promise.all(
      streams
        .slice(0, maxStreams)
        .map(
          async ([key, delivery]) =>
            [key, await gateOf(streamOf(delivery), delivery.node)] as const,
        ),
    ),
  )
  return deliveries.map((delivery) => {
    const accountStop = stops.get(accountKey(delivery))
    const around = { accountStop, laneInFlight: 0, ahead: 0 }
    const live = gates.get(streamKey(delivery))
    return { delivery, around, live, why: explainWaiting(delivery, around, now, live) }
  })
}

/** Why one delivery waits, with what is under way to its domain and what stands before it. */
export async function explainOne(
  read: Read,
  delivery: WaitingDelivery,
  now: number,
  gateOf: GateOf,
): Promise<Explained> {
  const around = await surroundingsOf(read, delivery, now)
  const live = await gateOf(streamOf(delivery), delivery.node)
  return { delivery, around, live, why: explainWaiting(delivery, around, now, live) }
}

const streamOf = ({ lane, class: name, accountId }: WaitingDelivery): StreamKey => ({
  lane,
  accountId,
  class: queueClass[name],
})

const streamKey = ({ lane, class: name, accountId, node }: WaitingDelivery) =>
  [lane, name, accountId, node].join(' ')
