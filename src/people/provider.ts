import { randomBytes } from 'node:crypto'
import type { Configuration } from 'openid-client'
import type { Clock } from '../clock/index.js'
import type { ApplianceKey } from '../config/index.js'
import { ApiError, messageOf } from '../errors/index.js'
import type { Log } from '../log/index.js'

/** The claims of the provider that are read. */
export interface ProviderClaims {
  issuer: string
  subject: string
  /** Only set if the provider has verified it. */
  email: string | undefined
  name: string
  /** The values of the claim about roles, as a list. */
  values: readonly string[]
}

/** The purpose for which a browser is sent to the provider, and with which it comes back. */
export interface Errand {
  next: string | undefined
  /** The person who must prove again who they are; undefined for a log-in. */
  userId: string | undefined
}

/** Log-in by a provider of OpenID Connect: the code flow with PKCE (OpenID Connect Core 1.0 §3.1, RFC 7636). */
export interface LogInProvider {
  /** The label of the button. */
  name: string
  /**
   * Where the browser goes, and the sealed state that it keeps meanwhile. Throws a 503 if the provider does not answer.
   */
  begin(errand: Errand, redirectUri: string): Promise<{ url: string; kept: string }>
  /**
   * Throws a 403 for an answer that does not fit the kept state, or that the provider does not confirm. The provider is
   * asked, after `ask`, only if everything else fits.
   */
  finish(
    answer: URL,
    kept: string | undefined,
    ask: () => Promise<void>,
  ): Promise<Errand & { claimed: ProviderClaims }>
  /** Tells the operator about a refused person. */
  noteRefusal(claimed: ProviderClaims, why: string): void
}

export interface ProviderDeps {
  key: ApplianceKey
  clock: Clock
  log: Log
  /** One request of ours to the provider, bounded in time and size. */
  fetch: (url: string, options: ProviderRequest) => Promise<Response>
}

/** A request in openid-client's form. */
export interface ProviderRequest {
  method: string
  headers: Record<string, string>
  body?: unknown
}

export interface ProviderSettings {
  issuer: string
  clientId: string
  name: string
  scopes: readonly string[]
  rolesClaim: string
}

/** Loaded with the first log-in, as most appliances have no provider. */
const openid = () => import('openid-client')

// RFC 6749 §4.1.2: a code is good for ten minutes at most.
const errandMs = 600_000
// Within this time a change of the provider's keys is noticed; openid-client fetches unknown keys by itself.
const discoveryMs = 3_600_000
// Enough to type a password and to find the telephone; an older log-in does not prove that the person is
// there now.
const proofSeconds = 300

/**
 * `secret`: the client's, undefined for a public client. The provider is first asked at the first log-in.
 */
export function makeLogInProvider(
  deps: ProviderDeps,
  settings: ProviderSettings,
  secret: string | undefined,
): LogInProvider {
  const { key, clock, log } = deps
  let known: { configuration: Promise<Configuration>; at: number } | undefined

  const configuration = async (): Promise<Configuration> => {
    const now = clock.now()
    if (known === undefined || Math.abs(now - known.at) > discoveryMs) {
      const asked = { configuration: discover(deps, settings, secret), at: now }
      known = asked
      asked.configuration.catch(() => {
        if (known === asked) known = undefined
      })
    }
    return await known.configuration.catch((error: unknown) => {
      log.warn(
        { issuer: settings.issuer, error: reasonOf(error) },
        'dashboard.oidc: the provider does not answer',
      )
      throw new ApiError(
        'service_unavailable',
        `${settings.name} does not answer. Try again, or log in by a password or passkey`,
      )
    })
  }

  return {
    name: settings.name,
    async begin(errand, redirectUri) {
      const { buildAuthorizationUrl, calculatePKCECodeChallenge } = await openid()
      const known = await configuration()
      const [state, nonce, verifier] = [random(), random(), random()]
      const url = buildAuthorizationUrl(known, {
        redirect_uri: redirectUri,
        scope: settings.scopes.join(' '),
        state,
        nonce,
        code_challenge: await calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        // A repeated proof needs typing: a session at the provider is no proof.
        ...(errand.userId !== undefined && { prompt: 'login', max_age: '0' }),
      })
      const kept: Kept = { ...errand, state, nonce, verifier, at: clock.now() }
      return { url: url.href, kept: key.seal(JSON.stringify(kept), purpose).toString('base64url') }
    },
    async finish(answer, kept, ask) {
      const begun = keptOf(key, kept)
      if (begun === undefined || Math.abs(clock.now() - begun.at) > errandMs) throw tooLate()
      if (answer.searchParams.get('state') !== begun.state) throw tooLate()
      const { next, userId } = begun
      // RFC 6749 §4.1.2.1: the provider's error instead of a code, for example after Cancel.
      const refused = answer.searchParams.get('error')
      if (refused !== null) {
        throw new ApiError(
          'forbidden',
          `${settings.name} has not let you in (${refused.slice(0, 100)})`,
        )
      }
      const known = await configuration()
      await ask()
      const claims = await confirmed(known, answer, begun).catch((error: unknown) => {
        if (error instanceof ApiError) throw error
        log.warn(
          { issuer: settings.issuer, error: reasonOf(error) },
          'dashboard.oidc: an answer was not confirmed',
        )
        throw new ApiError(
          'forbidden',
          `What ${settings.name} has answered could not be confirmed: begin again`,
        )
      })
      return { next, userId, claimed: claimsOf(claims, settings) }
    },
    noteRefusal({ issuer, subject, email }, why) {
      log.warn({ issuer, subject, email, why }, 'dashboard.oidc: somebody was not let in')
    },
  }
}

