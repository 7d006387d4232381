import { ApiError } from '../errors/index.js'

/** The contract's seven, in the order of a mail's life. */
export const webhookEvents = [
  'email.sent',
  'email.delivered',
  'email.bounced',
  'email.complained',
  'email.failed',
  'email.opened',
  'email.clicked',
] as const

/** The name of an event as it stands in a webhook. */
export type WebhookEvent = (typeof webhookEvents)[number]

/** Reads a choice of events as an operator types it, `email.` left out or not; throws a 422. */
export function chooseEvents(given: readonly string[]): WebhookEvent[] {
  const wanted = new Set(given.map((name) => (name.includes('.') ? name : `email.${name}`)))
  const chosen = webhookEvents.filter((event) => wanted.has(event))
  if (chosen.length === wanted.size && chosen.length > 0) return chosen
  const message = `Events must be one or more of ${webhookEvents.join(', ')}`
  throw new ApiError('validation_error', message, { status: 422, fields: { field: 'events' } })
}
