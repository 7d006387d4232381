import type { Methods } from './call.js'

/** API keys. A new one is in the answer to `create`, and never again. */
export const keyMethods = ({ part, byId, withBody, byIdWithBody }: Methods) => ({
  list: part('GET /v1/keys', 'keys'),
  create: withBody('POST /v1/keys'),
  get: byId('GET /v1/keys/{id}'),
  update: byIdWithBody('PATCH /v1/keys/{id}'),
  delete: byId('DELETE /v1/keys/{id}'),
})
