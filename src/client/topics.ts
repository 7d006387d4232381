import { type Methods, pick, type Query } from './call.js'
import type { CallOptions } from './request.js'

export const topicMethods = ({ call, byId, withBody, byIdWithBody }: Methods) => ({
  list: (query?: Query<'GET /v1/topics'>, options?: CallOptions) =>
    pick(call('GET /v1/topics', { query }, options), 'topics'),
  create: withBody('POST /v1/topics'),
  /** Changes it; `archived: false` restores it. */
  update: byIdWithBody('PATCH /v1/topics/{id}'),
  archive: byId('DELETE /v1/topics/{id}'),
  /** Who has left it: the latest 500. */
  optOuts: byId('GET /v1/topics/{id}/opt-outs'),
})
