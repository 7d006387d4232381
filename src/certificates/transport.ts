import { request as httpsRequest } from 'node:https'
import type { Clock } from '../clock/index.js'
import { hostAddresses, pinned, type Resolver } from '../dns/index.js'

/** Protects us from a directory that is slow, or hostile. */
export interface Transport {
  clock: Clock
  resolver: Resolver
  /** PEM of the authority trusted instead of the usual ones. */
  ca?: string | undefined
  /** Ends the requests that are under way. */
  signal: AbortSignal
}

export interface AcmeExchange {
  status: number
  headers: Record<string, string>
  text: string
}

const deadlineMs = 30_000
// A chain of four RSA 4096 certificates is 10 KB.
const maxBytes = 131_072
const maxHeaderBytes = 16_384

/** One request; rejects when there is no whole answer within 30 s and 128 KiB. Redirects are not followed. */
export async function exchange(
  { clock, resolver, ca, signal }: Transport,
  asked: { url: string; method: string; headers: Record<string, string>; body: string | undefined },
): Promise<AcmeExchange> {
  const { protocol, hostname, port, pathname, search, host } = new URL(asked.url)
  // RFC 8555 §6.1: only HTTPS; the URLs come from the directory.
  if (protocol !== 'https:') throw new Error(`${asked.url.slice(0, 200)} is not an https URL`)
  const name = hostname.replace(/^\[|\]$/g, '')
  const found = await hostAddresses(resolver, name)
  if ('failed' in found) throw new Error(found.failed)
  return await new Promise((resolve, reject) => {
    const fail = (cause: string) => end(() => reject(new Error(`${host}: ${cause}`)))
    const end = (settle: () => void) => {
      cancel()
      signal.removeEventListener('abort', stop)
      settle()
      request.destroy()
    }
    const stop = () => fail('stopped')
    const cancel = clock.after(deadlineMs, () => fail(`no answer within ${deadlineMs / 1_000} s`))
    const request = httpsRequest(
      {
        method: asked.method,
        hostname: name,
        port: port || 443,
        path: `${pathname}${search}`,
        lookup: pinned(found.addresses),
        agent: false,
        minVersion: 'TLSv1.2',
        maxHeaderSize: maxHeaderBytes,
        // RFC 8555 §6.1: a client says who it is.
        headers: { ...asked.headers, 'user-agent': 'Posthorn', 'accept-encoding': 'identity' },
        ...(ca === undefined ? {} : { ca }),
      },
      (response) => {
        const chunks: Buffer[] = []
        let bytes = 0
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length
          if (bytes > maxBytes) fail(`its answer is longer than ${maxBytes} bytes`)
          else chunks.push(chunk)
        })
        response.once('error', (error) => fail(error.message))
        response.once('end', () => {
          const headers = Object.entries(response.headers).map(([name, value]) => [
            name,
            `${value}`,
          ])
          const text = Buffer.concat(chunks).toString()
          const status = response.statusCode ?? 0
          end(() => resolve({ status, headers: Object.fromEntries(headers), text }))
        })
      },
    )
    request.once('error', (error) =>
      fail(error instanceof AggregateError ? `${error.errors.join('; ')}` : error.message),
    )
    signal.addEventListener('abort', stop)
    if (signal.aborted) stop()
    else request.end(asked.body)
  })
}

/** RFC 9110 §10.2.3: seconds or a date, in ms from now; undefined when it is not usable. */
export function retryAfterMs(value: string | undefined, now: number): number | undefined {
  if (value === undefined) return undefined
  const ms = /^\d{1,9}$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - now
  return Number.isFinite(ms) && ms >= 0 ? ms : undefined
}
