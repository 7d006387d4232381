import type { Methods } from './call.js'

/** The endpoints of webhooks; `readWebhook` and the handlers are for what comes there. */
export const webhookMethods = ({
  part,
  byId,
  byIds,
  withBody,
  byIdWithBody,
  pagesById,
}: Methods) => ({
  list: part('GET /v1/webhooks', 'webhooks'),
  /** Shows the secret, this once. */
  create: withBody('POST /v1/webhooks'),
  get: byId('GET /v1/webhooks/{id}'),
  update: byIdWithBody('PATCH /v1/webhooks/{id}'),
  delete: byId('DELETE /v1/webhooks/{id}'),
  rotate: byIdWithBody('POST /v1/webhooks/{id}/rotate'),
  test: byId('POST /v1/webhooks/{id}/test'),
  deliveries: pagesById('GET /v1/webhooks/{id}/deliveries', 'deliveries'),
  replay: byIds('POST /v1/webhooks/{id}/deliveries/{deliveryId}/replay'),
  /** Those with these numbers and between them. */
  replayRange: byIdWithBody('POST /v1/webhooks/{id}/deliveries/replay'),
  replayFailed: byId('POST /v1/webhooks/{id}/replay'),
})
