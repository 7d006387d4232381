import { isoTime } from '../clock/index.js'
import { pageOf, type Read, storedJson, textCursorOf, textInCursor } from '../store/index.js'
import { listEndpoints, type WebhookEndpoint } from './endpoint.js'
import {
  countNotArrived,
  type LastDelivery,
  readDeliveries,
  type WebhookDelivery,
} from './history.js'
import type { WebhookTrial } from './trial.js'

/** An endpoint as the API and commands show it. */
export const shownWebhook = async (read: Read, endpoint: WebhookEndpoint) => ({
  id: endpoint.id,
  url: endpoint.url,
  events: endpoint.events,
  enabled: endpoint.enabled,
  failures: endpoint.failures,
  failingSince: isoTime(endpoint.failingSince),
  notArrived: await countNotArrived(read, endpoint.id),
  eventsNotKept: endpoint.eventsNotKept,
  disabledAt: isoTime(endpoint.disabledAt),
  disabledBecause: endpoint.disabledBecause,
  oldSecretUntil: isoTime(endpoint.oldSecretUntil),
  createdAt: isoTime(endpoint.createdAt),
})

/** All endpoints of an account, the oldest first. */
export async function webhooksAnswer(read: Read, accountId: string) {
  const endpoints = await listEndpoints(read, accountId)
  return { webhooks: await Promise.all(endpoints.map((one) => shownWebhook(read, one))) }
}

/** The answer after an endpoint was deleted. */
export const deletedWebhook = (id: string) => ({
  id: id.toLowerCase(),
  deleted: true,
  message: 'Webhook deleted, with what was kept of it',
})

/** A new secret, shown once; null in the answer that is remembered. */
export const rotatedWebhook = (
  id: string,
  secret: string | null,
  oldSecretUntil: number | null,
) => ({ id: id.toLowerCase(), secret, oldSecretUntil: isoTime(oldSecretUntil) })

/** What an endpoint answered to an invented event. */
export const triedWebhook = ({ answer, body, tookMs }: WebhookTrial) => ({
  taken: answer.kind === 'taken',
  status: 'status' in answer ? answer.status : null,
  response: 'response' in answer ? answer.response : null,
  error: 'error' in answer ? answer.error : null,
  tookMs,
  payload: storedJson(body),
})

/** A page of what waits for an endpoint, and then of what went there. `cursor` comes from the page before. */
export async function deliveryPage(
  read: Read,
  accountId: string,
  id: string,
  options: { failed?: boolean | undefined; limit: number; cursor?: string | undefined },
) {
  const { failed = false, limit, cursor } = options
  const scope = `webhook deliveries ${id.toLowerCase()} ${failed}`
  const after = cursor === undefined ? undefined : lastIn(textInCursor(cursor, scope))
  const found = await readDeliveries(read, accountId, id, { failed, limit: limit + 1, after })
  return pageOf(found, limit, (last) => textCursorOf(`${last.outcome} ${last.id}`, scope))
}

/** The same, as the API and commands answer it. */
export const deliveriesAnswer = ({ page, ...more }: Awaited<ReturnType<typeof deliveryPage>>) => ({
  deliveries: page.map(shownDelivery),
  ...more,
})

/** What `textCursorOf` was given. */
function lastIn(text: string): LastDelivery {
  const [outcome, id] = text.split(' ')
  return { outcome: outcome as LastDelivery['outcome'], id: Number(id) }
}

/** `subjectId` is the id of a mail, or of what an automation's step reports. */
const shownDelivery = ({
  outcome,
  emailId,
  createdAt,
  at,
  triedAt,
  body,
  cause: _,
  ...one
}: WebhookDelivery) => ({
  ...one,
  subjectId: emailId,
  state: outcome,
  payload: storedJson(body) ?? null,
  createdAt: isoTime(createdAt),
  nextAttemptAt: outcome === 'waiting' ? isoTime(at) : null,
  lastAttemptAt: isoTime(triedAt),
  endedAt: outcome === 'waiting' ? null : isoTime(at),
})
