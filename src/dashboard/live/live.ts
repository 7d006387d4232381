import { type Clock, isRecent } from '../../clock/index.js'
import type { Store } from '../../store/index.js'

/** A tab that listens, and whose it is. */
export interface StreamListener {
  sessionId: string
  personId: string
  /** Whether the session lasts: asked now and then, as a stream outlives a log-out otherwise. */
  lasts(): Promise<boolean>
}

/** What tells browsers that something was committed. */
export interface Live {
  /** The events of one browser, until `signal` aborts or the session ends; undefined where there are too many. */
  open(listener: StreamListener, signal: AbortSignal): AsyncIterable<string> | undefined
}

// Each stream holds a socket for as long as a tab is open, and one browser opens one
// (`browser/live.ts`). More than these look by themselves every five seconds.
const mostStreams = 100
const mostOfSession = 2
const mostOfPerson = 6
// How long a page goes on hearing of changes after a log-out elsewhere, at most.
const lastsEveryMs = 30_000
// Pages that all look again cost more than what changed: what goes on and on is told every other second.
const lookEveryMs = 2_000
// uWS closes what is silent for about 11 s.
const silentMs = 5_000

/**
 * Says 'changed' after a commit of any thread, and nothing of what: the page that hears it asks for itself
 * again, with its own rights. Nothing is asked of the database while nobody listens.
 */
export function makeLive({ store, clock }: { store: Pick<Store, 'commits'>; clock: Clock }): Live {
  const listeners = new Set<() => void>()
  // Taken when a stream is asked for: many that are asked for at once have all not begun yet.
  const seats = new Map<AbortSignal, StreamListener>()
  let known = 0
  let isLooking = false

  function look(): void {
    isLooking = listeners.size > 0
    if (!isLooking) return
    const commits = store.commits()
    // Cheaper than a query, whatever the number of pages that are open (`Store.commits`).
    if (commits !== known) {
      known = commits
      for (const tell of listeners) tell()
    }
    clock.after(lookEveryMs, look)
  }

  async function* events(listener: StreamListener, signal: AbortSignal): AsyncGenerator<string> {
    let wake = () => {}
    let changed = false
    const tell = () => {
      changed = true
      wake()
    }
    listeners.add(tell)
    signal.addEventListener('abort', () => wake())
    if (!isLooking) {
      isLooking = true
      known = store.commits()
      clock.after(lookEveryMs, look)
    }
    try {
      // The browser comes again five seconds after the stream has ended.
      yield 'retry: 5000\n\n'
      let lookedAt = clock.now()
      while (!signal.aborted) {
        await new Promise<void>((resolve) => {
          const cancel = clock.after(silentMs, resolve)
          wake = () => {
            cancel()
            resolve()
          }
          // It may have changed between the last `yield` and this promise, when `wake` was still
          // the old one.
          if (changed || signal.aborted) wake()
        })
        if (!isRecent(lookedAt, clock.now(), lastsEveryMs)) {
          if (!(await listener.lasts())) return
          lookedAt = clock.now()
        }
        // A line that begins with a colon is a comment (HTML §9.2.6): it only keeps the connection
        // open.
        yield changed ? 'event: changed\ndata:\n\n' : ':\n\n'
        changed = false
      }
    } finally {
      listeners.delete(tell)
    }
  }

  return {
    open(listener, signal) {
      const own = [...seats.values()].filter((one) => one.personId === listener.personId)
      const ofSession = own.filter((one) => one.sessionId === listener.sessionId).length
      if (seats.size >= mostStreams || own.length >= mostOfPerson) return undefined
      if (ofSession >= mostOfSession) return undefined
      if (!signal.aborted) seats.set(signal, listener)
      signal.addEventListener('abort', () => seats.delete(signal), { once: true })
      return events(listener, signal)
    },
  }
}
