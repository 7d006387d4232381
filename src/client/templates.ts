import type { Methods } from './call.js'

/** Templates, by their slugs. */
export const templateMethods = ({
  byId,
  byIds,
  withBody,
  byIdWithBody,
  pages,
  pagesById,
}: Methods) => ({
  list: pages('GET /v1/templates', 'templates'),
  create: withBody('POST /v1/templates'),
  get: byId('GET /v1/templates/{slug}'),
  /** Saves the next version. */
  update: byIdWithBody('PATCH /v1/templates/{slug}'),
  delete: byId('DELETE /v1/templates/{slug}'),
  render: byIdWithBody('POST /v1/templates/{slug}/render'),
  versions: pagesById('GET /v1/templates/{slug}/versions', 'versions'),
  getVersion: byIds('GET /v1/templates/{slug}/versions/{version}'),
  restore: byIds('POST /v1/templates/{slug}/versions/{version}/restore'),
})
