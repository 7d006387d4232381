import type { Permission } from '../contract/index.js'
import { ApiError } from '../errors/index.js'
import type { KeyScope } from './limits.js'

// Which scopes have each permission.
const allowing: Record<Permission, readonly KeyScope[]> = {
  public: ['full', 'sending', 'read'],
  any: ['full', 'sending', 'read'],
  sending: ['full', 'sending'],
  read: ['full', 'read'],
  full: ['full'],
}

// What a scope lets a key do, for its owner.
const words: Record<KeyScope, string> = {
  full: 'may do everything',
  sending: 'may only send mail, look at a mail and cancel one',
  read: 'may only read',
}

/**
 * What each route of the API asks of a key: the one place that says so. A route that is not in it asks
 * for a full key; a test fails for it.
 */
export const routePermissions: Readonly<Record<string, Permission>> = {
  'POST /v1/events/send': 'full',
  'POST /v1/events/batch': 'full',
  'POST /v1/automations': 'full',
  'GET /v1/automations': 'read',
  'GET /v1/automations/:id': 'read',
  'PATCH /v1/automations/:id': 'full',
  'POST /v1/automations/:id/enable': 'full',
  'POST /v1/automations/:id/disable': 'full',
  'POST /v1/automations/:id/archive': 'full',
  'POST /v1/automations/:id/simulate': 'read',
  'GET /v1/automations/:id/runs': 'read',
  'GET /v1/automations/runs/:id': 'read',
  'POST /v1/automations/runs/:id/cancel': 'full',
}

/** By method and path as it is routed: `GET /v1/emails/:id`. */
export const permissionOf = (route: string): Permission => routePermissions[route] ?? 'full'

/** The scopes that have a permission. */
export const scopesWith = (permission: Permission): readonly KeyScope[] => allowing[permission]

/** Throws a 403 that says what the key may do, and what it would need. */
export function refuseBeyondScope({ scope }: { scope: KeyScope }, permission: Permission): void {
  const allowed = allowing[permission]
  if (allowed.includes(scope)) return
  const needed = allowed.map((one) => `"${one}"`).join(' or ')
  throw new ApiError(
    'forbidden',
    `This key's scope is "${scope}": it ${words[scope]}. This needs a key of the scope ${needed}`,
  )
}
