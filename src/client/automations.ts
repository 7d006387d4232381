import type { Methods } from './call.js'

export const automationMethods = (methods: Methods) => {
  const { byId, withBody, byIdWithBody, pages, pagesById } = methods
  return {
    /** Always disabled at first. */
    create: withBody('POST /v1/automations'),
    list: pages('GET /v1/automations', 'automations'),
    get: byId('GET /v1/automations/{id}'),
    update: byIdWithBody('PATCH /v1/automations/{id}'),
    /** Lets its event start it. */
    enable: byId('POST /v1/automations/{id}/enable'),
    /** No event starts it; runs under way finish. */
    disable: byId('POST /v1/automations/{id}/disable'),
    /** For good; its runs are cancelled. */
    archive: byId('POST /v1/automations/{id}/archive'),
    /** Walks somebody through it; nothing is written or sent. */
    simulate: byIdWithBody('POST /v1/automations/{id}/simulate'),
    runs: pagesById('GET /v1/automations/{id}/runs', 'runs'),
    getRun: byId('GET /v1/automations/runs/{id}'),
    cancelRun: byId('POST /v1/automations/runs/{id}/cancel'),
  }
}
