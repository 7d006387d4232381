import { randomUUID } from 'node:crypto'
import { type Clock, isoTime } from '../clock/index.js'
import type { ApplianceKey } from '../config/index.js'
import { type Read, storedTexts } from '../store/index.js'
import { endpointRow, secretsOf } from './endpoint.js'
import { webhookEvents } from './event-names.js'
import type { Payload } from './payload.js'
import { type LineDeps, openLine, type PostAnswer } from './post.js'
import { signWebhook } from './signature.js'

/** The result of an invented event. */
export interface WebhookTrial {
  answer: PostAnswer
  body: string
  tookMs: number
}

/** Tries an endpoint of an account; a 429 after some within a minute. */
export type WebhookTrials = (accountId: string, id: string) => Promise<WebhookTrial>

/** Sends an invented event to an endpoint, once and at once, whether it is enabled or not. */
export async function tryEndpoint(
  deps: LineDeps & { read: Read; clock: Clock; key: ApplianceKey },
  accountId: string,
  id: string,
): Promise<WebhookTrial> {
  const row = await endpointRow(deps.read, accountId, id)
  const now = deps.clock.now()
  const event = (storedTexts(row.events) as Payload['event'][] | undefined)?.[0] ?? webhookEvents[0]
  const payload: Payload = {
    event,
    emailId: randomUUID(),
    to: ['test@example.com'],
    subject: 'A test event of Posthorn',
    status: event.slice('email.'.length),
    timestamp: isoTime(now),
    ...(event === 'email.bounced' ? { bounceReason: 'Permanent' } : {}),
  }
  const body = JSON.stringify(payload)
  const line = openLine(deps, new URL(row.url))
  try {
    const signature = signWebhook(secretsOf(deps.key, row, now), Math.floor(now / 1_000), body)
    const answer = await line.post(body, signature)
    return { answer, body, tookMs: deps.clock.now() - now }
  } finally {
    line.close()
  }
}
