import { isoTime } from '../clock/index.js'
import type { BodyOf } from '../contract/index.js'
import type { updateKey } from './contract.js'
import type { ApiKey } from './key.js'
import type { KeyLimits } from './limits.js'

/** The limits that a body names; what it does not name is absent. */
export function limitsIn({
  scope,
  domains,
  networks,
  expiresAt,
  perHour,
  perMinute,
}: BodyOf<typeof updateKey>): Partial<KeyLimits> {
  return {
    ...(scope !== undefined && { scope }),
    ...(domains !== undefined && { domains: domains === 'any' ? null : domains }),
    ...(networks !== undefined && { networks: networks === 'any' ? null : networks }),
    ...(expiresAt !== undefined && {
      expiresAt: expiresAt === 'never' ? null : Date.parse(expiresAt),
    }),
    ...(perHour !== undefined && { perHour: perHour === 'any' ? null : perHour }),
    ...(perMinute !== undefined && { perMinute: perMinute === 'any' ? null : perMinute }),
  }
}

/** What the API shows of a key: all but the key itself. */
export const shownKey = (key: ApiKey) => ({
  id: key.id,
  name: key.name,
  last4: key.last4,
  scope: key.scope,
  domains: key.domains,
  networks: key.networks,
  expiresAt: isoTime(key.expiresAt),
  perHour: key.perHour,
  perMinute: key.perMinute,
  createdAt: isoTime(key.createdAt),
  lastUsedAt: isoTime(key.lastUsedAt),
})

/** The answer when a key was deleted. */
export const deletedKey = (id: string) => ({
  id: id.toLowerCase(),
  deleted: true,
  message: 'Key deleted; requests with it fail from now on',
})
