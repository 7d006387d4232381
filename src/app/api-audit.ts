import type { Principal } from '../accounts/index.js'
import { noteAudit } from '../audit/index.js'
import type { Clock } from '../clock/index.js'
import type { HttpServerOptions } from '../http/index.js'
import type { Log } from '../log/index.js'
import { prepared, type Store } from '../store/index.js'
import { operations } from './operations.js'

type AuditOf = NonNullable<HttpServerOptions<Principal>['auditOf']>

/**
 * A row of the audit log for each request that changed something; mails that are sent have their own log. The row is
 * written behind the change and before the answer: a change that was answered is in the log.
 */
export function makeApiAudit({
  store,
  clock,
  log,
}: {
  store: Store
  clock: Clock
  log: Log
}): AuditOf {
  return (route) => {
    const action = operations.get(route)?.audit
    if (action === undefined) return undefined
    return async ({ principal, params, answer, noted = {}, clientAddressKey }) => {
      if (isTrial(answer)) return
      const { accountId, keyId } = principal
      // The thing itself comes first in a path: the version of a template is below the template.
      const [[, named] = [], ...below] = Object.entries(params)
      const target = noted.target ?? named ?? idIn(answer)
      // Nobody knows a thing that is gone by its id: its handler says its name.
      const detail = { key: keyId, ...Object.fromEntries(below), ...noted.detail }
      try {
        await store.write(async (tx) => {
          const [key] = await keyNamed(tx, { keyId })
          const name = key === undefined ? keyId : `${key.name} (…${key.last4})`
          const actor = { kind: 'api', userId: null, name, clientAddressKey } as const
          const change = { actor, accountId, action, target: target ?? null, detail }
          await noteAudit(tx, { ...change, at: clock.now() })
        })
      } catch (error) {
        // The change is made; its answer must not say that it failed.
        log.error({ error, route, accountId }, 'The audit log lacks a change by the API')
      }
    }
  }
}

const keyNamed = prepared<{ keyId: string }, { name: string; last4: string }>((db, { keyId }) =>
  db.selectFrom('api_keys').select(['name', 'last4']).where('id', '=', keyId),
)

/** The request only asked what would happen, and nothing was changed. */
const isTrial = (answer: unknown): boolean =>
  typeof answer === 'object' && answer !== null && Reflect.get(answer, 'dryRun') === true

/** What was made: the `id`, or `slug`, of the answer or of the one thing in it. */
export function idIn(answer: unknown): string | undefined {
  if (typeof answer !== 'object' || answer === null) return undefined
  for (const name of ['id', 'slug', 'email']) {
    const value: unknown = Reflect.get(answer, name)
    if (typeof value === 'string') return value
  }
  const [only, ...others] = Object.values(answer).filter((value) => typeof value === 'object')
  return others.length === 0 && only !== undefined && !Array.isArray(only) ? idIn(only) : undefined
}
