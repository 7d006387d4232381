import { createHash } from 'node:crypto'
import { keepNewest, type SharedCounts, sharedWindowEnd } from '../bounded/index.js'
import { type Clock, dayMs, hourMs, isRecent } from '../clock/index.js'

/** Slows down guessing, by the client's address and by the person whose log-in is tried. */
export interface FailureLimits {
  /**
   * Counts an attempt before it is made, so that many at once are not all let through. Returns for how many
   * milliseconds it is refused; 0 allows it.
   */
  take(from: AttemptFrom): Promise<number>
  /** The attempt was not made after all, so it does not count. */
  takeBack(from: AttemptFrom): Promise<void>
  /** The attempt succeeded: it does not count, and the person's failures are forgotten. */
  forgive(from: AttemptFrom): Promise<void>
  /** For somebody who has proved in another way who they are. */
  forget(who: string): Promise<void>
}

/** The same in this process's memory, without waiting. */
export type OwnFailureLimits = {
  [Name in keyof FailureLimits]: (
    ...given: Parameters<FailureLimits[Name]>
  ) => Awaited<ReturnType<FailureLimits[Name]>>
}

export const countedHere = (limits: OwnFailureLimits): FailureLimits => ({
  take: async (from) => limits.take(from),
  takeBack: async (from) => limits.takeBack(from),
  forgive: async (from) => limits.forgive(from),
  forget: async (who) => limits.forget(who),
})

export interface AttemptFrom {
  /**
   * Left out for a person who is logged in, or known at that address: others there must not hold them
   * back.
   */
  clientAddressKey?: string
  who: string
}

export interface Failures {
  count: number
  lastAt: number
  blockedUntil: number
}

// How long a failure counts if nobody was held back.
export const windowMs = 900_000
// An office shares an address, and guesses at one person may come from many addresses. Beyond these numbers each
// failure doubles the wait.
const ofAddress = 10
const ofPerson = 20
const firstWaitMs = 60_000
// A wait is never longer, so that strangers cannot lock a person out for good.
const longestWaitMs = hourMs
// Attempts with the right password count too: each costs a third of a second of a processor.
const attemptsAMinute = 30
// How long a wait is remembered. If it were shorter, guessers who pause would get more guesses than those who
// wait.
const rememberedMs = 6 * hourMs
const mostKeys = 50_000
// To make room, at most this many of the oldest entries are searched for one that may be forgotten.
const mostLookedAt = 100

/** When failures are forgotten. */
export const forgottenAt = ({ lastAt, blockedUntil }: Omit<Failures, 'count'>): number =>
  blockedUntil > 0 ? blockedUntil + rememberedMs : lastAt + windowMs

/** The failures with one more. */
export function oneMore(failures: Failures | undefined, limit: number, now: number): Failures {
  const count = (failures?.count ?? 0) + 1
  const over = count - limit
  const blockedUntil =
    over < 0
      ? (failures?.blockedUntil ?? 0)
      : now + Math.min(longestWaitMs, firstWaitMs * 2 ** Math.min(over, 10))
  return { count, lastAt: now, blockedUntil }
}

/**
 * How many milliseconds a client with very many attempts, successful ones included, has to wait.
 */
export function makePace(): (who: string, now: number) => number {
  const attempts = new Map<string, number[]>()
  return (who, now) => {
    const recent = (attempts.get(who) ?? []).filter((at) => at > now - 60_000 && at <= now)
    const [first = now] = recent
    if (recent.length >= attemptsAMinute) return first + 60_000 - now
    keepNewest(attempts, who, [...recent, now], mostKeys)
    return 0
  }
}

