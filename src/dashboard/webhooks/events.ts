import { type WebhookEvent, webhookEvents } from '../../webhooks/index.js'

/** What each event reports. */
const words: Readonly<Record<WebhookEvent, string>> = {
  'email.sent': 'The first attempt to deliver a mail was made; once a mail',
  'email.delivered': 'A receiving server took it',
  'email.bounced': 'It came back',
  'email.complained': 'A recipient called it spam',
  'email.failed': 'It was given up',
  'email.opened': 'A recipient opened it',
  'email.clicked': 'A recipient followed a link in it',
  'email.received': 'A mail came in that a rule leads to webhooks',
}

/** The events, for whoever chooses some. */
export const eventChoices = webhookEvents.map((value) => ({
  value,
  label: value,
  hint: words[value],
}))
