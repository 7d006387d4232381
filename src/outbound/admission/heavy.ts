import { type Clock, isRecent } from '../../clock/index.js'

/**
 * Room for large messages under way: a receiver may make us hold one for the ten minutes that it has for the final
 * dot, and hundreds of them are gigabytes. Small messages pass: all together they are not much. One account has at
 * most half of the room. While others wait, attempts that have held a message for a minute give up, one a second.
 */
export interface HeavyRoom {
  /** Undefined: there is no room now. Whoever gets in gives it back with the function returned. */
  enter(message: Heavy): (() => void) | undefined
  /**
   * Resolves when there is room for so much, for one after the other. Whoever was called enters, or calls `passOn`:
   * nobody else calls the next one.
   */
  untilFree(accountId: string, bytes: number): Promise<void>
  passOn(): void
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
  const waiting: { accountId: string; bytes: number; wake: () => void }[] = []
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
  /** A message that is larger than the whole room has to leave too. */
  const fits = (bytes: number, taken: number, most: number) => taken === 0 || taken + bytes <= most
  const hasRoom = ({ bytes, accountId }: Pick<Heavy, 'bytes' | 'accountId'>) =>
    fits(bytes, used, mostBytes) && fits(bytes, ofAccount(accountId), mostBytes / 2)
  const wakeOne = () => {
    const next = waiting.findIndex(hasRoom)
    if (next >= 0) waiting.splice(next, 1)[0]?.wake()
  }
  /** The oldest of the account that has most. */
  const endOldest = (now: number) => {
    // The clock was set back: the patience begins anew.
    for (const held of inside) held.since = Math.min(held.since, now)
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
      if (!hasRoom(message)) return undefined
      const held = { ...message, since: clock.now() }
      inside.add(held)
      count(accountId, bytes)
      wakeOne()
      return () => {
        if (!inside.delete(held)) return
        count(accountId, -bytes)
        wakeOne()
      }
    },
    untilFree(accountId, bytes) {
      const woken = new Promise<void>((wake) => waiting.push({ accountId, bytes, wake }))
      if (!isLooking) keepLooking()
      return woken
    },
    passOn: wakeOne,
  }
}
