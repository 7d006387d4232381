import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { messageOf, OperatorError } from '../errors/index.js'
import { isTable } from '../toml/index.js'
import { settingName } from './read.js'
import { integer, list, oneOf, type Section, type Setting, text } from './settings.js'

/** A server that relays our mail when the primary way is blocked. */
export interface SmartHost {
  /** A host name, or an IP address. */
  readonly host: string
  readonly port: number
  /** `starttls` and `implicit` are both required and verified. */
  readonly tls: 'starttls' | 'implicit' | 'off'
  /** Empty: no login. */
  readonly user: string
  /** Where the password is: exactly one of these, where there is a user. */
  readonly passwordFile: string
  readonly passwordEnv: string
  /** PEM of the authorities trusted instead of the usual ones; empty: the usual ones. */
  readonly caFile: string
  /** Addresses to leave from, at most one of each family; empty: whichever the system takes. */
  readonly sourceAddresses: readonly string[]
  readonly connections: number
  readonly messagesPerMinute: number
}

// RFC 6409 and RFC 8314 for submission; 25 where no TLS is spoken.
const usualPorts = { starttls: 587, implicit: 465, off: 25 }
// RFC 1123 §2.1, as in `sections.ts`.
const name =
  /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/i

const items = {
  host: {
    kind: 'setting',
    fallback: '',
    read: (value) =>
      typeof value === 'string' && (isIP(value) !== 0 || name.test(value))
        ? { value }
        : { expected: 'a host name or an IP address' },
  } as Setting<string>,
  /** 0: the usual one. */
  port: integer(0, 1, 65_535),
  tls: oneOf('starttls', ['starttls', 'implicit', 'off']),
  user: text('', { pattern: /^\P{Cc}{1,255}$/u, expected: 'a user name' }),
  passwordFile: text('', { pattern: /^\//, expected: 'the absolute path of a file' }),
  passwordEnv: text('', { pattern: /^[A-Z_][A-Z0-9_]*$/i, expected: 'the name of a variable' }),
  caFile: text('', { pattern: /^\//, expected: 'the absolute path of a file' }),
  sourceAddresses: list([], {
    each: (item) => isIP(item) !== 0,
    expected: 'a list of IP addresses',
  }),
  connections: integer(10, 1, 1_000),
  messagesPerMinute: integer(6_000, 1, 1_000_000),
} as const satisfies Section

/** A list of smart hosts, in the order in which they are used. */
export const smartHosts = listOf('[[outbound.failover.smart_hosts]]', 'smart host', [])
/** A list of relays for the operator's own mail, of which there is little. */
export const relays = listOf('[[operator.relays]]', 'relay', ['connections', 'messagesPerMinute'])

/** `without`: the settings of a smart host that mean nothing here, and so are refused. */
function listOf(
  tables: string,
  called: string,
  without: readonly string[],
): Setting<readonly SmartHost[]> {
  return {
    kind: 'setting',
    fallback: [],
    read(value) {
      const expected = `tables ${tables}, at most 10`
      if (!Array.isArray(value) || value.length > 10 || !value.every(isTable)) return { expected }
      const problems: string[] = []
      const readAt = (item: Record<string, unknown>, at: number) =>
        readOne(item, { place: `${called} ${at + 1}`, without }, problems)
      const hosts = value.map(readAt)
      // The given value is not shown: somebody may have written a password there.
      if (problems.length > 0) return { expected: problems.join('; '), given: 'a bad list' }
      return { value: hosts }
    },
  }
}

/** One table of the list; each problem says which one it is of. */
function readOne(
  item: Record<string, unknown>,
  { place, without }: { place: string; without: readonly string[] },
  problems: string[],
): SmartHost {
  const values: Record<string, unknown> = {}
  const known = new Set<string>()
  for (const [key, setting] of Object.entries(items)) {
    const inFile = settingName([key])
    values[key] = setting.fallback
    if (without.includes(key)) continue
    known.add(inFile)
    const result =
      item[inFile] === undefined ? { value: setting.fallback } : setting.read(item[inFile])
    values[key] = 'value' in result ? result.value : setting.fallback
    if ('expected' in result) problems.push(`${result.expected} as ${inFile} of ${place}`)
  }
  for (const key of Object.keys(item)) {
    if (known.has(key)) continue
    // Somebody who writes the password itself into the settings is told where it belongs.
    const hint =
      key === 'password' ? 'password_file or password_env, never password itself' : `no ${key}`
    problems.push(`${hint} in ${place} (known: ${[...known].join(', ')})`)
  }
  // Each value was read by its setting.
  const found = values as unknown as SmartHost
  refuseUnfit(found, item, place, problems)
  return { ...found, port: found.port || usualPorts[found.tls] }
}

/** Refuses what no setting can see by itself. */
function refuseUnfit(
  { tls, user, passwordFile, passwordEnv, sourceAddresses }: SmartHost,
  item: Record<string, unknown>,
  place: string,
  problems: string[],
): void {
  if (item.host === undefined) problems.push(`a host for ${place}`)
  if (new Set(sourceAddresses.map((address) => isIP(address))).size < sourceAddresses.length) {
    problems.push(`one IPv4 and one IPv6 address at most as source_addresses of ${place}`)
  }
  const passwords = [passwordFile, passwordEnv].filter((one) => one !== '').length
  if (user !== '' && passwords !== 1) {
    problems.push(`either password_file or password_env with the user of ${place}`)
  }
  if (user === '' && passwords > 0) problems.push(`a user with the password of ${place}`)
  if (user !== '' && tls === 'off') {
    problems.push(`TLS for ${place}: a password never goes in the clear`)
  }
}

/**
 * The password, read anew each time so that it may be changed while mail flows. Throws an OperatorError that says where
 * it was looked for.
 */
export function passwordOf(
  smartHost: Pick<SmartHost, 'host' | 'passwordFile' | 'passwordEnv'>,
  env: Readonly<Record<string, string | undefined>>,
): string {
  const { host, passwordFile, passwordEnv } = smartHost
  if (passwordEnv !== '') {
    const given = env[passwordEnv]
    if (given) return given
    throw new OperatorError(`No password for ${host}: ${passwordEnv} is not in the environment`)
  }
  const found = contentOf(passwordFile, `password for ${host}`).replace(/\r?\n$/, '')
  if (found !== '') return found
  throw new OperatorError(`No password for ${host}: ${passwordFile} is empty`)
}

/** Reads the secrets and certificates of all, to find out now what would fail in an incident. */
export function checkSmartHosts(
  hosts: readonly SmartHost[],
  env: Readonly<Record<string, string | undefined>>,
): void {
  for (const host of hosts) {
    if (host.user !== '') passwordOf(host, env)
    authoritiesOf(host)
  }
}

/** The PEM of the smart host's own authorities; undefined for the usual ones. */
export function authoritiesOf({ caFile, host }: SmartHost): string | undefined {
  if (caFile === '') return undefined
  const pem = contentOf(caFile, `authorities of ${host}`)
  if (pem.includes('-----BEGIN CERTIFICATE-----')) return pem
  throw new OperatorError(`${caFile} has no certificate in PEM for ${host}`)
}

/** The text of a file; OperatorError that says what was to be read. */
function contentOf(file: string, what: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new OperatorError(`Cannot read the ${what}: ${messageOf(error)}`)
  }
}
