import { hourMs, utcTime } from '../clock/index.js'
import { ApiError } from '../errors/index.js'
import type { Store, Tx } from '../store/index.js'
import { type Broadcast, type BroadcastDeps, findBroadcast } from './broadcast.js'
import { chancesToBeHighest, type Share } from './chance.js'
import { keepWaiting } from './pace.js'
import {
  endOfTest,
  usualTest,
  type Variant,
  type VariantTest,
  variantsOf,
  variantTestOf,
} from './variant.js'

/*
 * Which version of a campaign the rest of its audience gets. It is chosen once, in one transaction, which also puts the
 * cursor back to the beginning of the audience: whoever comes later, or again after a kill, finds it chosen.
 */

/** Below this chance a version is not surely better. */
export const surely = 0.9

// How often a campaign that waits for somebody is looked at.
const byHandMs = 24 * hourMs

/** The measure of a version: of its test mails that arrived, how many did people open or click. */
export function shareOf(
  { delivered, relayed, opened, clicked, test_arrived, test_did }: Variant,
  by: VariantTest['by'],
): Share {
  // The rest is no part of the test: it got only the chosen version, at another time.
  if (test_arrived !== null && test_did !== null) return { did: test_did, of: test_arrived }
  const did = by === 'clicks' ? clicked : opened
  return { did, of: Math.max(delivered + relayed, did) }
}

/** The chance of each version, by its key, that it is better than all others. */
export function chancesOf(all: readonly Variant[], by: VariantTest['by']): Map<string, number> {
  const chances = chancesToBeHighest(all.map((one) => shareOf(one, by)))
  return new Map(all.map(({ key }, at) => [key, chances[at] ?? 0]))
}

/** The version that the figures choose; undefined where none is surely better, and somebody has to choose. */
function choice(
  variants: readonly Variant[],
  { by, ifClose }: VariantTest,
): { key: string; decidedBy: 'figures' | 'close' } | undefined {
  const rate = (variant: Variant) => {
    const { did, of } = shareOf(variant, by)
    return of === 0 ? 0 : did / of
  }
  const [best] = variants.toSorted((a, b) => rate(b) - rate(a))
  const chance = chancesOf(variants, by).get(best?.key ?? '') ?? 0
  if (best && chance >= surely) return { key: best.key, decidedBy: 'figures' }
  const [control] = variants
  return ifClose === 'control' && control ? { key: control.key, decidedBy: 'close' } : undefined
}

/** For a campaign whose test is made: chooses the version for the rest if it is time, else stores what it waits for. */
export async function decideOrWait(
  { store, clock }: Pick<BroadcastDeps, 'store' | 'clock'>,
  broadcast: Broadcast,
): Promise<void> {
  const now = clock.now()
  const { decide_at: decideAt } = broadcast
  if (decideAt !== null && decideAt <= now && (await decide({ store, clock }, broadcast))) return
  const nextAt = now + byHandMs
  const waits =
    decideAt !== null && decideAt > now
      ? { nextAt: decideAt, reason: `It waits for the decision at ${utcTime(decideAt)}` }
      : { nextAt, reason: byHandWords({ decide_at: decideAt, next_at: nextAt }) ?? null }
  await keepWaiting({ store, now }, broadcast, waits)
}

/**
 * That a campaign whose test is made waits for somebody to choose, and why; undefined: it chooses by itself, at its time
 * or when it goes on.
 */
export function byHandWords({
  decide_at: decideAt,
  next_at: nextAt,
}: Pick<Broadcast, 'decide_at' | 'next_at'>): string | undefined {
  const waits = 'waits until somebody chooses the version for the rest'
  if (decideAt === null) return `It ${waits}`
  // It is looked at again only later than its time where it was that time, and nothing was chosen.
  const wasTooClose = nextAt !== null && nextAt > decideAt
  return wasTooClose ? `No version was better for sure: it ${waits}` : undefined
}

