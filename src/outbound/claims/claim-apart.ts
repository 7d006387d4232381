import {
  type Claim,
  claim,
  firstDue,
  hold,
  type LostClaim,
  leaseOf,
  releaseLost,
  type StreamKey,
  type WantedRows,
} from '../../deliveries/index.js'
import { internalReason, messageOf } from '../../errors/index.js'
import { isPassing } from '../../store/index.js'
import type { OutboundDeps } from '../deps.js'

/** What a claim needs of the thread. */
type Deps = Pick<OutboundDeps, 'store' | 'clock' | 'log' | 'thread'>

// How long a stream rests when nothing of it can be claimed or held, though the storage works.
const restMs = 300_000
const soonMs = 1_000

/**
 * Claims whose outcome nobody knows, because the connection to the database was lost before it answered. What they
 * may have leased is made due again; else it would wait an hour for the end of its lease.
 */
export type LostClaims = LostClaim[]

/** To be called before the next claim. Rejects while the storage fails, and then keeps what is left. */
export async function takeBackLost(deps: Deps, lost: LostClaims): Promise<void> {
  const { store, clock, log } = deps
  for (let one = lost[0]; one !== undefined; one = lost[0]) {
    const claim = one
    const released = await store.byRow((tx) =>
      releaseLost(tx, claim, { now: clock.now(), node: store.node.number }),
    )
    lost.shift()
    if (released > 0)
      log.warn({ released }, 'A claim was made whose answer was lost: its mail is due again')
  }
}

/**
 * Claims for all of these streams at once. When that fails because of some row, it claims for each stream by itself,
 * so that the row keeps no other stream waiting, and holds the row. Rejects while the storage fails and nothing was
 * claimed.
 */
export async function claimApart(
  deps: Deps,
  wants: readonly WantedRows[],
  lost: LostClaims,
): Promise<Claim[]> {
  const { store, clock } = deps
  const now = clock.now()
  try {
    return await store.byRow((tx) => claim(tx, wants, { now, ...claimantOf(deps) }))
  } catch (error) {
    if (isPassing(error)) {
      lost.push({ streams: wants, lease: claimantOf(deps).lease, at: now })
      throw error
    }
  }
  return await Promise.all(wants.map((want) => claimAlone(deps, want, lost)))
}

const claimantOf = ({ store: { node }, thread }: Deps) => ({
  node: node.number,
  lease: leaseOf(node, thread),
})

/** Never rejects: others may have claimed at the same time, and their deliveries have to begin. */
async function claimAlone(deps: Deps, want: WantedRows, lost: LostClaims): Promise<Claim> {
  const { store, clock } = deps
  const now = clock.now()
  const none = (again: number): Claim => ({ taken: [], exhausted: { nextDueAt: now + again } })
  // With a limit of one, rows are claimed up to the one at fault, which is then the first.
  for (const limit of [want.limit, 1]) {
    try {
      const [claimed] = await store.byRow((tx) =>
        claim(tx, [{ ...want, limit }], { now, ...claimantOf(deps) }),
      )
      return claimed ?? none(0)
    } catch (error) {
      if (isPassing(error)) {
        lost.push({ streams: [want], lease: claimantOf(deps).lease, at: now })
        return none(soonMs)
      }
      if (limit === 1) return none(await holdFirst(deps, want, error))
    }
  }
  return none(0)
}

/** Holds the delivery of the stream that is due first; resolves with the time until the stream is looked at again. */
async function holdFirst(deps: Deps, stream: StreamKey, fault: unknown): Promise<number> {
  const { store, clock, log } = deps
  const now = clock.now()
  const cause = messageOf(fault)
  const { lane, accountId } = stream
  try {
    const [first] = await firstDue(store.read, { ...stream, now, node: store.node.number })
    if (first === undefined) return 0
    const reason = internalReason('it cannot be claimed', cause)
    const { changed } = await store.write((tx) =>
      hold(tx, [first.id], { reason, by: 'fault', now }),
    )
    if (changed === 0) throw new Error('It is not found by its number')
    const fields = { deliveryId: first.id, emailId: first.emailId, to: first.recipient, cause }
    log.error(fields, "A delivery cannot be claimed; it is held: 'posthorn queue held'")
    return 0
  } catch (error) {
    if (isPassing(error)) return soonMs
    const fields = { lane, accountId, cause, holding: messageOf(error) }
    log.error(fields, 'Deliveries can neither be claimed nor held; tried again in five minutes')
    return restMs
  }
}
