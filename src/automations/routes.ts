import type { Principal } from '../accounts/index.js'
import { readBilling } from '../billing/index.js'
import { type Api, type Remember, reply } from '../http/index.js'
import type { JsonObject } from '../json/index.js'
import { cursorOf, idInCursor, pageOf, type Read } from '../store/index.js'
import { acceptBatch } from './batch.js'
import {
  type Automation,
  archiveAutomation,
  cancelRun,
  createAutomation,
  disableAutomation,
  editAutomation,
  enableAutomation,
  findAutomation,
  listAutomations,
  readDefinition,
  type WrittenAlongside,
  warningsAbout,
} from './definition/index.js'
import { type AcceptDeps, acceptEvents } from './events/index.js'
import { explainRun, findRun, listRuns } from './runs/index.js'
import {
  AutomationBody,
  AutomationParams,
  AutomationsQuery,
  ChangesBody,
  EventBody,
  EventsBody,
  RunParams,
  RunsQuery,
  SimulationBody,
  statusesIn,
  usualPage,
} from './shapes.js'
import {
  afterMs,
  type PreviewDeps,
  previewAutomation,
  previewCohort,
  shownAutomation,
  shownCohort,
  shownDetail,
  shownMade,
  shownPreview,
  shownRun,
  shownState,
} from './trial/index.js'

/** What the routes need: all that taking in events and walking through takes. */
export type AutomationRouteDeps = AcceptDeps & PreviewDeps

// What cursors are bound to: one of another list is refused.
const automationsOf = (accountId: string) => `automations ${accountId}`
const runsOf = (automationId: string) => `runs ${automationId}`

/**
 * Automations by the API: events that start them, their definitions, their runs, and a trial
 * without mail.
 */
export function automationRoutes(api: Api<Principal>, deps: AutomationRouteDeps): void {
  eventRoutes(api, deps)
  definitionRoutes(api, deps)
  stateRoutes(api, deps)
  runRoutes(api, deps)
  simulationRoute(api, deps)
}

/** 202 and not 200: the event is on disk, and what follows from it happens later (interface.md). */
function eventRoutes(api: Api<Principal>, deps: AutomationRouteDeps): void {
  const billingOf = (accountId: string) => readBilling(deps.store.read, deps.plans, accountId)

  api.post('/v1/events/send', { body: EventBody }, async ({ account, body, remember }) => {
    const billing = await billingOf(account.accountId)
    const [accepted] = await acceptEvents(deps, billing, [body], {
      alongside: (tx, [one]) => remember(tx, one, 202),
    })
    if (accepted === undefined) throw new Error('An event that was taken in has no result')
    return reply(202, accepted)
  })

  api.post('/v1/events/batch', { body: EventsBody }, async ({ account, body, remember }) => {
    const billing = await billingOf(account.accountId)
    return reply(202, await acceptBatch(deps, billing, body.events, remember))
  })
}

/**
 * Create answers with warnings too, which do not stop it: they are for whoever writes the
 * automation.
 */
