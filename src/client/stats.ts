import type { Methods } from './call.js'

/** Figures over time. */
export const statsMethods = ({ withQuery }: Methods) => ({
  get: withQuery('GET /v1/stats'),
})
