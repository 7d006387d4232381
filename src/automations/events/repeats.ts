import { keepAnswer, keyLifetimeMs } from '../../emails/index.js'
import { ApiError } from '../../errors/index.js'
import type { Json } from '../../json/index.js'
import { idsOf, prepared, type Tx } from '../../store/index.js'
import type { StartedRun } from './triggers.js'

/** An event as a client sends it; the contract has let it through. */
export interface EventInput {
  event: string
  contactId?: string | undefined
  email?: string | undefined
  payload?: Json | undefined
  occurredAt?: string | undefined
  /** Under this key an event of a batch that comes again is the same event; a different event under it is refused. */
  once?: { key: string; fingerprint: string }
}

/** What an event came to. */
export interface AcceptedEvent {
  event: string
  contactId: string
  contactCreated: boolean
  started: number
  resumed: number
  automations: StartedRun[]
}

/** Events of a batch that have come before, each under a key of its own. */
export interface EventRepeats {
  /**
   * What the event came to when it came first, or the place in this batch of the event that it repeats; undefined for a
   * new event. Throws for a key that was used for another event.
   */
  of(input: EventInput, place: number): { answer: AcceptedEvent } | { place: number } | undefined
  /** Keeps what a new event came to, for 24 hours. */
  keep(tx: Tx, input: EventInput, answer: AcceptedEvent): Promise<void>
}

/** Looks for the keys of a batch among those of requests, in its transaction. */
export async function findRepeats(
  tx: Tx,
  accountId: string,
  inputs: readonly EventInput[],
  now: number,
): Promise<EventRepeats> {
  const keys = inputs.flatMap(({ once }) => (once === undefined ? [] : [once.key]))
  const rows =
    keys.length === 0
      ? []
      : await keysAmong(tx, { accountId, keys: JSON.stringify(keys), since: now - keyLifetimeMs })
  const known = new Map(rows.map((row) => [row.key, row]))
  const here = new Map<string, { place: number; fingerprint: string }>()
  return {
    of({ once }, place) {
      if (once === undefined) return undefined
      const { key, fingerprint } = once
      const before = known.get(key)
      const first = here.get(key)
      if ((before ?? first ?? { fingerprint }).fingerprint !== fingerprint) {
        const message = 'This idempotencyKey was already used with another event'
        throw new ApiError('invalid_idempotent_request', message)
      }
      if (before !== undefined) return { answer: JSON.parse(before.response) as AcceptedEvent }
      if (first !== undefined) return { place: first.place }
      here.set(key, { place, fingerprint })
      return undefined
    },
    async keep(tx, { once }, answer) {
      if (once === undefined) return
      const { key, fingerprint } = once
      const answered = { fingerprint, status: 202, response: JSON.stringify(answer) }
      const row = { account_id: accountId, key, ...answered, created_at: now }
      if (await keepAnswer(tx, row)) return
      throw new ApiError(
        'concurrent_idempotent_request',
        'An event with this idempotencyKey is still being taken in',
      )
    },
  }
}

/** A key that was used, with what its event came to. */
interface Known {
  key: string
  fingerprint: string
  response: string
}

/**
 * Looks into the table of requests' keys, with the same 24 hours (interface.md, Limits): keys of events and of requests
 * share an account's names.
 */
const keysAmong = prepared<{ accountId: string; keys: string; since: number }, Known>(
  (db, { accountId, keys, since }) =>
    db
      .selectFrom('idempotency_keys')
      .select(['key', 'fingerprint', 'response'])
      .where('account_id', '=', accountId)
      .where('key', 'in', idsOf(keys, 'text'))
      .where('created_at', '>', since),
)
