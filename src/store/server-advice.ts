import { ApiError, messageOf } from '../errors/index.js'

/**
 * What to do about an error of a PostgreSQL server, by its SQLSTATE (PostgreSQL's manual, appendix A); undefined for
 * others. Begins in lower case.
 */
export function serverAdvice(error: unknown): string | undefined {
  const one = error instanceof ApiError ? error.cause : error
  if (!(one instanceof Error)) return undefined
  if (wantsPassword(one)) return password
  const code = 'code' in one && 'severity' in one ? String(one.code) : ''
  const known = advice.find(([pattern]) => pattern.test(code))
  return known?.[1]
}

/** What it said; the library's message for a missing password helps nobody, so it is replaced. */
export const wordsOfServer = (error: unknown): string =>
  wantsPassword(error) ? 'it wants a password' : messageOf(error)

const wantsPassword = (error: unknown) => /^SASL.*password must be/.test(messageOf(error))

const password =
  "give it by --password-file or store.password_file, systemd's credential store-password, or in POSTHORN_STORE_URL"

const advice: readonly (readonly [RegExp, string])[] = [
  [/^3D000$/, "make it ('createdb --owner USER NAME'), or name another one as store.url"],
  [/^28/, 'see to user and password (store.url, store.password_file) and to its pg_hba.conf'],
  [/^42501$/, 'make the user of store.url the owner of the database'],
  [/^25006$/, 'it takes no writes: name the primary, or all hosts of them, in store.url'],
  [/^53300$/, 'it has no connection left for another program: raise its max_connections'],
  [/^53100$/, 'its disk is full'],
  [/^(40|55P03)/, 'another program writes the same rows: try again'],
]
