import { exchange } from '../certificates/index.js'
import { messageOf } from '../errors/index.js'
import { isJsonObject } from '../json/index.js'
import { type DoctorDeps, type Finding, findingsOf } from './finding.js'

/** The provider of `[dashboard.oidc]`: whether it answers, and publishes what a log-in needs. */
export async function checkLogInProvider(deps: DoctorDeps): Promise<Finding[]> {
  const { issuer } = deps.config.dashboard.oidc
  if (issuer === '') return []
  const of = findingsOf('log-in-provider', issuer)
  // OpenID Connect Discovery 1.0 §4.
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  let told: Record<string, unknown>
  try {
    told = await askFor(deps, url)
  } catch (error) {
    const fix = `let this machine reach ${url}; meanwhile people log in by a password or passkey`
    return [of.fail(`does not answer: ${messageOf(error)}`, fix)]
  }
  // §4.3: it must match exactly, or the answer could be somebody else's.
  if (told.issuer !== issuer) {
    const own = String(told.issuer).slice(0, 200)
    return [of.fail(`calls itself ${own}`, `set dashboard.oidc.issuer = "${own}"`)]
  }
  const missing = ['authorization_endpoint', 'token_endpoint', 'jwks_uri'].filter(
    (name) => typeof told[name] !== 'string',
  )
  if (missing.length > 0) {
    return [of.fail(`does not tell its ${missing.join(', ')}`, 'ask who runs the provider')]
  }
  try {
    const { keys } = await askFor(deps, String(told.jwks_uri))
    if (!Array.isArray(keys) || keys.length === 0) throw new Error('it has no keys')
  } catch (error) {
    const found = `its keys cannot be had (${messageOf(error)}), so that no log-in by it succeeds`
    return [of.fail(found, 'ask who runs the provider')]
  }
  return [of.ok('answers, with its keys')]
}

/** The JSON object at the URL. Rejects with what is wrong. */
async function askFor({ clock, resolver, ca }: DoctorDeps, url: string) {
  const { signal } = new AbortController()
  const asked = { url, method: 'GET', headers: { accept: 'application/json' }, body: undefined }
  const { status, text } = await exchange({ clock, resolver, ca, signal }, asked)
  if (status !== 200) throw new Error(`it answered ${status}`)
  const told: unknown = JSON.parse(text)
  if (!isJsonObject(told)) throw new Error('it answered no JSON object')
  return told
}
