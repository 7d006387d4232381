import { breakOff } from '../../smtp/index.js'
import { reserveOf } from '../shaping/index.js'
import {
  type HeldConnection,
  type Holder,
  half,
  holdersOf,
  type ShareLedger,
} from './share-ledger.js'

/** Ends slow attempts where their share is nearly full and mail waits. */
export interface Cutter {
  /** To be called while mail waits. */
  cut(now: number): void
  /** When `cut` may have something to do next; infinite for not known. */
  cutAt(): number
}

// The least that a slow attempt gets. Postfix and KumoMTA wait as long for a greeting; nearly all
// answers to a message come sooner.
const patienceMs = 60_000
// The patience where more attempts are slow than may be, because all began to hang at the same moment.
const leastPatienceMs = 30_000
const cutEveryMs = 1_000

/**
 * When slow servers hold nearly all of their share and other mail waits, the oldest of their
 * attempts are given up. They are tried again later; waiting for them would hold up everybody else
 * (RFC 5321 §4.5.3.2 allows ten minutes for a single reply).
 */
export function makeCutter(ledger: ShareLedger): Cutter {
  const { all, accounts, sites, servers, holds } = ledger
  const smallest = markOf(servers)
  let lastAt = Number.NEGATIVE_INFINITY

  const crowded = (): Holder[] => {
    if (all.slow < smallest) return []
    const each = [accounts, sites, servers].flatMap((holders) => [...holders.values()])
    return [all, ...each].filter((holder) => holder.slow >= markOf(holder))
  }
  /**
   * Breaks off a holder's connections that have been slow for long, in the order of `candidates`, until half of its
   * share is free.
   */
  const cutOf = (holder: Holder, candidates: readonly HeldConnection[], now: number) => {
    const own = candidates.filter(
      (hold) => hold.cut.why === undefined && holdersOf(hold, all).includes(holder),
    )
    const waited = own.filter(({ since }) => now - since >= patienceOf(holder))
    const most = own.length - half(holder.limits.slow)
    for (const { cut, since } of waited.slice(0, Math.max(0, most))) {
      const seconds = Math.round((now - since) / 1000)
      breakOff(cut, `given up after ${seconds} s, as other mail waits for a connection`)
    }
  }

  return {
    cut(now) {
      // A clock that was set back must not keep the cutter from looking.
      if (now < lastAt) lastAt = now - cutEveryMs
      if (now < lastAt + cutEveryMs) return
      const holders = crowded()
      if (holders.length === 0) return
      lastAt = now
      const candidates = [...holds].filter(({ isSlow }) => isSlow).sort(heaviestFirst)
      for (const holder of holders) cutOf(holder, candidates, now)
    },
    cutAt() {
      const holders = crowded()
      const agesAt = ledger.agesAt()
      const oldest = [...holds].find(({ cut }) => cut.why === undefined)
      if (holders.length === 0 || oldest === undefined) return agesAt
      const ripeAt = oldest.since + Math.min(...holders.map(patienceOf))
      return Math.min(agesAt, Math.max(ripeAt, lastAt + cutEveryMs))
    },
  }
}

/** As many slow attempts as a share has for mail that is not transactional make it crowded. */
const markOf = ({ limits }: Pick<Holder, 'limits'>) => limits.slow - reserveOf(limits.slow)
/** How long (ms) each attempt of a holder may last while it is crowded. */
const patienceOf = ({ slow, limits }: Holder) => (slow > limits.slow ? leastPatienceMs : patienceMs)

/** Puts first the connections whose account or server holds the most. */
const heaviestFirst = (one: HeldConnection, other: HeldConnection) =>
  other.account.slow - one.account.slow ||
  (other.server?.slow ?? 0) - (one.server?.slow ?? 0) ||
  one.since - other.since
