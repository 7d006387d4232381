import { type Clock, isRecent } from '../../clock/index.js'

/**
 * Room for large messages under way: a receiver may make us hold one for the ten minutes that it has for
 * the final dot, and hundreds of those are gigabytes. Small ones pass: all together they are not much.
 * One account has half of it; while others wait, whoever has held it for a minute gives up, one a second.
 */
export interface HeavyRoom {
  /** Undefined: there is no room now. Whoever gets in gives it back with the function returned. */
  enter(message: Heavy): (() => void) | undefined
  /** Resolves when it is worth trying again, for one after the other. */
  untilFree(accountId: string): Promise<void>
}

/** A message that is about to be held in memory. */
export interface Heavy {
  bytes: number
  accountId: string
  /** Breaks its attempt off; undefined on the way by a smart host, which is trusted. */
  giveUp: ((why: string) => void) | undefined
}

// Smaller messages are not counted: the delivery slots bound their number.
export const lightBytes = 256 * 1024
// How long a message may be held while others wait, and how often it is looked at.
const patienceMs = 60_000
const lookEveryMs = 1_000

/**
 * Messages with attachments are bounded by their bytes and not only by their number: fifty of ten
 * megabytes each would be half a gigabyte in one thread.
 */
export function makeHeavyRoom(mostBytes: number, clock: Clock): HeavyRoom {
  const waiting: { accountId: string; wake: () => void }[] = []
  const inside = new Set<Heavy & { since: number }>()
  const over = new WeakSet<Heavy>()
  const byAccount = new Map<string, number>()
  let used = 0
  let isLooking = false

  const ofAccount = (accountId: string) => byAccount.get(accountId) ?? 0
  const count = (accountId: string, bytes: number) => {
    used += bytes
    const own = ofAccount(accountId) + bytes
    if (own === 0) byAccount.delete(accountId)
    else byAccount.set(accountId, own)
  }
  /** One that is larger than all that there is has to leave too. */
  const fits = (bytes: number, taken: number, most: number) => taken === 0 || taken + bytes <= most
  const wakeOne = () => {
    const next = waiting.findIndex(({ accountId }) => fits(1, ofAccount(accountId), mostBytes / 2))
    if (next >= 0) waiting.splice(next, 1)[0]?.wake()
  }
  /** The oldest of the account that has most. */
  const endOldest = (now: number) => {
    const old = [...inside].filter((held) => {
      return !isRecent(held.since, now, patienceMs) && held.giveUp !== undefined && !over.has(held)
    })
    const [first] = old.sort((a, b) => ofAccount(b.accountId) - ofAccount(a.accountId))
    if (first === undefined) return
    over.add(first)
    const seconds = Math.round(Math.max(patienceMs, now - first.since) / 1000)
    first.giveUp?.(`given up after ${seconds} s, as other large mail waits for room`)
  }
  const keepLooking = () => {
    isLooking = waiting.length > 0
    if (!isLooking) return
    clock.after(lookEveryMs, () => {
      if (waiting.length > 0) endOldest(clock.now())
      keepLooking()
    })
  }

  return {
    enter(message) {
      const { bytes, accountId } = message
      if (bytes <= lightBytes) return () => {}
      if (!fits(bytes, used, mostBytes)) return undefined
      if (!fits(bytes, ofAccount(accountId), mostBytes / 2)) return undefined
      const held = { ...message, since: clock.now() }
      inside.add(held)
      count(accountId, bytes)
      if (used < mostBytes) wakeOne()
      return () => {
        if (!inside.delete(held)) return
        count(accountId, -bytes)
        wakeOne()
      }
    },
    untilFree(accountId) {
      const woken = new Promise<void>((resolve) => waiting.push({ accountId, wake: resolve }))
      if (!isLooking) keepLooking()
      return woken
    },
  }
}
