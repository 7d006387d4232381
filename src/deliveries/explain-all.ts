import { queueClass, type Read } from '../store/index.js'
import { type StreamKey, stopOf } from './claim.js'
import { explainWaiting, type LiveGate, type WhyWaiting } from './explain.js'
import { type Surroundings, surroundingsOf, type Waiting } from './inspect.js'

/** At which gate of the running appliance a stream stands; undefined where none is known, or none runs. */
export type GateOf = (stream: StreamKey) => Promise<LiveGate | undefined>

/** Why each of a list waits. */
export interface Explained {
  delivery: Waiting
  around: Surroundings
  live: LiveGate | undefined
  why: WhyWaiting
}

// Each is a question to the running appliance.
const maxStreams = 100

/**
 * Why each of them waits, by what the database and the running appliance know: an account's stop is asked
 * for once an account, a gate once a stream. `explainOne` looks at what else is around a delivery.
 */
export async function explainAll(
  read: Read,
  deliveries: readonly Waiting[],
  now: number,
  gateOf: GateOf,
): Promise<Explained[]> {
  const stops = new Map<string, string | undefined>()
  const accountKey = ({ class: name, accountId }: Waiting) => [name, accountId].join(' ')
  for (const [key, delivery] of new Map(deliveries.map((one) => [accountKey(one), one]))) {
    stops.set(key, await stopOf(read, streamOf(delivery)))
  }
  const due = deliveries.filter(({ dueAt, held }) => held === null && dueAt <= now)
  const streams = [...new Map(due.map((delivery) => [streamKey(delivery), delivery]))]
  const gates = new Map(
    await Promise.all(
      streams
        .slice(0, maxStreams)
        .map(async ([key, delivery]) => [key, await gateOf(streamOf(delivery))] as const),
    ),
  )
  return deliveries.map((delivery) => {
    const accountStop = stops.get(accountKey(delivery))
    const around = { accountStop, laneInFlight: 0, ahead: 0 }
    const live = gates.get(streamKey(delivery))
    return { delivery, around, live, why: explainWaiting(delivery, around, now, live) }
  })
}

/** The same of one, with what is under way to its domain and stands before it. */
export async function explainOne(
  read: Read,
  delivery: Waiting,
  now: number,
  gateOf: GateOf,
): Promise<Explained> {
  const around = await surroundingsOf(read, delivery, now)
  const live = await gateOf(streamOf(delivery))
  return { delivery, around, live, why: explainWaiting(delivery, around, now, live) }
}

const streamOf = ({ lane, class: name, accountId }: Waiting): StreamKey => ({
  ...{ lane, accountId },
  class: queueClass[name],
})

const streamKey = ({ lane, class: name, accountId }: Waiting) => [lane, name, accountId].join(' ')
