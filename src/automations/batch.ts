import type { AccountBilling } from '../billing/index.js'
import { ApiError } from '../errors/index.js'
import { check, ShapeError } from '../fields/index.js'
import { jsonFingerprint, type Remember } from '../http/index.js'
import { isJsonObject } from '../json/index.js'
import { EventItem } from './contract-events.js'
import {
  type AcceptDeps,
  type AcceptedEvent,
  acceptEvents,
  type EventInput,
} from './events/index.js'

/** What a batch came to, in the order of its events. */
export interface AcceptedBatch {
  accepted: number
  results: AcceptedEvent[]
}

/**
 * Takes in up to 100 events, all of them or none. Every item is checked first, and one 422 names all that are wrong.
 * Resolves with what each event came to, in their order.
 */
export async function acceptBatch(
  deps: AcceptDeps,
  billing: AccountBilling,
  items: readonly unknown[],
  remember: Remember,
): Promise<AcceptedBatch> {
  const answer = (results: readonly AcceptedEvent[]) => ({
    accepted: results.length,
    results: [...results],
  })
  const results = await acceptEvents(deps, billing, items.map(eventIn), {
    together: true,
    alongside: (tx, accepted) => remember(tx, answer(accepted), 202),
  })
  return answer(results)
}

/** An event, or one sentence about each field of it that is wrong. */
function eventIn(item: unknown): EventInput | ApiError {
  if (!isJsonObject(item)) {
    return new ApiError('validation_error', 'Expected an object with the fields of an event')
  }
  try {
    const { idempotencyKey: key, ...input } = check(item, EventItem)
    if (key === undefined) return input
    const { event, contactId, email, payload, occurredAt } = input
    // The key is no part of the fingerprint: it says which event this is, not what the event says.
    const told = [event, contactId, email, payload, occurredAt]
    const written = Buffer.from(JSON.stringify(told))
    return {
      ...input,
      once: { key, fingerprint: jsonFingerprint('event of a batch', told, written) },
    }
  } catch (error) {
    if (error instanceof ShapeError) return new ApiError('validation_error', error.message)
    throw error
  }
}
