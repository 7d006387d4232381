import { exchange } from '../certificates/index.js'
import type { Clock } from '../clock/index.js'
import { type ApplianceKey, type Config, clientSecretOf, givenRoles } from '../config/index.js'
import type { Resolver } from '../dns/index.js'
import type { Log } from '../log/index.js'
import { makeLogInProvider, type ProviderRequest, type TrustedProvider } from '../people/index.js'

interface TrustDeps {
  clock: Clock
  key: ApplianceKey
  log: Log
  resolver: Resolver
}

/**
 * The provider of `[dashboard.oidc]`; undefined where people can only log in with us. Throws an OperatorError for a
 * secret that cannot be read.
 */
export function trustedProvider(
  deps: TrustDeps,
  { dashboard }: Config,
): TrustedProvider | undefined {
  const { oidc } = dashboard
  if (oidc.issuer === '') return undefined
  const fetch = providerFetch(deps)
  const provider = makeLogInProvider({ ...deps, fetch }, oidc, clientSecretOf(oidc))
  return { provider, secondFactor: oidc.secondFactor, roles: givenRoles(oidc) }
}

/** How the provider is asked; `ca`: PEM of the authority trusted instead of the usual ones. */
export const providerFetch =
  ({ clock, resolver, ca }: Pick<TrustDeps, 'clock' | 'resolver'> & { ca?: string }) =>
  async (url: string, { method, headers, body }: ProviderRequest): Promise<Response> => {
    const asked = { url, method, headers, body: body == null ? undefined : String(body) }
    const { signal } = new AbortController()
    const answer = await exchange({ clock, resolver, ca, signal }, asked)
    const { status, headers: answered, text } = answer
    return new Response(text === '' ? null : text, { status, headers: answered })
  }