function definitionRoutes(api: Api<Principal>, deps: AutomationRouteDeps): void {
  const { read } = deps.store
  const billingOf = (accountId: string) => readBilling(read, deps.plans, accountId)

  api.post('/v1/automations', { body: AutomationBody }, async ({ account, body, remember }) => {
    const billing = await billingOf(account.accountId)
    // Unknown fields are of a newer client and ignored; those of steps and settings are refused.
    const { name, steps, connections, settings } = body
    const given = { name, steps, connections, settings }
    const made = await createAutomation(deps, billing, given, (tx, made) =>
      remember(tx, shownMade(made), 201),
    )
    return reply(201, shownMade(made))
  })

  api.get(
    '/v1/automations',
    { query: AutomationsQuery },
    async ({ account: { accountId }, query: { limit = usualPage, cursor } }) => {
      const scope = automationsOf(accountId)
      const before = cursor === undefined ? undefined : idInCursor(cursor, scope)
      const found = await listAutomations(read, accountId, { limit: limit + 1, before })
      const { page, ...more } = pageOf(found, limit, ({ id }) => cursorOf(id, scope))
      return { automations: page.map(shownAutomation), ...more }
    },
  )

  api.get(
    '/v1/automations/:id',
    AutomationParams,
    async ({ account: { accountId }, params: { id } }) => {
      const automation = await findAutomation(read, accountId, id)
      const { definition } = await readDefinition(read, id, automation.version)
      const warnings = await warningsAbout(read, accountId, definition)
      return { ...shownDetail(automation, definition), warnings }
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

/** A repeat of enable, disable or archive answers as the first did: all three are idempotent. */
function stateRoutes(api: Api<Principal>, deps: AutomationRouteDeps): void {
  const remembered =
    (remember: Remember): WrittenAlongside =>
    (tx, automation) =>
      remember(tx, shownState(automation))

  api.post(
    '/v1/automations/:id/enable',
    AutomationParams,
    async ({ account: { accountId }, params: { id }, remember }) => {
      const { read } = deps.store
      const billing = await readBilling(read, deps.plans, accountId)
      const answerOf = async (from: Read, automation: Automation) => {
        const { definition } = await readDefinition(from, id, automation.version)
        const warnings = await warningsAbout(from, accountId, definition)
        return { ...shownState(automation), warnings }
      }
      const enabled = await enableAutomation(deps, billing, id, async (tx, automation) =>
        remember(tx, await answerOf(tx, automation)),
      )
      return await answerOf(read, enabled)
    },
  )

  api.post(
    '/v1/automations/:id/disable',
    AutomationParams,
    async ({ account: { accountId }, params: { id }, remember }) =>
      shownState(await disableAutomation(deps, accountId, id, remembered(remember))),
  )

  api.post(
    '/v1/automations/:id/archive',
    AutomationParams,
    async ({ account: { accountId }, params: { id }, remember }) =>
      shownState(await archiveAutomation(deps, accountId, id, remembered(remember))),
  )
}

/**
 * Live and ended runs are two tables and one list, newest first by their ids; the cursor is the last id.
 */
function runRoutes(api: Api<Principal>, deps: AutomationRouteDeps): void {
  const { read } = deps.store

  api.get(
    '/v1/automations/:id/runs',
    { ...AutomationParams, query: RunsQuery },
    async ({ account: { accountId }, params: { id }, query }) => {
      const { limit = usualPage, cursor, status } = query
      await findAutomation(read, accountId, id)
      const before = cursor === undefined ? undefined : idInCursor(cursor, runsOf(id))
      const asked = { statuses: statusesIn(status), limit, before }
      const { runs, next } = await listRuns(read, id, asked)
      const nextCursor = next === undefined ? null : cursorOf(next, runsOf(id))
      return { runs: runs.map(shownRun), hasMore: next !== undefined, nextCursor }
    },
  )

  api.get(
    '/v1/automations/runs/:id',
    RunParams,
    async ({ account: { accountId }, params: { id } }) => {
      const run = await findRun(read, accountId, id)
      const { compiled } = await deps.versions(read, run.automationId, run.version)
      const { paused_at: pausedAt } = await findAutomation(read, accountId, run.automationId)
      return { ...shownRun(run), why: explainRun(compiled, run, deps.clock.now(), pausedAt) }
    },
  )

  api.post(
    '/v1/automations/runs/:id/cancel',
    RunParams,
    async ({ account: { accountId }, params: { id }, remember }) => {
      const answer = { id, status: 'cancelled', message: 'Run cancelled' }
      await cancelRun(deps, accountId, id, (tx) => remember(tx, answer))
      return answer
    },
  )
}

/**
 * May be asked about steps that are not saved, so that an editor can show what its author is
 * writing.
 */
function simulationRoute(api: Api<Principal>, deps: AutomationRouteDeps): void {
  const afters = (given: Record<string, string> = {}) =>
    new Map(Object.entries(given).map(([key, after]) => [key, afterMs(after) ?? 0]))
  const time = (text: string | undefined) => (text === undefined ? undefined : Date.parse(text))

  api.post(
    '/v1/automations/:id/simulate',
    { ...AutomationParams, body: SimulationBody },
    async ({ account: { accountId }, params: { id }, body }) => {
      const { email = '', listId, payload, steps, connections, settings } = body
      const at = time(body.at) ?? deps.clock.now()
      const isDraft = steps !== undefined || connections !== undefined
      const input = {
        at,
        until: time(body.until),
        payload: payload as JsonObject | undefined,
        events: (body.events ?? []).map(({ event, after, ...one }) => ({
          event,
          at: time(one.at) ?? at + (afterMs(after ?? '') ?? 0),
          payload: one.payload as JsonObject | undefined,
        })),
        opens: afters(body.opens),
        clicks: afters(body.clicks),
        draft: isDraft ? { steps, connections, settings } : undefined,
      }
      return listId === undefined
        ? shownPreview(id, await previewAutomation(deps, accountId, id, { ...input, email }))
        : shownCohort(await previewCohort(deps, accountId, id, { ...input, listId }))
    },
  )
}
