import { enums, literal, optional, type, union } from 'superstruct'
import type { Plans } from '../billing/index.js'
import { isoTime } from '../clock/index.js'
import { atLeastOne, described, listOf, noOthers, rule, Uuid } from '../fields/index.js'
import { type Api, reply } from '../http/index.js'
import type { AccountDeps } from './account.js'
import type { Principal } from './authenticate.js'
import { type ApiKey, createKey, deleteKey, findKey, listKeys, updateKey } from './key.js'
import { type KeyLimits, keyScopes } from './limits.js'

/** What the routes need. */
export type KeyRouteDeps = AccountDeps & { plans: Plans }

const KeyParams = {
  params: type({ id: Uuid }),
  notFound: 'The account has no API key with this id',
}

const Name = rule<string>(
  'a string of 1 to 100 characters without control characters',
  (value) =>
    typeof value === 'string' &&
    value.trim() !== '' &&
    value.trim().length <= 100 &&
    !/\p{Cc}/u.test(value),
)
const Text = rule<string>('a string', (value) => typeof value === 'string')
// Null means absent in every body, so a limit that is taken away has a word.
const Some = described(union([literal('any'), listOf(Text, 50, 1)]), '"any" or 1 to 50 strings')
const When = rule<string>(
  'an ISO 8601 time or "never"',
  (value) =>
    value === 'never' ||
    (typeof value === 'string' &&
      /^\d{4}-\d\d-\d\dT/.test(value) &&
      !Number.isNaN(Date.parse(value))),
)

const limits = {
  scope: optional(described(enums(keyScopes), 'full, sending or read')),
  domains: optional(Some),
  networks: optional(Some),
  expiresAt: optional(When),
}
const KeyBody = noOthers(type({ name: Name, ...limits }))
const ChangesBody = noOthers(atLeastOne(type({ name: optional(Name), ...limits })))

/** API keys by the API: for full keys, which make none that may do more than themselves. */
export function keyRoutes(api: Api<Principal>, deps: KeyRouteDeps): void {
  const { read } = deps.store

  api.get('/v1/keys', {}, async ({ account }) => ({
    keys: (await listKeys(read, account.accountId)).map(shown),
  }))

  api.post('/v1/keys', { body: KeyBody }, async ({ account, body, remember }) => {
    const { plans } = deps
    const made = await createKey(deps, account.accountId, body.name, {
      plans,
      by: account,
      limits: limitsIn(body),
      // The key itself is kept nowhere: a repeat is told of it without it.
      alongside: (tx, key) => remember(tx, { ...shown(key), key: null }, 201),
    })
    return reply(201, { ...shown(made), key: made.key })
  })

  api.get('/v1/keys/:id', KeyParams, async ({ account, params }) =>
    shown(await findKey(read, account.accountId, params.id)),
  )

  api.patch('/v1/keys/:id', { ...KeyParams, body: ChangesBody }, async (request) => {
    const { account, params, body } = request
    const changes = { ...limitsIn(body), ...(body.name !== undefined && { name: body.name }) }
    return shown(await updateKey(deps, account.accountId, params.id, changes, account))
  })

  api.delete('/v1/keys/:id', KeyParams, async ({ account, params: { id } }) => {
    await deleteKey(deps, account.accountId, id, { keepFull: true, by: account })
    return { id, deleted: true, message: 'Key deleted; requests with it fail from now on' }
  })
}

/** Either body. */
type Given = (typeof KeyBody)['TYPE'] | (typeof ChangesBody)['TYPE']

/** What a body says about limits, and nothing about what it does not name. */
function limitsIn({ scope, domains, networks, expiresAt }: Given): Partial<KeyLimits> {
  return {
    ...(scope !== undefined && { scope }),
    ...(domains !== undefined && { domains: domains === 'any' ? null : domains }),
    ...(networks !== undefined && { networks: networks === 'any' ? null : networks }),
    ...(expiresAt !== undefined && {
      expiresAt: expiresAt === 'never' ? null : Date.parse(expiresAt),
    }),
  }
}

/** A key as the API shows it, without itself. */
const shown = (key: ApiKey) => ({
  id: key.id,
  name: key.name,
  last4: key.last4,
  scope: key.scope,
  domains: key.domains,
  networks: key.networks,
  expiresAt: isoTime(key.expiresAt),
  createdAt: isoTime(key.createdAt),
  lastUsedAt: isoTime(key.lastUsedAt),
})
