import type { Methods } from './call.js'
import type { CallOptions } from './request.js'

/** Templates, by their slugs. */
export const templateMethods = ({
  call,
  byId,
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
  getVersion: (slug: string, version: number | string, options?: CallOptions) =>
    call('GET /v1/templates/{slug}/versions/{version}', { params: [slug, `${version}`] }, options),
  restore: (slug: string, version: number | string, options?: CallOptions) =>
    call(
      'POST /v1/templates/{slug}/versions/{version}/restore',
      { params: [slug, `${version}`] },
      options,
    ),
})
