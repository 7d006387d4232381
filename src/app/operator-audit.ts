import type { OperatorPrincipal } from '../accounts/index.js'
import { noteAudit } from '../audit/index.js'
import { keepNewest } from '../bounded/index.js'
import { type Clock, hourMs, isRecent } from '../clock/index.js'
import type { ApiCallers } from '../http/index.js'
import type { Log } from '../log/index.js'
import type { Store } from '../store/index.js'
import { idIn } from './api-audit.js'
import { operations } from './operations.js'

// The latest looks that are remembered; beyond these, the oldest are noted once more than needed.
const maxRemembered = 10_000

/**
 * A row of the audit log for each change by the operator's API, and for the first look in an hour that a key takes at
 * each thing: a program that asks for the queue's figures every few seconds would fill the log. Written behind the
 * change and before the answer, as for accounts' keys.
 */
export function makeOperatorAudit({
  store,
  clock,
  log,
}: {
  store: Store
  clock: Clock
  log: Log
}): NonNullable<ApiCallers<OperatorPrincipal>['auditOf']> {
  const looks = new Map<string, number>()
  return (route) => {
    const operation = operations.get(route)
    const { audit: change, id } = operation ?? { audit: undefined, id: route }
    const isOfAccount = route.includes('/v1/operator/accounts/:id')
    return async ({ principal, params, answer, noted = {}, clientAddressKey }) => {
      const at = clock.now()
      const [named, ...below] = Object.values(params)
      const target = noted.target ?? below[0] ?? named ?? idIn(answer) ?? null
      if (change === undefined) {
        const look = [principal.keyId, id, target].join(' ')
        if (isRecent(looks.get(look) ?? 0, at, hourMs)) return
        keepNewest(looks, look, at, maxRemembered)
      }
      const actor = {
        kind: 'api',
        userId: null,
        name: `operator's key ${principal.name}`,
        clientAddressKey,
      } as const
      const accountId = isOfAccount ? (named ?? null) : accountIn(answer)
      const detail = { key: principal.keyId, operation: id, ...noted.detail, ...countsIn(answer) }
      const action = noted.action ?? change ?? 'operator.look'
      try {
        await store.write((tx) => noteAudit(tx, { actor, accountId, action, target, detail, at }))
      } catch (error) {
        // The change is made; its answer must not say that it failed.
        log.error({ error, route }, "The audit log lacks a use of the operator's API")
      }
    }
  }
}

function accountIn(answer: unknown): string | null {
  if (typeof answer !== 'object' || answer === null) return null
  const id: unknown = Reflect.get(answer, 'accountId')
  return typeof id === 'string' ? id : null
}

/** How much was changed. */
function countsIn(answer: unknown): Record<string, number> {
  if (typeof answer !== 'object' || answer === null) return {}
  const changed: unknown = Reflect.get(answer, 'changed')
  return typeof changed === 'number' ? { changed } : {}
}
