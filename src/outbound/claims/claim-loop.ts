import { onceATurn } from '../../bounded/index.js'
import { systemClock } from '../../clock/index.js'
import { makeClaimFrom, type WantedRows } from '../../deliveries/index.js'
import { makeSeldom } from '../../log/index.js'
import { isHeldUp } from '../../nodes/index.js'
import { isPassing, isRemote, wordsOfCause } from '../../store/index.js'
import { keyOf, type Stream } from '../admission/index.js'
import type { OutboundDeps } from '../deps.js'
import { claimApart, type LostClaims, takeBackLost } from './claim-apart.js'
import { type AskedRows, type HandOutParts, makeHandOut } from './hand-out.js'

/**
 * Asks the admission what may start, and claims rows of the queue for it.
 *
 *   turn ──▶ admission.admit ──▶ begin what was claimed ahead ──slots are left──▶ claim ──▶ begin ──▶ turn
 *     ▲                                     └──nothing to claim──▶ sleep until the admission's wakeAt
 *     └── rings, ended attempts, sites found, gates that open
 *
 * One claim at a time: while it is under way, a turn begins only what was claimed ahead.
 */
export interface ClaimLoop {
  /** To be called whenever something may start that could not before. */
  turn(): void
  /** Calls `turn` once for all that ends in this turn of the event loop. */
  turnSoon(): void
  /** Transactional mail has come: while little of it comes, it does not wait for the end of a rest. */
  hurry(): void
  /** True when rows of the stream are being claimed and none of it is claimed ahead. */
  isClaiming(stream: Stream): boolean
  /** Nothing begins any more; resolves when the claim under way has ended. */
  stop(): Promise<void>
}

// The rest after a claim that failed, before the next.
const retryWriteMs = 1_000
// The rest after a claim of fewer rows while mail is under way: a claim costs as much as some of the mails in it, so
// a few larger claims are better. Under full load a claim has more rows than this.
const fewRows = 16
const restMs = 25
// Transactional mail ends a rest, as it would wait for 12 ms on average beside a campaign. So many mails in a row may
// do so, and one more each time that the interval below has passed. Where hundreds a second come singly none does,
// because each claim would have fewer mails.
const mostHurried = 4
const hurriedAgainMs = 50

/**
 * One claim at a time: a second one would only wait for its turn to write, and hold its slots meanwhile. Mail that
 * comes meanwhile is claimed with the next.
 */
export function makeClaimLoop(
  deps: Pick<OutboundDeps, 'store' | 'clock' | 'log' | 'thread'>,
  parts: HandOutParts,
): ClaimLoop {
  const { clock, log } = deps
  const { admission, ahead, runs } = parts
  const lost: LostClaims = []
  const claimFrom = isRemote(deps.store.read) ? makeClaimFrom<Stream>() : undefined
  let claiming = false
  let claimed = Promise.resolve()
  let stopped = false
  let cancelWake = () => {}
  let endRest = () => {}
  let isHurried = false
  const mayHurry = makeHurries()
  const seldom = makeSeldom(clock)

  const handOut = makeHandOut(deps, parts)
  const mayBegin = (stream: Stream, slots: number) => slots < ahead.left(stream)

  const turn = () => {
    if (runs.isIdle()) endRest()
    if (stopped || runs.cannotWrite() || (claiming && ahead.isEmpty())) return
    if (isHeldUp(deps.store.node)) return sleepFor(retryWriteMs)
    const { admitted, closed } = admission.admit(claiming ? mayBegin : undefined)
    if (closed.length > 0 && !ahead.isEmpty()) {
      for (const waiting of closed)
        for (const streams of [...waiting.values()]) ahead.giveBack([...streams])
    }
    const short = admitted.filter(handOut.claimedAhead)
    if (claiming) return
    const asked = short
      .map((one) => ({ limit: one.slots.length + ahead.wanted(one.stream), ...one }))
      .filter(({ limit }) => limit > 0)
    if (asked.length > 0) claimed = claimFor(asked)
    else sleep()
  }

  const claimFor = async (asked: readonly AskedRows[]) => {
    claiming = true
    isHurried = false
    for (const { stream } of asked) stream.claiming = true
    try {
      const now = clock.now()
      const wants: WantedRows[] = asked.map(({ stream, limit }) => ({
        limit,
        from: claimFrom?.of(stream, now),
        ...keyOf(stream),
      }))
      await takeBackLost(deps, lost)
      const claims = await claimApart(deps, wants, lost)
      for (const [i, one] of asked.entries()) {
        const claim = claims[i]
        if (claim) claimFrom?.keep(one.stream, wants[i]?.from, claim, now)
        handOut.claimed(one, claim, { now, stopped })
      }
      const rows = claims.reduce((sum, { taken }) => sum + taken.length, 0)
      if (rows < fewRows) await rest()
    } catch (error) {
      // The database cannot be written just now; the streams stay due.
      if (!isPassing(error)) log.error({ error }, 'Deliveries could not be claimed')
      else
        seldom(() => log.error({ cause: wordsOfCause(error) }, 'Deliveries could not be claimed'))
      for (const { stream, slots } of asked) {
        stream.claiming = false
        for (const slot of slots) admission.withdraw(slot)
      }
      clock.after(retryWriteMs, () => {
        claiming = false
        turn()
      })
      return
    }
    claiming = false
    turn()
  }

  const rest = async () => {
    if (stopped || runs.isIdle() || isHurried) return
    await new Promise<void>((resolve) => {
      // The rest is for the machine and not for the mail, so it goes by the system's time and not by the mail's
      // clock.
      const cancel = systemClock.after(restMs, resolve)
      endRest = () => {
        cancel()
        resolve()
      }
    })
  }

  const sleepFor = (ms: number) => {
    cancelWake()
    cancelWake = clock.after(ms, turn)
  }
  const sleep = () => {
    cancelWake()
    const at = admission.wakeAt()
    if (Number.isFinite(at)) cancelWake = clock.after(Math.max(1, at - clock.now()), turn)
  }

  return {
    turn,
    turnSoon: onceATurn(turn),
    hurry() {
      if (!mayHurry() || !claiming) return
      isHurried = true
      endRest()
    },
    // A stream that has mail claimed ahead is held by a gate and not by a claim.
    isClaiming: (stream) => claiming && stream.claiming && ahead.left(stream) === 0,
    stop() {
      stopped = true
      endRest()
      cancelWake()
      return claimed
    },
  }
}

/** Says yes while few ask, and no while many do. By the system's time, as rests are. */
function makeHurries(): () => boolean {
  let left = mostHurried
  let since = systemClock.now()
  return () => {
    const now = systemClock.now()
    const more = Math.max(0, now - since) / hurriedAgainMs
    since = now
    left = Math.max(-mostHurried, Math.min(mostHurried, left + more) - 1)
    return left >= 0
  }
}
