import { isIP } from 'node:net'
import { passwordOf, type SmartHost } from '../../config/index.js'
import type { Resolver } from '../../dns/index.js'
import { messageOf } from '../../errors/index.js'
import { type ConnectFailure, type Credentials, connectSmtp } from '../../smtp/index.js'
import { bindTo } from '../routing/index.js'
import type { RelaySession } from './sessions.js'

/** What connecting to a smart host needs. */
export interface SmartHostOptions {
  resolver: Pick<Resolver, 'a' | 'aaaa'>
  heloName: string
  env: Readonly<Record<string, string | undefined>>
  /** PEM of the authorities trusted instead of the usual ones. */
  ca?: string | undefined
  signal?: AbortSignal
}

/** A session that is logged in. */
export type Opened = Pick<RelaySession, 'connection' | 'remote'>

/** Why there is no session, and at which address. */
export interface NotOpened {
  failure: Pick<ConnectFailure, 'phase' | 'cause' | 'reply' | 'transcript' | 'code'>
  remote: string
}

/** Our own refusal, before a server was asked; there is no transcript of it. */
const unopened = (remote: string, phase: 'connect' | 'auth', cause: string): NotOpened => ({
  failure: { phase, cause, transcript: '' },
  remote,
})

// How many addresses of a smart host are tried.
const maxAddresses = 4

/** Opens a session with a smart host and logs in, at the first of its addresses that answers. */
export async function openSmartHost(
  host: SmartHost,
  { resolver, heloName, env, ca, signal }: SmartHostOptions,
): Promise<Opened | NotOpened> {
  const name = `${host.host}:${host.port}`
  const found = await addressesOf(resolver, host.host)
  if ('cause' in found) return unopened(name, 'connect', found.cause)
  const login = loginOf(host, env)
  if (login.cause !== undefined) return unopened(name, 'auth', login.cause)
  let last: NotOpened | undefined
  for (const address of found.addresses) {
    const remote = `${host.host} [${address}]`
    const bind = bindTo({ addresses: host.sourceAddresses }, address)
    if (bind === undefined) {
      last ??= unopened(remote, 'connect', `${host.sourceAddresses[0]} cannot reach it`)
      continue
    }
    const result = await connectSmtp({
      ...bind,
      host: address,
      port: host.port,
      servername: host.host,
      heloName,
      ...(login.auth && { auth: login.auth }),
      // The operator chose how to connect; nothing falls back to the clear.
      tls:
        host.tls === 'off' ? { mode: 'off' } : { mode: 'require', verify: true, ...(ca && { ca }) },
      implicitTls: host.tls === 'implicit',
      ...(signal && { signal }),
    })
    if (result.kind === 'ready') return { connection: result.connection, remote }
    last = { failure: result, remote }
    // The host answered: its other addresses are no better.
    if (result.phase !== 'connect' || signal?.aborted) break
  }
  return last ?? unopened(name, 'connect', 'it has no address')
}

/** The password is read at each connection: a file that was changed needs no restart. */
function loginOf(
  host: SmartHost,
  env: SmartHostOptions['env'],
): { auth?: Credentials; cause?: string } {
  if (host.user === '') return {}
  try {
    return { auth: { user: host.user, pass: passwordOf(host, env) } }
  } catch (error) {
    return { cause: messageOf(error) }
  }
}

/** A smart host is looked up as a host and not by MX: the operator names it. */
async function addressesOf(
  resolver: SmartHostOptions['resolver'],
  host: string,
): Promise<{ addresses: string[] } | { cause: string }> {
  if (isIP(host) !== 0) return { addresses: [host] }
  const answers = await Promise.all([resolver.a(host), resolver.aaaa(host)])
  const addresses = answers.flatMap((answer) => (answer.kind === 'records' ? answer.records : []))
  if (addresses.length > 0) return { addresses: addresses.slice(0, maxAddresses) }
  const failed = answers.find((answer) => answer.kind === 'failed')
  return { cause: `DNS failed: ${failed?.cause ?? `${host} has no address`}` }
}
