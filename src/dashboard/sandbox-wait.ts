import { type Clock, pause } from '../clock/index.js'
import { ApiError } from '../errors/index.js'
import {
  findNewest,
  listMessages,
  type MessageFilter,
  type SandboxMessage,
} from '../sandbox/index.js'
import type { Store } from '../store/index.js'
import { messageId } from './inbox-view.js'

const usualTimeoutMs = 10_000
const maxTimeoutMs = 300_000
// The inbox is written by another thread, and a look is an index search.
const lookEveryMs = 15

/**
 * The newest message that fits `?to=`, `?from=`, `?subject=` and `?after=`, as soon as there is one.
 * After `?timeout=` (milliseconds, or such as `5s`) an `ApiError` says what is in the inbox instead.
 */
export async function waitForMessage(
  { store, clock }: { store: Store; clock: Clock },
  query: URLSearchParams,
): Promise<SandboxMessage> {
  const filter = filterOf(query)
  const timeoutMs = timeoutOf(query.get('timeout'))
  const end = clock.now() + timeoutMs
  for (;;) {
    const found = await findNewest(store, filter)
    if (found !== undefined) return found
    if (clock.now() >= end) throw await nothingCame(store, filter, timeoutMs)
    await pause(clock, Math.min(lookEveryMs, end - clock.now()))
  }
}

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

function timeoutOf(given: string | null): number {
  if (given === null) return usualTimeoutMs
  const [, number, unit] = /^(\d{1,6})(ms|s)?$/.exec(given) ?? []
  if (number === undefined) throw wrong('timeout', 'milliseconds, or a time such as "5s"', given)
  return Math.min(maxTimeoutMs, Number(number) * (unit === 's' ? 1_000 : 1))
}

const wrong = (name: string, expected: string, given: string) =>
  new ApiError('validation_error', `${name}: expected ${expected}, not "${given.slice(0, 100)}"`)

async function nothingCame(store: Store, filter: MessageFilter, timeoutMs: number) {
  const last = await listMessages(store, { limit: 5 })
  const wanted = Object.entries(filter).map(([name, value]) => `${name} "${value}"`)
  const there = last.map(({ recipients, subject }) => `"${subject}" to ${recipients.join(', ')}`)
  const inbox = there.length === 0 ? 'is empty' : `has, newest first: ${there.join('; ')}`
  const what = wanted.length === 0 ? 'No mail' : `No mail with ${wanted.join(' and ')}`
  return new ApiError('not_found', `${what} came within ${timeoutMs} ms. The inbox ${inbox}`)
}
