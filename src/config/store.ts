import { OperatorError } from '../errors/index.js'
import { secretFileOf, secretOf } from './secret-file.js'
import { flag, type Setting, text, type Values } from './settings.js'

/**
 * `postgres://user:password@host:port,host:port/database?option=value`; hosts may be missing, for a socket by `?host=`.
 */
const shape = /^postgres(?:ql)?:\/\/(?:[^@/?#\s]*@)?[^@/?#\s]*\/[^/?#\s]+(?:\?[^#\s]*)?$/

/** The parameters that the address may have. Any other would be ignored, and a misspelt `sslmode` must not be. */
const parameters: Readonly<Record<string, RegExp>> = {
  host: /./,
  port: /^\d+(,\d+)*$/,
  user: /./,
  application_name: /./,
  sslmode: /^(disable|prefer|require|verify-ca|verify-full)$/,
  sslrootcert: /./,
  sslcert: /./,
  sslkey: /./,
  sslnegotiation: /^(postgres|direct)$/,
  // Of several hosts, the one that takes writes is found in any case.
  target_session_attrs: /^(read-write|primary)$/,
}

const expected = 'an address such as "postgres://user@host:5432/database"'

// The address usually contains the password: it is never shown, whatever is wrong with it.
const url: Setting<string> = {
  kind: 'setting',
  fallback: '',
  read(value) {
    if (value === '') return { value }
    if (typeof value !== 'string' || !shape.test(value)) return { expected, given: 'another text' }
    for (const [name, said] of new URLSearchParams(/\?(.*)$/.exec(value)?.[1])) {
      const fits = Object.hasOwn(parameters, name) ? parameters[name] : undefined
      const known = Object.keys(parameters).join(', ')
      if (fits === undefined)
        return {
          expected: `${expected}, with parameters of these: ${known}`,
          given: `one with ${name}=`,
        }
      if (!fits.test(said)) {
        return {
          expected: `${expected}, with a ${name} that there is`,
          given: `one with ${name}=${said}`,
        }
      }
    }
    return { value }
  },
}

/** The address as it may be written down and shown; its password is left out. */
export const withoutPassword = (url: string): string =>
  url.replace(/(:\/\/[^:@/?]*):[^@/?]*@/, '$1@')

/** Where the database is, as `store` takes it. */
export const databaseAt = (
  dataDir: string,
  settings: Values<typeof storeSettings>,
  env = process.env,
): { dataDir: string; url: string | undefined; passwordFile?: string } => {
  const url = storeUrlOf(settings, env)
  if (url === undefined || url === settings.url) return { dataDir, url }
  // The password is not part of the address.
  const passwordFile = secretFileOf({ file: settings.passwordFile, credential, env })
  return passwordFile === undefined ? { dataDir, url } : { dataDir, url, passwordFile }
}

/** `[store]`: where the database is; without `url` a file of SQLite in the data directory. */
export const storeSettings = {
  url,
  passwordFile: text('', { pattern: /^$|^\//, expected: 'the absolute path of a file' }),
  backups: text('', {
    pattern: /^\P{Cc}{0,200}$/u,
    expected: 'a sentence of at most 200 characters',
  }),
  trustDurability: flag(false),
}

const credential = 'store-password'

/**
 * The address of the PostgreSQL with its password; undefined for SQLite. The password comes from the address, or else
 * from the file, or else from systemd's credential `store-password`. Throws an OperatorError where a file cannot be
 * read.
 */
function storeUrlOf(
  { url, passwordFile }: Values<typeof storeSettings>,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  if (url === '') return undefined
  const [scheme = '', rest = ''] = url.split('://', 2)
  const at = rest.indexOf('@')
  const user = at < 0 ? '' : rest.slice(0, at)
  if (user.includes(':')) return url
  const password = secretOf('the password of the database', { file: passwordFile, credential, env })
  if (password === undefined) return url
  if (user === '')
    throw new OperatorError('store.url has no user for the password: postgres://user@…')
  return `${scheme}://${user}:${encodeURIComponent(password)}${rest.slice(at)}`
}
