import { randomBytes } from 'node:crypto'
import type { Selectable } from 'kysely'
import { checkAdding, type Plans, readBilling, refuseBeyondCeiling } from '../billing/index.js'
import type { Clock } from '../clock/index.js'
import type { ApplianceKey } from '../config/index.js'
import type { BodyOf } from '../contract/index.js'
import { ApiError } from '../errors/index.js'
import {
  prepared,
  type Read,
  type Store,
  storedTexts,
  type Tx,
  type WebhookEndpointRow,
} from '../store/index.js'
import type { updateWebhook } from './contract.js'
import { inOrder, type WebhookEvent } from './event-names.js'
import { readTargetUrl } from './target.js'

/** What is needed to change endpoints; the key seals their secrets. */
export interface EndpointDeps {
  store: Store
  clock: Clock
  key: ApplianceKey
}

/** An endpoint as it is stored. */
export type EndpointRow = Selectable<WebhookEndpointRow>

/** What can be shown of an endpoint; its secret is shown once, when it is made. */
export interface WebhookEndpoint {
  id: string
  accountId: string
  url: string
  /** Empty where the stored list is broken. */
  events: WebhookEvent[]
  enabled: boolean
  /** Events in a row that were dropped after their last attempt. */
  failures: number
  /** When the first of these failures was given up; null where there are none. */
  failingSince: number | null
  /** How many events came while it was disabled and found no room among those set aside. */
  eventsNotKept: number
  disabledAt: number | null
  disabledBecause: string | null
  disabledBy: WebhookEndpointRow['disabled_by']
  /** Until when the secret from before the last rotation also signs. */
  oldSecretUntil: number | null
  createdAt: number
}

/** Adds an endpoint, enabled. Refuses where the account's plan or state does not allow it. */
export async function addEndpoint(
  { store, clock, key }: EndpointDeps,
  plans: Plans,
  accountId: string,
  { url, events }: { url: string; events: readonly WebhookEvent[] },
  alongside: (tx: Tx, added: WebhookEndpoint) => Promise<void> = async () => {},
): Promise<WebhookEndpoint & { secret: string }> {
  const target = readTargetUrl(url).href
  const id = store.ids.uuid()
  const { secret, sealed } = newSecret(key, id)
  const row = await store.write(async (tx) => {
    await refuseEndpoint(tx, plans, accountId)
    const added = await tx
      .insertInto('webhook_endpoints')
      .values({
        id,
        account_id: accountId,
        url: target,
        events: JSON.stringify(inOrder(events)),
        secret: sealed,
        old_secret: null,
        old_secret_until: null,
        enabled: 1,
        failures: 0,
        disabled_at: null,
        disabled_because: null,
        announced: 1,
        created_at: clock.now(),
        deleted_at: null,
      })
      .returningAll()
      .executeTakeFirstOrThrow()
    await alongside(tx, toEndpoint(added))
    return added
  })
  return { ...toEndpoint(row), secret }
}

/** Throws a 403 where the account's plan or state does not allow another one. */
export async function refuseEndpoint(read: Read, plans: Plans, accountId: string): Promise<void> {
  const billing = await readBilling(read, plans, accountId)
  checkAdding(billing)
  if (!billing.plan.webhooks) {
    throw new ApiError(
      'plan_limit_exceeded',
      `The plan ${billing.plan.name} has no webhooks; ask the operator for a plan that has them`,
    )
  }
  await refuseBeyondCeiling(read, plans, accountId, 'webhookEndpoints')
}

/** The oldest first; all endpoints, or so many of those after `after`. */
export async function listEndpoints(
  read: Read,
  accountId: string,
  { after, limit }: { after?: string | undefined; limit?: number } = {},
): Promise<WebhookEndpoint[]> {
  const rows = await read
    .selectFrom('webhook_endpoints')
    .selectAll()
    .where('account_id', '=', accountId)
    .where('deleted_at', 'is', null)
    .$if(after !== undefined, (query) => query.where('id', '>', after ?? ''))
    .$if(limit !== undefined, (query) => query.limit(limit ?? 0))
    .orderBy('id')
    .execute()
  return rows.map(toEndpoint)
}

/** All accounts' endpoints: those that work, those whose last events were dropped, those that are disabled. */
export async function countEndpoints(
  read: Read,
): Promise<{ working: number; failing: number; disabled: number }> {
  const { all, failing, disabled } = await read
    .selectFrom('webhook_endpoints')
    .select(({ fn }) => [
      fn.countAll<number>().as('all'),
      fn
        .countAll<number>()
        .filterWhere('enabled', '=', 1)
        .filterWhere('failures', '>', 0)
        .as('failing'),
      fn.countAll<number>().filterWhere('enabled', '=', 0).as('disabled'),
    ])
    .where('deleted_at', 'is', null)
    .executeTakeFirstOrThrow()
  return { working: all - failing - disabled, failing, disabled }
}

const firstEndpoint = prepared<object, { id: string }>((db) =>
  db.selectFrom('webhook_endpoints').select('id').limit(1),
)

/** Whether any account has one, also a deleted one, whose waiting jobs must be removed. */
export async function hasEndpoints(read: Read): Promise<boolean> {
  return (await firstEndpoint(read, {})).length > 0
}

/**
 * An endpoint of the account. Throws a 404 for one that does not exist, is deleted, or belongs to another account.
 */
export async function findEndpoint(
  read: Read,
  accountId: string,
  id: string,
): Promise<WebhookEndpoint> {
  return toEndpoint(await endpointRow(read, accountId, id))
}

