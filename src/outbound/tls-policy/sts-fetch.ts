import { setMaxListeners } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { get } from 'node:https'
import type { Clock } from '../../clock/index.js'
import { hostAddresses, isPublicAddress, pinned, type Resolver } from '../../dns/index.js'
import { messageOf } from '../../errors/index.js'

/** Gets the text of a domain's policy. Never rejects. */
export type FetchPolicy = (domain: string) => Promise<Fetched>

/** `untrusted`: the web server's certificate is not good for its name. */
type Fetched = { body: string } | { failed: string; untrusted?: true }

/** What fetching a policy needs. */
export interface PolicyFetcherOptions {
  resolver: Resolver
  clock: Clock
  /** Whether a policy host may be at a private address. */
  allowPrivateAddresses: boolean
  /** Ends fetches under way. */
  signal: AbortSignal
  /** PEM of the authorities trusted instead of the usual ones. */
  ca?: string
  port?: number
}

// mox's bounds, and RFC 8461 §3.3's advice of a minute.
const deadlineMs = 60_000
const maxBytes = 65_536
const maxHeaderBytes = 16_384

/**
 * Fetches `https://mta-sts.<domain>/.well-known/mta-sts.txt` as RFC 8461 §3.3 wants it: with the certificate checked,
 * without redirects, and never from a host of our own network, since a stranger names the host.
 */
export function makePolicyFetcher(options: PolicyFetcherOptions): FetchPolicy {
  // Each fetch under way has a listener here; Node's warning is about leaks.
  setMaxListeners(0, options.signal)
  return async (domain) => {
    const host = `mta-sts.${domain}`
    const found = await findAddresses(options, host)
    return 'failed' in found ? found : await getPolicy(options, host, found.addresses)
  }
}

/** The policy host's addresses that may be connected to. */
async function findAddresses(
  { resolver, allowPrivateAddresses }: PolicyFetcherOptions,
  host: string,
): Promise<{ addresses: string[] } | { failed: string }> {
  const found = await hostAddresses(resolver, host)
  if ('failed' in found) return found
  const all = found.addresses
  const addresses = all.filter((address) => allowPrivateAddresses || isPublicAddress(address))
  if (addresses.length > 0) return { addresses }
  return { failed: `${host} is at ${all[0]}, not a public address` }
}

/** Fetches the file, from one of the addresses that were judged. */
function getPolicy(
  { clock, signal, ca, port = 443 }: PolicyFetcherOptions,
  host: string,
  addresses: readonly string[],
): Promise<Fetched> {
  return new Promise((resolve) => {
    const end = (result: Fetched) => {
      cancel()
      signal.removeEventListener('abort', stop)
      resolve(result)
      request.destroy()
    }
    const stop = () => end({ failed: 'stopped' })
    const cancel = clock.after(deadlineMs, () => end({ failed: 'not there within 60 s' }))
    const request = get(
      {
        hostname: host,
        port,
        path: '/.well-known/mta-sts.txt',
        // Only the addresses that were judged: a second look-up could answer differently.
        lookup: pinned(addresses),
        agent: false,
        minVersion: 'TLSv1.2',
        maxHeaderSize: maxHeaderBytes,
        headers: { accept: 'text/plain', 'user-agent': 'Posthorn' },
        ...(ca === undefined ? {} : { ca }),
      },
      (response) => {
        const refused = refusal(response)
        if (refused !== undefined) return end({ failed: refused })
        const chunks: Buffer[] = []
        let bytes = 0
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length
          if (bytes > maxBytes) end({ failed: `longer than ${maxBytes} bytes` })
          else chunks.push(chunk)
        })
        response.once('end', () => end({ body: Buffer.concat(chunks).toString() }))
        response.once('error', (error) => end({ failed: messageOf(error) }))
      },
    )
    request.once('error', (error: NodeJS.ErrnoException) => {
      const isUntrusted = isCertificateFault(error.code ?? '')
      end({ failed: causeOf(error), ...(isUntrusted && { untrusted: true }) })
    })
    signal.addEventListener('abort', stop)
    if (signal.aborted) stop()
  })
}

/** RFC 8461 §3.3: only a 200 counts, redirects are not followed, the type is text/plain. */
function refusal({ statusCode, headers }: IncomingMessage): string | undefined {
  if (statusCode !== 200) return `HTTP ${statusCode}`
  const type = headers['content-type'] ?? ''
  return /^text\/plain[ \t]*(;|$)/i.test(type)
    ? undefined
    : `content type ${JSON.stringify(type.slice(0, 60))}`
}

/** With several addresses, Node's error has no message of its own but holds an error for each. */
function causeOf(error: Error): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join('; ')
  return messageOf(error)
}

/** Node passes on OpenSSL's codes for a bad chain, and has a code of its own for a wrong name. */
const isCertificateFault = (code: string) =>
  /^(?:CERT_|ERR_TLS_CERT_|UNABLE_TO_|INVALID_(?:CA|PURPOSE)|PATH_LENGTH_)|SELF_SIGNED/.test(code)
