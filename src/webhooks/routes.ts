import type { Principal } from '../accounts/index.js'
import type { Plans } from '../billing/index.js'
import type { SharedCounts } from '../bounded/index.js'
import { serve } from '../contract/index.js'
import type { Resolver } from '../dns/index.js'
import { type Api, makeRateLimiter, type Remember, refuseExcess, reply } from '../http/index.js'
import type { Tx } from '../store/index.js'
import {
  deletedWebhook,
  deliveriesAnswer,
  deliveryPage,
  rotatedWebhook,
  shownWebhook,
  triedWebhook,
  webhooksAnswer,
} from './answers.js'
import * as operations from './contract.js'
import {
  addEndpoint,
  deleteEndpoint,
  type EndpointDeps,
  findEndpoint,
  refuseEndpoint,
  rotateSecret,
  updateEndpoint,
} from './endpoint.js'
import { webhookEvents } from './event-names.js'
import { replay } from './history.js'
import { judgeTarget } from './target.js'
import { tryEndpoint, type WebhookTrials } from './trial.js'

/** What the routes need beside the endpoints. */
export interface WebhookRouteDeps extends EndpointDeps {
  plans: Plans
  /** Opens a new resolver for each look, which remembers no earlier answer. */
  openResolver: () => Resolver
  /** `webhooks.allow`. */
  allow: readonly string[]
  tryWebhook: WebhookTrials
}

// How many trials an account may make: each opens connections to an address of the client's choice, and must not be a
// way to scan others.
const trials = { requests: 10, windowMs: 60_000 }

/** The trials of all accounts: those by pages and those by the API count as one. */
export function makeWebhookTrials(
  deps: Omit<WebhookRouteDeps, 'plans' | 'tryWebhook'> & {
    /** The counts that nodes share; undefined where there is one node. */
    counts?: Pick<SharedCounts, 'of'> | undefined
  },
): WebhookTrials {
  const { read } = deps.store
  const trying = makeRateLimiter(trials, deps.clock, {
    together: deps.counts?.of('webhook trials'),
  })
  return async (accountId, id) => {
    await findEndpoint(read, accountId, id)
    refuseExcess(trying.take(accountId))
    // Nothing aborts it: like every attempt it has its own time limit.
    const { signal } = new AbortController()
    return tryEndpoint({ ...deps, resolver: deps.openResolver(), read, signal }, accountId, id)
  }
}

/** Webhooks by the API: the endpoints, what went there, and sending it again. */
export function webhookRoutes(api: Api<Principal>, deps: WebhookRouteDeps): void {
  endpointRoutes(api, deps)
  deliveryRoutes(api, deps)
}

/** The endpoints themselves, and a trial of one. */
function endpointRoutes(api: Api<Principal>, deps: WebhookRouteDeps): void {
  const { read } = deps.store
  const guard = () => ({ resolver: deps.openResolver(), allow: deps.allow })

  serve(api, operations.listWebhooks, ({ account }) => webhooksAnswer(read, account.accountId))

  serve(api, operations.createWebhook, async ({ account, body, remember }) => {
    const { url, events = webhookEvents } = body
    // Checked before the DNS is asked, so that a refusal costs nothing.
    await refuseEndpoint(read, deps.plans, account.accountId)
    await judgeTarget(guard(), url)
    const made = await addEndpoint(
      deps,
      deps.plans,
      account.accountId,
      { url, events },
      // The secret is kept only sealed, so the remembered answer does not have it.
      async (tx, one) => remember(tx, { ...(await shownWebhook(tx, one)), secret: null }, 201),
    )
    return reply(201, { ...(await shownWebhook(read, made)), secret: made.secret })
  })

  serve(api, operations.getWebhook, async ({ account, params }) =>
    shownWebhook(read, await findEndpoint(read, account.accountId, params.id)),
  )

  serve(api, operations.updateWebhook, async ({ account: { accountId }, params: { id }, body }) => {
    await findEndpoint(read, accountId, id)
    if (body.url !== undefined) await judgeTarget(guard(), body.url)
    const changed = await updateEndpoint(deps, accountId, id, body, 'account')
    return shownWebhook(read, changed)
  })

  serve(api, operations.deleteWebhook, async ({ account, params: { id }, note }) => {
    const { url } = await deleteEndpoint(deps, account.accountId, id)
    note({ detail: { url } })
    return deletedWebhook(id)
  })

  serve(api, operations.rotateWebhookSecret, async (request) => {
    const { account, params, body, remember } = request
    const { overlapSeconds = operations.daySeconds } = body
    const { secret, oldSecretUntil } = await rotateSecret(
      deps,
      account.accountId,
      params.id,
      overlapSeconds * 1_000,
      (tx, until) => remember(tx, rotatedWebhook(params.id, null, until)),
    )
    return rotatedWebhook(params.id, secret, oldSecretUntil)
  })

  serve(api, operations.testWebhook, async ({ account, params }) =>
    triedWebhook(await deps.tryWebhook(account.accountId, params.id)),
  )
}

/** What went to an endpoint, and sending it again. */
function deliveryRoutes(api: Api<Principal>, { store, clock }: WebhookRouteDeps): void {
  const again = { store, now: () => clock.now() }

  serve(api, operations.listWebhookDeliveries, async ({ account, params, query }) => {
    const options = { ...query, limit: query.limit ?? operations.usualDeliveries }
    return deliveriesAnswer(await deliveryPage(store.read, account.accountId, params.id, options))
  })

  serve(api, operations.replayWebhookDelivery, async ({ account, params, remember }) => {
    const { id, deliveryId } = params
    return {
      queued: await replay(again, account.accountId, id, deliveryId, remembering(remember)),
    }
  })

  serve(api, operations.replayWebhookDeliveries, async ({ account, params, body, remember }) => ({
    queued: await replay(again, account.accountId, params.id, body, remembering(remember)),
  }))

  serve(api, operations.replayFailedWebhooks, async ({ account, params, remember }) => ({
    queued: await replay(again, account.accountId, params.id, 'failed', remembering(remember)),
  }))
}

/**
 * Remembers the answer for a repeat with the same Idempotency-Key, in the transaction that queues
 * the last one.
 */
const remembering = (remember: Remember) => (tx: Tx, queued: number) => remember(tx, { queued })
