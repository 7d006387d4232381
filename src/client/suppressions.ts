import type { Methods, Query } from './call.js'
import type { CallOptions } from './request.js'

/** Who must not be mailed, by address. */
export const suppressionMethods = ({ call, byId, withBody, pages }: Methods) => ({
  list: pages('GET /v1/suppressions', 'suppressions'),
  add: withBody('POST /v1/suppressions'),
  import: withBody('POST /v1/suppressions/import'),
  /** Why an address is, or is not, mailed. */
  get: byId('GET /v1/suppressions/{email}'),
  remove: (
    email: string,
    query?: Query<'DELETE /v1/suppressions/{email}'>,
    options?: CallOptions,
  ) => call('DELETE /v1/suppressions/{email}', { params: [email], query }, options),
})
