import { findKey, type Principal } from '../accounts/index.js'
import { setSurge } from '../billing/index.js'
import { type Clock, dayMs } from '../clock/index.js'
import { changeHeld } from '../deliveries/index.js'
import { ApiError } from '../errors/index.js'
import type { LandEvents } from '../events/index.js'
import type { Log } from '../log/index.js'
import { settled } from '../notices/index.js'
import type { Read, Store, SurgeRow, Tx } from '../store/index.js'
import { findAnySurge, type Surge } from './surge.js'

/** What happens to held mail: it leaves, or fails. */
export type SurgeDecision = NonNullable<SurgeRow['decision']>

// After that time the surge's hours count as usual ones.
const unbrakedMs = dayMs

/** Why the held mail has failed, as its senders are told. */
const givenUp = 'it was part of a surge of mail to new recipients that was given up'

/**
 * Decides about a surge, in a write of the caller's. Throws a 404, and a 409 where somebody has decided before. The
 * held mail follows in the background (`finishDecided`).
 */
export async function decideSurge(
  tx: Tx,
  surgeId: string,
  { decision, by, now }: { decision: SurgeDecision; by: string; now: number },
): Promise<Surge> {
  const { accountId, id, decision: before } = await findAnySurge(tx, surgeId)
  if (before !== null) {
    throw new ApiError('conflict', `Somebody has decided about this surge before: it is ${before}`)
  }
  await tx
    .updateTable('surges')
    .set({ decision, decided_at: now, decided_by: by.slice(0, 200) })
    .where('id', '=', id)
    .execute()
  const unbrakedUntil = decision === 'released' ? now + unbrakedMs : null
  await setSurge(tx, accountId, { surgeId: null, unbrakedUntil })
  await settled(tx, { kind: 'surge', key: accountId, now })
  return await findAnySurge(tx, id)
}

/** Carries out decisions, also those that a kill has broken off. Resolves with whether all is done. */
export async function finishDecided(
  deps: {
    store: Store
    clock: Clock
    log: Log
    land: LandEvents
    /** Tells the outbound threads to look through the queue, as much may be due at once. */
    look?: () => void
  },
  signal?: AbortSignal,
): Promise<boolean> {
  const { store, clock, log, look = () => {} } = deps
  const rows = await store.read
    .selectFrom('surges')
    .selectAll()
    .where('decision', 'is not', null)
    .where('ended_at', 'is', null)
    .orderBy('id')
    .limit(10)
    .execute()
  for (const { id, account_id: accountId, decision } of rows) {
    const name = decision === 'released' ? 'release' : 'fail'
    const until = () => nextSurgeAt(store.read, accountId, id)
    const which = { accountId, heldBy: 'surge', until } as const
    const isDone = await changeHeld(deps, which, { name, reason: givenUp }, signal)
    if (decision === 'released') look()
    if (!isDone) return false
    const now = clock.now()
    await store.write((tx) =>
      tx.updateTable('surges').set({ ended_at: now }).where('id', '=', id).execute(),
    )
    log.info({ accountId, surgeId: id, decision }, 'A surge is over')
  }
  return true
}

/** When the account's next surge began: mail held since then belongs to that one. */
async function nextSurgeAt(read: Read, accountId: string, id: string): Promise<number | undefined> {
  const next = await read
    .selectFrom('surges')
    .select('began_at')
    .where('account_id', '=', accountId)
    .where('id', '>', id)
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
  return next?.began_at
}

/** Why what is held may be this key's, and what to do then; undefined: it is not. */
function whyOwn({ sources, beganAt }: Surge, key: string, createdAt: Surge['beganAt']) {
  const isOf = (keyId: string | null) => sources.some((one) => one.keyId === keyId)
  // A part of no key may be any key's, so that an older one helps nothing.
  const then = isOf(null) ? 'use the dashboard' : 'use an older key, or the dashboard'
  if (isOf(key)) return { why: 'has handed in what is held', then }
  if (isOf(null)) {
    return { why: 'may have handed in what is held, of which a part came by no key', then }
  }
  return createdAt < beganAt ? undefined : { why: 'was made after the surge began', then }
}

/**
 * Throws a 403 where the key that asks for a release has handed in the held mail, or may have by events of automations,
 * or was made after the surge began: a thief with a full key would release his own mail, or make another key that does.
 */
export async function refuseOwnKey(read: Read, surge: Surge, by: Principal): Promise<void> {
  const { createdAt } = await findKey(read, by.accountId, by.keyId)
  const own = whyOwn(surge, by.keyId, createdAt)
  if (own === undefined) return
  throw new ApiError('forbidden', `This key ${own.why}, so it cannot release it; ${own.then}`)
}
