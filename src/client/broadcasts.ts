import type { Methods } from './call.js'

/** Campaigns. */
export const broadcastMethods = ({
  plain,
  byId,
  byIdWithBody,
  withBody,
  pages,
  pagesById,
}: Methods) => ({
  /** Whom it would reach. */
  preview: withBody('POST /v1/broadcasts/preview'),
  /** One mail of it to a mailbox of your own. */
  test: withBody('POST /v1/broadcasts/test'),
  /** At once, at `scheduledAt`, or kept as a draft. */
  create: withBody('POST /v1/broadcasts'),
  list: pages('GET /v1/broadcasts', 'broadcasts'),
  get: byId('GET /v1/broadcasts/{id}'),
  /** A draft; an empty `topicId`, `name` or `scheduledAt` takes it away. */
  update: byIdWithBody('PATCH /v1/broadcasts/{id}'),
  recipients: pagesById('GET /v1/broadcasts/{id}/recipients', 'recipients'),
  /** A draft. */
  send: byId('POST /v1/broadcasts/{id}/send'),
  /** One that is scheduled or sending; mails under way at this moment still leave. */
  pause: byId('POST /v1/broadcasts/{id}/pause'),
  /** What `pause` has paused. */
  resume: byId('POST /v1/broadcasts/{id}/resume'),
  /** A draft, or one that is scheduled. */
  cancel: byId('POST /v1/broadcasts/{id}/cancel'),
  /** The marketing plan, and what is used of it. */
  usage: plain('GET /v1/broadcasts/plan/usage'),
})