/** In memory: a restart forgets, but guessers cannot restart the appliance. */
export function makeFailureLimits(clock: Clock): OwnFailureLimits {
  // Ordered by the last failure, the oldest first.
  const known = new Map<string, Failures>()
  const pace = makePace()

  function lasting(key: string): Failures | undefined {
    const failures = known.get(key)
    if (failures === undefined) return undefined
    const now = clock.now()
    // A time in the future is from before the clock was set back.
    if (failures.lastAt <= now && forgottenAt(failures) > now) return failures
    known.delete(key)
    return undefined
  }

  function count(key: string, limit: number): void {
    const now = clock.now()
    const failures = oneMore(lasting(key), limit, now)
    known.delete(key)
    if (known.size >= mostKeys) makeRoom(now)
    known.set(key, failures)
  }

  /**
   * Entries with a running wait are forgotten last, so that nobody ends their own wait by failing under
   * many names.
   */
  function makeRoom(now: number): void {
    let looked = 0
    let [oldest = ''] = known.keys()
    for (const [key, { blockedUntil }] of known) {
      if (++looked > mostLookedAt) break
      if (blockedUntil > now) continue
      oldest = key
      break
    }
    known.delete(oldest)
  }

  function uncount(key: string): void {
    const failures = lasting(key)
    if (failures === undefined) return
    failures.count--
    // The attempt was let through, so no earlier wait was running. The time is moved to the past, so that
    // the entry is not forgotten too early.
    failures.blockedUntil = Math.min(failures.blockedUntil, clock.now())
    if (failures.count <= 0) known.delete(key)
  }

  return {
    take(from) {
      const now = clock.now()
      const keys = keysOf(from)
      const ends = keys.map(([key]) => lasting(key)?.blockedUntil ?? 0)
      const waitMs = Math.max(...ends) - now
      // A refused attempt stores nothing, as it would push out entries of others.
      if (waitMs > 0) return waitMs
      const tooSoonMs = pace(from.who, now)
      if (tooSoonMs > 0) return tooSoonMs
      for (const [key, limit] of keys) count(key, limit)
      return 0
    },
    takeBack(from) {
      for (const [key] of keysOf(from)) uncount(key)
    },
    forgive(from) {
      for (const [key] of keysOf(from)) uncount(key)
      known.delete(personKey(from.who))
    },
    forget: (who) => void known.delete(personKey(who)),
  }
}

export const personKey = (who: string) => `person ${who}`

export function keysOf({ clientAddressKey, who }: AttemptFrom): [key: string, limit: number][] {
  const ofWho: [string, number] = [personKey(who), ofPerson]
  return clientAddressKey === undefined
    ? [ofWho]
    : [[`address ${clientAddressKey}`, ofAddress], ofWho]
}

/** Limits the mails of invitations, which leave in the appliance's own name with an owner's words. */
export interface InvitationMails {
  /** Whether one more may leave; it then counts. */
  take(accountId: string, address: string): boolean
}

// Expired ones are removed once this many are remembered.
const mostMailed = 10_000

/**
 * In memory, and shared with other nodes if there are any: a restart forgets, but no owner can restart the appliance.
 */
export function makeInvitationMails(
  clock: Clock,
  counts?: Pick<SharedCounts, 'of'>,
): InvitationMails {
  const together = counts?.of('invitation mails')
  const sentAt = new Map<string, number[]>()

  function forgetPast(now: number): void {
    for (const [key, times] of sentAt) {
      if (!isRecent(times.at(-1) ?? 0, now, dayMs)) sentAt.delete(key)
    }
  }

  return {
    take(accountId, address) {
      const now = clock.now()
      const to = address.trim().toLowerCase()
      const rules = [
        { key: `account ${accountId}`, most: 20, withinMs: hourMs },
        { key: `both ${accountId} ${to}`, most: 3, withinMs: dayMs },
        // More than one account may send, so that no other account can keep it from mailing
        // somebody.
        { key: `address ${to}`, most: 10, withinMs: dayMs },
      ].map(({ key, most, withinMs }) => {
        const times = (sentAt.get(key) ?? []).filter((at) => isRecent(at, now, withinMs))
        const endsAt = sharedWindowEnd(now, withinMs)
        const others = together?.others(hashed(key), endsAt) ?? 0
        const isFull = times.length + others >= most
        return { key, times, isFull, most, endsAt, beganAt: endsAt - withinMs }
      })
      if (rules.some(({ isFull }) => isFull)) return false
      if (sentAt.size > mostMailed) forgetPast(now)
      for (const { key, times, most, endsAt, beganAt } of rules) {
        sentAt.set(key, [...times, now])
        const count = times.filter((at) => at >= beganAt).length + 1
        together?.note({ key: hashed(key), endsAt, count }, most)
      }
      return true
    },
  }
}

/** Hashed, as other nodes need not know who is invited. */
const hashed = (key: string) => createHash('sha256').update(key).digest('base64url')
