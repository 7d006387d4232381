import type { Permission } from '../contract/index.js'
import { ApiError } from '../errors/index.js'
import type { KeyScope } from './limits.js'

// Which scopes have each permission.
const allowing: Record<Permission, readonly KeyScope[]> = {
  public: ['full', 'sending', 'read', 'test'],
  any: ['full', 'sending', 'read', 'test'],
  sending: ['full', 'sending', 'test'],
  live: ['full', 'sending'],
  inbox: ['full', 'read', 'test'],
  clear: ['full', 'test'],
  read: ['full', 'read'],
  full: ['full'],
  // For operator keys only, which belong to no account.
  operator: [],
}

// What a scope lets a key do, for its owner.
const words: Record<KeyScope, string> = {
  full: 'may do everything',
  sending: 'may only send mail, look at a mail and cancel one',
  read: 'may only read',
  test: 'may only send test mail, which goes to the test inbox, and look at it',
}

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
