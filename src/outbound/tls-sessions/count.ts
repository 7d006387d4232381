import { type Clock, dayNumber } from '../../clock/index.js'
import { messageOf } from '../../errors/index.js'
import type { Log } from '../../log/index.js'
import type { Store } from '../../store/index.js'
import type { Published, TlsFailure } from '../tls-policy/index.js'
import { type CountedRow, writeSessions } from './write.js'

/** A session, or what should have been one. */
export interface CountedSession {
  /** The recipients' domain, whose policy counts (A-labels, lower case). */
  domain: string
  published: Published
  /** Undefined: the session is encrypted as the policy wants. */
  failure: TlsFailure | undefined
  exchange: string
  /** Empty where there was no connection. */
  receivingAddress: string
  receivingName: string
  sendingAddress: string
}

/** Counts sessions, and writes the counts from time to time. */
export interface TlsCount {
  add(session: CountedSession): void
  /**
   * Writes the counts; this also happens by itself once a minute. Never rejects: counts that cannot be written are
   * kept.
   */
  flush(): Promise<void>
  /** Flushes for the last time. */
  close(): Promise<void>
}

// How much is lost when the thread dies.
const flushMs = 60_000
// Some 300 bytes each. Once half of them are used, they are written before the minute is over.
const maxRows = 20_000
// RFC 8460 §4.4 wants failures told apart by server and reason; a domain may have any number of both.
const maxDetails = 50
// Rows in one transaction, because other writes wait for it.
const rowsPerWrite = 200

/** Counts in memory; when the thread dies, a minute of counts is lost, and no mail. */
export function makeTlsCount(deps: { store: Store; clock: Clock; log: Log }): TlsCount {
  const { store, clock, log } = deps
  let rows = new Map<string, CountedRow>()
  let details = new Map<string, number>()
  let flushing: Promise<void> = Promise.resolve()
  let closed = false
  let early = false
  let cancel = () => {}

  const enter = (row: CountedRow): void => {
    const key = keyOf(row)
    const known = rows.get(key)
    if (known !== undefined) {
      known.sessions += row.sessions
      return
    }
    if (row.result !== '') {
      const of = `${row.day} ${row.domain}`
      const kinds = details.get(of) ?? 0
      if (kinds >= maxDetails && row.host !== '') {
        enter({ ...row, ...untold })
        return
      }
      details.set(of, kinds + 1)
    }
    if (rows.size < maxRows) rows.set(key, row)
  }
  const write = async () => {
    const taken = [...rows.values()]
    rows = new Map()
    details = new Map()
    for (let at = 0; at < taken.length; at += rowsPerWrite) {
      const slice = taken.slice(at, at + rowsPerWrite)
      try {
        await store.write((tx) => writeSessions(tx, slice))
      } catch (error) {
        for (const row of taken.slice(at)) enter(row)
        log.warn({ cause: messageOf(error) }, 'TLS sessions are counted, but cannot be written now')
        return
      }
    }
  }
  const flush = () => {
    flushing = flushing.then(write)
    return flushing
  }
  const plan = () => {
    if (closed) return
    early = false
    cancel = clock.after(flushMs, () => void flush().then(plan))
  }
  plan()

  return {
    add({ domain, published, failure, ...session }) {
      // Once a minute, so that storage that fails is not asked all the time.
      if (rows.size >= maxRows / 2 && !early) {
        early = true
        void flush()
      }
      const day = dayNumber(clock.now())
      const of = { day, domain, type: published.type, policy: policyOf(published), sessions: 1 }
      if (failure === undefined) {
        enter({ result: '', reason: '', ...of, ...untold })
        return
      }
      enter({
        result: failure.type,
        reason: (failure.reason ?? '').slice(0, maxReason),
        host: session.exchange.slice(0, maxName),
        hostName: session.receivingName.slice(0, maxName),
        receiving: session.receivingAddress,
        sending: session.sendingAddress,
        ...of,
      })
    },
    flush,
    async close() {
      closed = true
      cancel()
      await flush()
    },
  }
}

// How many characters are kept of what strangers say.
const maxReason = 200
const maxName = 255
/** The details of a row that has none, because it was a success or there are too many kinds. */
const untold = { host: '', hostName: '', receiving: '', sending: '' }

/** What makes two sessions count in one row. */
const keyOf = (row: CountedRow) =>
  [
    row.day,
    row.domain,
    row.type,
    row.policy,
    row.result,
    row.reason,
    row.host,
    row.hostName,
    row.receiving,
    row.sending,
  ].join('\n')

// RFC 8461 §3.2 knows no bound for the list of hosts; a report needs no more than this.
const maxLines = 20

/** The policy as it is stored: JSON of its lines, and of its hosts. */
const policyOf = ({ text, mx }: Published) =>
  JSON.stringify({ text: text.slice(0, maxLines), mx: mx.slice(0, maxLines) })
