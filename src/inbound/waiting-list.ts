import { isDueBy } from '../clock/index.js'

/** What is known in memory of a mail in the spool. */
export interface UnreadMail {
  id: number
  dueAt: number
  bytes: number
}

// A mail is put off by five minutes at most (`clerk.ts`): one that would be later was put off by a clock that was ahead.
const longestWaitMs = 300_000

// What one network may have of the room: a tenth, so that it takes ten networks to fill it.
const networkShare = 1 / 10

/**
 * The spool's mails by network: how much room each takes, and whose turn it is to be read. In memory,
 * as there is one process that takes them, and it looks at each when it starts.
 */
export function makeWaitingList(limits: { mails: number; bytes: number }) {
  // The next to be read from is the first; who was read from goes to the end.
  const networks = new Map<string, Map<number, UnreadMail>>()
  const bytesOf = new Map<string, number>()
  let mails = 0
  let bytes = 0
  const change = (network: string, by: 1 | -1, mail: UnreadMail) => {
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
    add(network: string, mail: UnreadMail): void {
      const own = networks.get(network) ?? new Map<number, UnreadMail>()
      networks.set(network, own.set(mail.id, mail))
      change(network, 1, mail)
    },
    remove(network: string, id: number): void {
      const own = networks.get(network)
      const mail = own?.get(id)
      if (own === undefined || mail === undefined) return
      own.delete(id)
      change(network, -1, mail)
      if (own.size > 0) return
      networks.delete(network)
      bytesOf.delete(network)
    },
    setDue(network: string, id: number, dueAt: number): void {
      const own = networks.get(network)
      const mail = own?.get(id)
      if (own === undefined || mail === undefined) return
      // To the end: those that wait for a later time do not stand in the way of others.
      own.delete(id)
      own.set(id, { ...mail, dueAt })
    },
    /** Up to `most` that are due: one of each network, then another of each. */
    due(
      most: number,
      now: number,
      inHand: ReadonlySet<number>,
    ): (UnreadMail & { network: string })[] {
      const found: (UnreadMail & { network: string })[] = []
      const isDue = ({ id, dueAt }: UnreadMail) =>
        isDueBy(dueAt, now, longestWaitMs) && !inHand.has(id)
      const turns: { network: string; left: Iterator<UnreadMail> }[] = []
      const take = (turn: (typeof turns)[number]) => {
        const mail = firstOf(turn.left, isDue)
        if (mail !== undefined) found.push({ ...mail, network: turn.network })
        return mail !== undefined
      }
      for (const [network, own] of networks) {
        if (found.length === most) break
        const turn = { network, left: own.values() }
        if (take(turn)) turns.push(turn)
      }
      for (let live = turns; live.length > 0 && found.length < most; ) {
        live = live.filter((turn) => found.length < most && take(turn))
      }
      for (const { network } of found) {
        const own = networks.get(network)
        if (own === undefined) continue
        networks.delete(network)
        networks.set(network, own)
      }
      return found
    },
    nextDue(except: ReadonlySet<number>): number | undefined {
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

/** The next one that fits; the iterator stands behind it then. */
function firstOf<T>(left: Iterator<T>, fits: (item: T) => boolean): T | undefined {
  for (let next = left.next(); next.done !== true; next = left.next()) {
    if (fits(next.value)) return next.value
  }
  return undefined
}