/** Makes a new secret; the one before also signs for `overlapMs`. Returns the new one, only this once. */
export async function rotateSecret(
  { store, clock, key }: EndpointDeps,
  accountId: string,
  id: string,
  overlapMs: number,
  alongside: (tx: Tx, oldSecretUntil: number | null) => Promise<void> = async () => {},
): Promise<{ secret: string; oldSecretUntil: number | null }> {
  const until = overlapMs > 0 ? clock.now() + overlapMs : null
  return store.write(async (tx) => {
    const row = await endpointRow(tx, accountId, id)
    const { secret, sealed } = newSecret(key, row.id)
    await change(tx, row.id, {
      secret: sealed,
      old_secret: until === null ? null : row.secret,
      old_secret_until: until,
    })
    await alongside(tx, until)
    return { secret, oldSecretUntil: until }
  })
}

/** An endpoint that accepts webhooks has no failures. */
export const forgotten = { failures: 0, failing_since: null }

/** Changes that make no secret need no key. */
type ChangeDeps = Omit<EndpointDeps, 'key'>

/**
 * Changes what is given. The courier takes it up within seconds, also for waiting jobs. Switching on forgets the
 * failures, and only a replay sends what was set aside. While it is off, waiting and new jobs are set aside. Throws a
 * 404.
 */
export async function updateEndpoint(
  { store, clock }: ChangeDeps,
  accountId: string,
  id: string,
  { url, events, enabled }: BodyOf<typeof updateWebhook>,
  disabledBy: 'account' | 'operator' = 'operator',
): Promise<WebhookEndpoint> {
  const target = url === undefined ? {} : { url: readTargetUrl(url).href }
  return await store.write(async (tx) => {
    const row = await endpointRow(tx, accountId, id)
    // `announced: 1`: whoever disables it by hand need not be told.
    const off = {
      enabled: 0,
      disabled_at: clock.now(),
      disabled_because: `by the ${disabledBy}`,
      disabled_by: disabledBy,
      events_not_kept: 0,
    }
    const on = {
      ...forgotten,
      enabled: 1,
      disabled_at: null,
      disabled_because: null,
      disabled_by: null,
      announced: 1,
    }
    const changes = {
      ...target,
      ...(events !== undefined && { events: JSON.stringify(inOrder(events)) }),
      ...(enabled === true && on),
      ...(enabled === false && row.enabled === 1 && off),
    }
    if (Object.keys(changes).length > 0) await change(tx, row.id, changes)
    return toEndpoint({ ...row, ...changes })
  })
}

/** The endpoint is gone for everybody at once; its jobs and its log are deleted in the background. */
export async function deleteEndpoint(
  { store, clock }: ChangeDeps,
  accountId: string,
  id: string,
): Promise<{ url: string }> {
  return await store.write(async (tx) => {
    const row = await endpointRow(tx, accountId, id)
    await change(tx, row.id, { enabled: 0, announced: 1, deleted_at: clock.now() })
    return { url: row.url }
  })
}

/** The secrets that sign now, the newest first. */
export function secretsOf(
  key: ApplianceKey,
  row: Pick<EndpointRow, 'id' | 'secret' | 'old_secret' | 'old_secret_until'>,
  now: number,
): string[] {
  const secrets = [key.unseal(row.secret, webhookPurpose(row.id))]
  if (row.old_secret !== null && (row.old_secret_until ?? 0) > now) {
    secrets.push(key.unseal(row.old_secret, webhookPurpose(row.id)))
  }
  return secrets
}

/**
 * The row of an endpoint, with its sealed secrets. Throws a 404, also for one of another account.
 */
export async function endpointRow(read: Read, accountId: string, id: string): Promise<EndpointRow> {
  const row = await read
    .selectFrom('webhook_endpoints')
    .selectAll()
    .where('id', '=', id.toLowerCase())
    .where('account_id', '=', accountId)
    .where('deleted_at', 'is', null)
    .executeTakeFirst()
  if (row !== undefined) return row
  throw new ApiError('not_found', `The account has no webhook ${id}`)
}

/** Writes these columns of an endpoint. */
const change = (tx: Tx, id: string, values: Partial<EndpointRow>) =>
  tx.updateTable('webhook_endpoints').set(values).where('id', '=', id).execute()

/** The purpose binds a secret to its endpoint: a sealed secret that is copied to another row does not open. */
export const webhookPurpose = (id: string) => `webhook secret ${id}`

// decisions.md, 'webhook secret': the HMAC key is the whole string.
function newSecret(key: ApplianceKey, id: string): { secret: string; sealed: Buffer } {
  const secret = `whsec_${randomBytes(32).toString('base64url')}`
  return { secret, sealed: key.seal(secret, webhookPurpose(id)) }
}

/** What can be shown of a row: no secret. */
const toEndpoint = (row: EndpointRow): WebhookEndpoint => ({
  id: row.id,
  accountId: row.account_id,
  url: row.url,
  events: (storedTexts(row.events) ?? []) as WebhookEvent[],
  enabled: row.enabled === 1,
  failures: row.failures,
  failingSince: row.failing_since,
  eventsNotKept: row.events_not_kept,
  disabledAt: row.disabled_at,
  disabledBecause: row.disabled_because,
  disabledBy: row.disabled_by,
  oldSecretUntil: row.old_secret_until,
  createdAt: row.created_at,
})
