import { keepNewest } from '../bounded/index.js'
import { isDueBy } from '../clock/index.js'

/** What is known in memory about a mail in the spool. */
export interface UnreadMail<Id = number> {
  id: Id
  dueAt: number
  bytes: number
}

// A mail is put off by five minutes at most (`inbound/clerk.ts`). A later time comes from a clock that was ahead.
const longestWaitMs = 300_000

// How much of the room one network may have: a tenth, so that it takes ten networks to fill it.
const networkShare = 1 / 10

// How many networks' use of the reader is remembered: one that sends again after its last mail was read is not new.
const rememberedNetworks = 10_000
// What a turn counts at least, in milliseconds of reading.
const turnMs = 1

/** How long the reader was busy with a network's mails, all together and with each of the last ones. */
interface ReaderUse {
  ms: number
  aMail: number
}

/**
 * The spool's mails by network: how much room each takes, and whose turn it is to be read. Turns go by the time that
 * reading took, as a hostile mail can take a thousand times as long as another: the network that has used least is
 * next. The list is in memory: one process takes the mails, and looks at each when it starts.
 */
export function makeWaitingList<Id = number>(limits: { mails: number; bytes: number }) {
  const networks = new Map<string, Map<Id, UnreadMail<Id>>>()
  const uses = new Map<string, ReaderUse>()
  /** What the network that was read last had used: one that is new, or comes again, gets no more credit than that. */
  let leastMs = 0
  const useOf = (network: string): ReaderUse => {
    const { ms, aMail } = uses.get(network) ?? { ms: 0, aMail: turnMs }
    return { ms: Math.max(ms, leastMs), aMail }
  }
  const bytesOf = new Map<string, number>()
  let mails = 0
  let bytes = 0
  const change = (network: string, by: 1 | -1, mail: UnreadMail<Id>) => {
    mails += by
    bytes += by * mail.bytes
    bytesOf.set(network, (bytesOf.get(network) ?? 0) + by * mail.bytes)
  }

  return {
    /** Whether a mail of that size may come from the network. */
    hasRoom(network: string, size: number): boolean {
      const own = networks.get(network)?.size ?? 0
      const ownBytes = (bytesOf.get(network) ?? 0) + size
      return (
        mails < limits.mails &&
        bytes + size <= limits.bytes &&
        own < Math.ceil(limits.mails * networkShare) &&
        ownBytes <= limits.bytes * networkShare
      )
    },
    add(network: string, mail: UnreadMail<Id>): void {
      const own = networks.get(network) ?? new Map<Id, UnreadMail<Id>>()
      networks.set(network, own.set(mail.id, mail))
      change(network, 1, mail)
    },
    remove(network: string, id: Id): void {
      const own = networks.get(network)
      const mail = own?.get(id)
      if (own === undefined || mail === undefined) return
      own.delete(id)
      change(network, -1, mail)
      if (own.size > 0) return
      networks.delete(network)
      bytesOf.delete(network)
    },
    setDue(network: string, id: Id, dueAt: number): void {
      const own = networks.get(network)
      const mail = own?.get(id)
      if (own === undefined || mail === undefined) return
      // Moved to the end, so that mails waiting for a later time do not hold up others.
      own.delete(id)
      own.set(id, { ...mail, dueAt })
    },
    /** Up to `most` that are due, in the order in which networks have their turns. */
    due(
      most: number,
      now: number,
      inHand: ReadonlySet<Id>,
    ): (UnreadMail<Id> & { network: string })[] {
      const found: (UnreadMail<Id> & { network: string })[] = []
      const isDue = ({ id, dueAt }: UnreadMail<Id>) =>
        isDueBy(dueAt, now, longestWaitMs) && !inHand.has(id)
      const turns = [...networks].flatMap(([network, own]) => {
        const left = own.values()
        const next = firstOf(left, isDue)
        return next === undefined ? [] : [{ network, left, next, ...useOf(network) }]
      })
      while (found.length < most && turns.length > 0) {
        const turn = turns.reduce((least, one) => (one.ms < least.ms ? one : least))
        const { network, left, next } = turn
        if (found.length === 0) leastMs = turn.ms
        found.push({ ...next, network })
        // Other networks come first for as long as this mail is expected to take.
        turn.ms += turn.aMail
        const after = firstOf(left, isDue)
        if (after === undefined) turns.splice(turns.indexOf(turn), 1)
        else turn.next = after
      }
      return found
    },
    /** Tells how long a mail of the network kept the reader busy. */
    wasRead(network: string, ms: number): void {
      const use = useOf(network)
      const spentMs = Math.max(ms, turnMs)
      const now = { ms: use.ms + spentMs, aMail: (use.aMail + spentMs) / 2 }
      keepNewest(uses, network, now, rememberedNetworks)
    },
    nextDue(except: ReadonlySet<Id>): number | undefined {
      let first = Number.POSITIVE_INFINITY
      for (const own of networks.values()) {
        for (const { id, dueAt } of own.values()) {
          if (!except.has(id)) first = Math.min(first, dueAt)
        }
      }
      return first === Number.POSITIVE_INFINITY ? undefined : first
    },
  }
}

/** The next item that fits; the iterator then stands after it. */
function firstOf<T>(left: Iterator<T>, fits: (item: T) => boolean): T | undefined {
  for (let next = left.next(); next.done !== true; next = left.next()) {
    if (fits(next.value)) return next.value
  }
  return undefined
}
