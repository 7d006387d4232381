import type { Principal } from '../accounts/index.js'
import { readBilling } from '../billing/index.js'
import { type Idempotency, idempotentRequest, replayHeaders } from '../emails/index.js'
import { type Api, reply } from '../http/index.js'
import { cursorOf, idInCursor } from '../store/index.js'
import { type AcceptDeps, type AcceptedEvent, acceptEvents } from './accept.js'
import { findAutomation, listAutomations, readDefinition } from './automation.js'
import { acceptBatch } from './batch.js'
import { findRun, listRuns } from './runs.js'
import {
  AutomationBody,
  AutomationParams,
  AutomationsQuery,
  ChangesBody,
  EventBody,
  EventsBody,
  RunParams,
  RunsQuery,
  statusesIn,
  usualPage,
} from './shapes.js'
import { shownAutomation, shownDetail, shownMade, shownRun, shownState } from './shown.js'
import {
  archiveAutomation,
  cancelRun,
  createAutomation,
  disableAutomation,
  editAutomation,
  enableAutomation,
} from './state.js'

export type AutomationRouteDeps = AcceptDeps & { idempotency: Idempotency }

export function automationRoutes(api: Api<Principal>, deps: AutomationRouteDeps): void {
  eventRoutes(api, deps)
  definitionRoutes(api, deps)
  stateRoutes(api, deps)
  runRoutes(api, deps)
}

function eventRoutes(api: Api<Principal>, deps: AutomationRouteDeps): void {
  const billingOf = (accountId: string) => readBilling(deps.store.read, deps.plans, accountId)

  api.post('/v1/events/send', { body: EventBody }, async (request) => {
    const billing = await billingOf(request.account.accountId)
    const asked = idempotentRequest(request, '/v1/events/send')
    const once = await deps.idempotency.once<AcceptedEvent>(asked, async (remember) => {
      const [accepted] = await acceptEvents(deps, billing, [request.body], {
        alongside: async (tx, [one]) => {
          if (one !== undefined) await remember(tx, one)
        },
      })
      if (accepted === undefined) throw new Error('An event has come to nothing')
      return accepted
    })
    return reply(202, once.response, replayHeaders(once))
  })

  api.post('/v1/events/batch', { body: EventsBody }, async (request) => {
    const billing = await billingOf(request.account.accountId)
    const asked = idempotentRequest(request, '/v1/events/batch')
    const once = await deps.idempotency.once<object>(asked, (remember) =>
      acceptBatch(deps, billing, request.body.events, remember),
    )
    return reply(202, once.response, replayHeaders(once))
  })
}

function definitionRoutes(api: Api<Principal>, deps: AutomationRouteDeps): void {
  const { read } = deps.store
  const billingOf = (accountId: string) => readBilling(read, deps.plans, accountId)

  api.post('/v1/automations', { body: AutomationBody }, async (request) => {
    const billing = await billingOf(request.account.accountId)
    const { name, steps, connections, settings } = request.body
    const asked = idempotentRequest(request, '/v1/automations')
    const once = await deps.idempotency.once<object>(asked, async (remember) =>
      shownMade(
        await createAutomation(deps, billing, { name, steps, connections, settings }, (tx, made) =>
          remember(tx, shownMade(made)),
        ),
      ),
    )
    return reply(201, once.response, replayHeaders(once))
  })

  api.get(
    '/v1/automations',
    { query: AutomationsQuery },
    async ({ account: { accountId }, query: { limit = usualPage, cursor } }) => {
      const before = cursor === undefined ? undefined : idInCursor(cursor)
      const found = await listAutomations(read, accountId, { limit: limit + 1, before })
      const { page, ...more } = pageOf(found, limit)
      return { automations: page.map(shownAutomation), ...more }
    },
  )

  api.get(
    '/v1/automations/:id',
    AutomationParams,
    async ({ account: { accountId }, params: { id } }) => {
      const automation = await findAutomation(read, accountId, id)
      const { definition } = await readDefinition(read, id, automation.version)
      return shownDetail(automation, definition)
    },
  )

  api.patch(
    '/v1/automations/:id',
    { ...AutomationParams, body: ChangesBody },
    async ({ account: { accountId }, params: { id }, body }) => {
      const { name, steps, connections, settings } = body
      const changes = { name, steps, connections, settings }
      const automation = await editAutomation(deps, await billingOf(accountId), id, changes)
      const { definition } = await readDefinition(read, id, automation.version)
      return shownDetail(automation, definition)
    },
  )
}

function stateRoutes(api: Api<Principal>, deps: AutomationRouteDeps): void {
  api.post(
    '/v1/automations/:id/enable',
    AutomationParams,
    async ({ account: { accountId }, params: { id } }) => {
      const billing = await readBilling(deps.store.read, deps.plans, accountId)
      return shownState(await enableAutomation(deps, billing, id))
    },
  )

  api.post(
    '/v1/automations/:id/disable',
    AutomationParams,
    async ({ account: { accountId }, params: { id } }) =>
      shownState(await disableAutomation(deps, accountId, id)),
  )

  api.post(
    '/v1/automations/:id/archive',
    AutomationParams,
    async ({ account: { accountId }, params: { id } }) =>
      shownState(await archiveAutomation(deps, accountId, id)),
  )
}

function runRoutes(api: Api<Principal>, deps: AutomationRouteDeps): void {
  const { read } = deps.store

  api.get(
    '/v1/automations/:id/runs',
    { ...AutomationParams, query: RunsQuery },
    async ({ account: { accountId }, params: { id }, query }) => {
      const { limit = usualPage, cursor, status } = query
      await findAutomation(read, accountId, id)
      const before = cursor === undefined ? undefined : idInCursor(cursor)
      const asked = { statuses: statusesIn(status), limit: limit + 1, before }
      const { page, ...more } = pageOf(await listRuns(read, id, asked), limit)
      return { runs: page.map(shownRun), ...more }
    },
  )

  api.get(
    '/v1/automations/runs/:id',
    RunParams,
    async ({ account: { accountId }, params: { id } }) =>
      shownRun(await findRun(read, accountId, id)),
  )

  api.post(
    '/v1/automations/runs/:id/cancel',
    RunParams,
    async ({ account: { accountId }, params: { id } }) => {
      await cancelRun(deps, accountId, id)
      return { id, status: 'cancelled', message: 'Run cancelled' }
    },
  )
}

/** A page of what was found, which has one more where more is to come. */
function pageOf<T extends { id: string }>(found: readonly T[], limit: number) {
  const page = found.slice(0, limit)
  const hasMore = found.length > limit
  const last = page.at(-1)
  const nextCursor = hasMore && last !== undefined ? cursorOf(last.id) : null
  return { page, hasMore, nextCursor }
}
