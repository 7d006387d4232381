import { type Clock, pause } from '../../clock/index.js'
import { ApiError } from '../../errors/index.js'
import {
  findNewest,
  listMessages,
  type MessageFilter,
  newestId,
  type SandboxMessage,
} from '../../sandbox/index.js'
import type { Store } from '../../store/index.js'
import { messageId } from './inbox.js'

// A mail takes well under a second; a client that waits for a slower one can say so.
const usualTimeoutMs = 10_000
// The limit, however long a client asks for: each wait holds one of the places below.
const maxTimeoutMs = 300_000
// Another thread writes the inbox, so its newest mail has to be asked for: one look serves all that wait.
const lookEveryMs = 15
// Mails that came at the same moment may become visible in another order than that of their ids.
const lookAgainMs = 1_000
// More than that are waits that were given up: nothing tells a handler that its client has gone.
const usualMaxWaiting = 1_000

export type WaitForMessage = (query: URLSearchParams) => Promise<SandboxMessage>

/**
 * The newest message that matches `?to=`, `?from=`, `?subject=` and `?after=`, as soon as there is one. After
 * `?timeout=` (milliseconds, or such as `5s`) an `ApiError` says what is in the inbox instead.
 */
export function makeWaitForMessage(
  { store, clock }: { store: Store; clock: Clock },
  maxWaiting = usualMaxWaiting,
): WaitForMessage {
  let waiting = 0
  let newest = Promise.resolve(0)
  let askedAt = Number.NEGATIVE_INFINITY
  const newestNow = () => {
    const now = clock.now()
    // `now >= askedAt` too: a clock that was set back must not stop the looking.
    if (now >= askedAt && now < askedAt + lookEveryMs) return newest
    askedAt = now
    newest = newestId(store)
    return newest
  }
  const found = async (filter: MessageFilter, end: number) => {
    let seen: number | undefined
    let lookedAt = clock.now()
    for (;;) {
      // One more look at the very end finds what comes in the last moment.
      const last = clock.now() >= end
      const id = await newestNow()
      if (last || id !== seen || clock.now() >= lookedAt + lookAgainMs) {
        seen = id
        lookedAt = clock.now()
        const message = await findNewest(store, filter)
        if (message !== undefined || last) return message
      }
      await pause(clock, Math.min(lookEveryMs, Math.max(0, end - clock.now())))
    }
  }
  return async (query) => {
    const filter = filterOf(query)
    const timeoutMs = timeoutOf(query.get('timeout'))
    if (waiting === maxWaiting) {
      const message = `${maxWaiting} requests wait for mail already; each ends at its timeout`
      throw new ApiError('service_unavailable', message)
    }
    // No `await` between the check and this, so no other request can come in between.
    waiting++
    try {
      const message = await found(filter, clock.now() + timeoutMs)
      if (message === undefined) throw await nothingCame(store, filter, timeoutMs)
      return message
    } finally {
      waiting--
    }
  }
}

/** The filter in a query; an empty field counts as absent. */
function filterOf(query: URLSearchParams): MessageFilter {
  const filter: MessageFilter = {}
  for (const name of ['to', 'from', 'subject'] as const) {
    const value = query.get(name)?.trim()
    if (value) filter[name] = value
  }
  const after = query.get('after')
  if (after !== null) {
    const id = messageId(after)
    if (id === undefined) throw wrong('after', 'the id of a message', after)
    filter.after = id
  }
  return filter
}

/** In ms; at most `maxTimeoutMs`, whatever was asked for. */
function timeoutOf(given: string | null): number {
  if (given === null) return usualTimeoutMs
  const [, number, unit] = /^(\d{1,6})(ms|s)?$/.exec(given) ?? []
  if (number === undefined) throw wrong('timeout', 'milliseconds, or a time such as "5s"', given)
  return Math.min(maxTimeoutMs, Number(number) * (unit === 's' ? 1_000 : 1))
}

const wrong = (name: string, expected: string, given: string) =>
  new ApiError('validation_error', `${name}: expected ${expected}, not "${given.slice(0, 100)}"`)

/** Says what did come, so that a test that waits for the wrong subject is easily mended. */
async function nothingCame(store: Store, filter: MessageFilter, timeoutMs: number) {
  const last = await listMessages(store, { limit: 5 })
  const wanted = Object.entries(filter).map(([name, value]) => `${name} "${value}"`)
  const there = last.map(({ recipients, subject }) => `"${subject}" to ${recipients.join(', ')}`)
  const inbox = there.length === 0 ? 'is empty' : `has, newest first: ${there.join('; ')}`
  const what = wanted.length === 0 ? 'No mail' : `No mail with ${wanted.join(' and ')}`
  return new ApiError('not_found', `${what} came within ${timeoutMs} ms. The inbox ${inbox}`)
}