/** What a browser keeps until it comes back; sealed, so that nobody can forge it. */
interface Kept extends Errand {
  state: string
  nonce: string
  verifier: string
  at: number
}

const purpose = 'oidc errand'

const random = () => randomBytes(32).toString('base64url')

function keptOf(key: ApplianceKey, kept: string | undefined): Kept | undefined {
  try {
    return kept === undefined
      ? undefined
      : (JSON.parse(key.unseal(Buffer.from(kept, 'base64url'), purpose)) as Kept)
  } catch {
    return undefined
  }
}

const tooLate = () =>
  new ApiError(
    'forbidden',
    'Too much time has passed, or another log-in was begun since: begin again',
  )

async function discover(
  { fetch }: Pick<ProviderDeps, 'fetch'>,
  { issuer, clientId }: ProviderSettings,
  secret: string | undefined,
): Promise<Configuration> {
  const { ClientSecretBasic, customFetch, discovery, enableNonRepudiationChecks, None } =
    await openid()
  const method = secret === undefined ? None() : ClientSecretBasic(secret)
  // OpenID Connect Core 1.0 §3.1.3.7 (6) would accept TLS alone, but the signature is checked too.
  const options = { [customFetch]: fetch, execute: [enableNonRepudiationChecks] }
  return await discovery(new URL(issuer), clientId, undefined, method, options)
}

/** The claims of the verified ID token, and of the userinfo if there is one (OpenID Connect Core 1.0 §5.3). */
async function confirmed(configuration: Configuration, answer: URL, begun: Kept) {
  const { authorizationCodeGrant, fetchUserInfo } = await openid()
  const tokens = await authorizationCodeGrant(configuration, answer, {
    pkceCodeVerifier: begun.verifier,
    expectedState: begun.state,
    expectedNonce: begun.nonce,
    idTokenExpected: true,
    ...(begun.userId !== undefined && { maxAge: proofSeconds }),
  })
  const claims = tokens.claims()
  if (claims === undefined) throw new Error('There is no ID token')
  if (configuration.serverMetadata().userinfo_endpoint === undefined) return claims
  const more = await fetchUserInfo(configuration, tokens.access_token, claims.sub)
  // Whether an address is verified is said of the address beside it: the two answers may name different ones.
  const { email, email_verified: isVerified } = claims.email === undefined ? more : claims
  const same = email === more.email ? more.email_verified : undefined
  return { ...more, ...claims, email_verified: isVerified ?? same }
}

function claimsOf(
  claims: { iss: string; sub: string } & Record<string, unknown>,
  { rolesClaim }: ProviderSettings,
): ProviderClaims {
  const { iss, sub, email, email_verified: isVerified, name, preferred_username: nick } = claims
  const values = rolesClaim === '' ? [] : [claims[rolesClaim]].flat()
  const called = [name, nick, email].find((one) => typeof one === 'string' && one.trim() !== '')
  return {
    issuer: iss,
    subject: sub,
    email: typeof email === 'string' && isVerified === true ? email : undefined,
    name: String(called ?? sub)
      .replaceAll(/\p{Cc}/gu, ' ')
      .trim()
      .slice(0, 100),
    values: values.filter((value) => typeof value === 'string'),
  }
}

/** openid-client puts the reason into the cause of its errors. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  return cause instanceof Error ? `${messageOf(error)}: ${messageOf(cause)}` : messageOf(error)
}
