import { OperatorError } from '../errors/index.js'
import { isTable } from '../toml/index.js'
import { secretOf } from './secret-file.js'
import { flag, list, table, text, type Values } from './settings.js'

/** What a value of the claim grants: the rights of an operator, or a role in an account, by its name or id. */
export interface GivenRole {
  value: string
  account: string | undefined
  role: 'owner' | 'member' | 'viewer' | 'operator'
}

const roles = table<Readonly<Record<string, string>>>(
  {},
  (value) => {
    if (!isTable(value)) return undefined
    const isWords = (words: unknown): words is string =>
      typeof words === 'string' && givenRole('', words) !== undefined
    const entries = Object.entries(value).filter((entry): entry is [string, string] =>
      isWords(entry[1]),
    )
    return entries.length === Object.keys(value).length ? Object.fromEntries(entries) : undefined
  },
  'a table such as { "mail-admins" = "operator", "shop" = "member of City library" }',
)

/** What the values of the claim grant, in the order of the file. */
export const givenRoles = ({ roles }: Values<typeof oidcSettings>): GivenRole[] =>
  Object.entries(roles).flatMap(([value, words]) => givenRole(value, words) ?? [])

function givenRole(value: string, words: string): GivenRole | undefined {
  if (words === 'operator') return { value, role: words, account: undefined }
  const [, role, account] = /^(owner|member|viewer) of (.{1,200})$/.exec(words) ?? []
  const isRole = role === 'owner' || role === 'member' || role === 'viewer'
  return isRole ? { value, role, account } : undefined
}

/** `[dashboard.oidc]`: people can also log in with a provider of OpenID Connect; without `issuer` only with us. */
export const oidcSettings = {
  issuer: text('', {
    pattern: /^$|^https:\/\/[^\s?#]+$/,
    expected: 'an address that begins with https://, as the provider writes its "issuer"',
  }),
  clientId: text('', { pattern: /^[\x21-\x7e]{0,300}$/, expected: 'a text without blanks' }),
  clientSecretFile: text('', { pattern: /^$|^\//, expected: 'the absolute path of a file' }),
  name: text('single sign-on', {
    pattern: /^[^\p{Cc}]{1,40}$/u,
    expected: 'what the button says, of 1 to 40 characters',
  }),
  scopes: list(['openid', 'email', 'profile'], {
    each: (item) => /^[\x21\x23-\x5b\x5d-\x7e]{1,100}$/.test(item),
    expected: 'a list of scopes, "openid" among them',
  }),
  rolesClaim: text('', {
    pattern: /^[^\p{Cc}\s]{0,100}$/u,
    expected: 'the name of a claim such as "groups"',
  }),
  roles,
  secondFactor: flag(false),
}

const credential = 'oidc-client-secret'

/**
 * The client's secret: from the file, or else from systemd's credential `oidc-client-secret`; undefined: it has none.
 */
export const clientSecretOf = (
  { clientSecretFile }: Values<typeof oidcSettings>,
  env: Readonly<Record<string, string | undefined>> = process.env,
): string | undefined =>
  secretOf('the secret of dashboard.oidc (client_secret_file)', {
    file: clientSecretFile,
    credential,
    env,
  })

/** Throws an OperatorError where the secret of a provider in use cannot be read: before anything listens. */
export function checkLogInSecret(oidc: Values<typeof oidcSettings>): void {
  if (oidc.issuer !== '') clientSecretOf(oidc)
}

/** Throws an OperatorError for settings that do not go together. */
export function checkOidc(oidc: Values<typeof oidcSettings>): void {
  const { issuer, clientId, scopes, rolesClaim, roles } = oidc
  if (issuer !== '' && clientId === '') {
    throw new OperatorError(
      'dashboard.oidc.issuer needs dashboard.oidc.client_id, which the provider gives',
    )
  }
  if (!scopes.includes('openid')) {
    throw new OperatorError(
      'dashboard.oidc.scopes: "openid" is missing, without which nobody is named',
    )
  }
  if ((rolesClaim === '') !== (Object.keys(roles).length === 0)) {
    throw new OperatorError(
      'dashboard.oidc.roles_claim and dashboard.oidc.roles go together: set both or none',
    )
  }
}
