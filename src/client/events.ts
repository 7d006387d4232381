import type { Methods } from './call.js'
import type { CallOptions } from './request.js'
import { type SendManyOptions, type Sent, sendMany } from './send-many.js'
import type { EventAccepted, NewEvents } from './types.js'

type EventOfBatch = NewEvents['events'][number]

/** What contacts did, for automations. */
export const eventMethods = ({ withBody }: Methods) => {
  const batch = withBody('POST /v1/events/batch')
  return {
    send: withBody('POST /v1/events/send'),
    /** Up to 100 events, in their order, all or none. */
    batch: (events: readonly EventOfBatch[], options?: CallOptions) => batch({ events }, options),
    /** Any number of events; yields `{ index, value }` or `{ index, error }` for each. */
    sendMany(
      events: Iterable<EventOfBatch> | AsyncIterable<EventOfBatch>,
      options?: SendManyOptions,
    ): AsyncGenerator<Sent<EventAccepted>, void, undefined> {
      const send = async (items: EventOfBatch[], keyed: CallOptions) =>
        (await batch({ events: items }, keyed)).results
      // One at a time: events have an order.
      return sendMany({ source: events, send, weight: () => 1 }, { concurrency: 1, ...options })
    },
  }
}
