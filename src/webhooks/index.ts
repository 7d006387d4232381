/**
 * Tells accounts' own servers what happens to their mail. What must hold: a job is written in the transaction of its
 * event, one for each endpoint that wants it; it is sent until it is accepted or five attempts have failed, with the
 * same bytes each time; no endpoint delays another; nothing connects to an address that was not checked for that very
 * connection; what was sent is kept for a replay as long as the plan keeps its log. See README.md.
 */
export {
  deletedWebhook,
  deliveriesAnswer,
  deliveryPage,
  rotatedWebhook,
  shownWebhook,
  triedWebhook,
  webhooksAnswer,
} from './answers.js'
export { type Courier, type CourierDeps, openCourier } from './courier.js'
export {
  addEndpoint,
  countEndpoints,
  deleteEndpoint,
  findEndpoint,
  hasEndpoints,
  listEndpoints,
  refuseEndpoint,
  rotateSecret,
  updateEndpoint,
  type WebhookEndpoint,
  webhookPurpose,
} from './endpoint.js'
export { enqueueReceived, enqueueWebhook, makeWebhookJobs } from './enqueue.js'
export { type WebhookEvent, webhookEvents } from './event-names.js'
export { forgetDeliveries } from './forget.js'
export {
  countNotArrived,
  countRequests,
  countSetAside,
  type DeliveryRange,
  findDelivery,
  type LastDelivery,
  readDeliveries,
  replay,
  type SetAsideEvents,
  type WebhookDelivery,
} from './history.js'
export { announceDisabled } from './notices.js'
export type { Payload } from './payload.js'
export { setAsideRestored } from './settle.js'
export {
  type GuardDeps,
  guardedLookup,
  hostOf,
  judgeTarget,
  permittedAddresses,
  Refused,
  readTargetUrl,
} from './target.js'
export { tryEndpoint, type WebhookTrials } from './trial.js'
