import type { Methods } from './call.js'

/** Sending domains. */
export const domainMethods = ({ part, byId, byIdWithQuery, withBody, byIdWithBody }: Methods) => ({
  list: part('GET /v1/domains', 'domains'),
  /** Answers with the DNS records to publish. */
  add: withBody('POST /v1/domains'),
  get: byId('GET /v1/domains/{id}'),
  update: byIdWithBody('PATCH /v1/domains/{id}'),
  delete: byId('DELETE /v1/domains/{id}'),
  /** Looks whether the records are published. */
  verify: byId('POST /v1/domains/{id}/verify'),
  /** What receivers report of mail in its name, by source. */
  dmarc: byIdWithQuery('GET /v1/domains/{id}/dmarc'),
})
