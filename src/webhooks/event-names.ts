/** The contract's seven, in the order of a mail's life, and one for mail that comes in. */
export const webhookEvents = [
  'email.sent',
  'email.delivered',
  'email.bounced',
  'email.complained',
  'email.failed',
  'email.opened',
  'email.clicked',
  'email.received',
] as const

/** The name of an event in a webhook. */
export type WebhookEvent = (typeof webhookEvents)[number]

/** Each of some events once, in the order of a mail's life. */
export const inOrder = (events: readonly WebhookEvent[]): WebhookEvent[] =>
  webhookEvents.filter((event) => events.includes(event))