/** Resolves with whether there is nothing left to wait for. */
async function decide(
  { store, clock }: Pick<BroadcastDeps, 'store' | 'clock'>,
  { id, account_id: accountId }: Broadcast,
): Promise<boolean> {
  return await store.write(async (tx) => {
    const found = await findBroadcast(tx, accountId, id)
    const test = variantTestOf(found)
    if (!waitsForDecision(found) || found.status !== 'sending' || test === undefined) return true
    const chosen = choice(await variantsOf(tx, id), test)
    if (chosen === undefined) return false
    await setWinner(tx, found, { ...chosen, now: clock.now() })
    return true
  })
}

/** Whether the test of a campaign is made, and nothing is chosen for its rest yet. */
export const waitsForDecision = ({ cursor, winner }: Pick<Broadcast, 'cursor' | 'winner'>) =>
  cursor === endOfTest && winner === null

interface Chosen {
  key: string
  decidedBy: 'figures' | 'close' | 'account'
  now: number
}

/** Begins the pass over the rest from the start. The figures by which versions are compared stay as they are. */
async function setWinner(tx: Tx, found: Broadcast, { key, decidedBy, now }: Chosen): Promise<void> {
  const { id } = found
  const { by } = variantTestOf(found) ?? usualTest
  const last = await lastMailOf(tx, id)
  for (const variant of await variantsOf(tx, id)) {
    const { did, of } = shareOf(variant, by)
    await tx
      .updateTable('broadcast_variants')
      .set({ test_arrived: of, test_did: did })
      .set(variant.key === key ? { rest_after: last } : {})
      .where('broadcast_id', '=', id)
      .where('key', '=', variant.key)
      .execute()
  }
  await tx
    .updateTable('broadcasts')
    .set({ winner: key, decided_by: decidedBy, decided_at: now, cursor: '', next_at: null })
    .set({ expanded_at: now })
    .where('id', '=', id)
    .execute()
}

/** Ids of mails rise, so those of the rest come after the last one of the test. */
async function lastMailOf(tx: Tx, broadcastId: string): Promise<string> {
  const last = await tx
    .selectFrom('emails')
    .select('id')
    .where('broadcast_id', '=', broadcastId)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  return last?.id ?? ''
}

/**
 * Chooses a version by hand for the rest of a campaign whose test is made, also while it is paused. Throws a 404 for a
 * version that the campaign does not have, a 409 where none can be chosen (any more). `alongside` is written in the
 * same transaction.
 */
export async function chooseVariant(
  { store, clock, expand }: { store: Store } & Pick<BroadcastDeps, 'clock' | 'expand'>,
  accountId: string,
  { id, key }: { id: string; key: string },
  alongside: (tx: Tx) => Promise<void> = async () => {},
): Promise<void> {
  await store.write(async (tx) => {
    const found = await findBroadcast(tx, accountId, id)
    const variants = await variantsOf(tx, found.id)
    if (!variants.some((variant) => variant.key === key)) {
      throw new ApiError('not_found', 'The campaign has no version with this key')
    }
    if (found.winner !== null) {
      throw new ApiError(
        'conflict',
        `Version ${found.winner} was chosen already, and goes to the rest`,
      )
    }
    const isOn = found.status === 'sending' || found.status === 'paused'
    if (!isOn || found.cursor !== endOfTest) {
      throw new ApiError('conflict', whyNot(found))
    }
    await setWinner(tx, found, { key, decidedBy: 'account', now: clock.now() })
    if (found.status === 'sending') {
      await tx.updateTable('broadcasts').set({ reason: null }).where('id', '=', found.id).execute()
    }
    await alongside(tx)
  })
  expand()
}

const whyNot = ({ status, expanded }: Broadcast) =>
  (status === 'sending' || status === 'paused') && expanded === 0
    ? 'The test of this campaign is still being made: choose once all of its mails are'
    : `A campaign that is ${status} has no rest to choose a version for`
