import { type IncomingMessage, request as plainRequest } from 'node:http'
import { request as tlsRequest } from 'node:https'
import { isIP } from 'node:net'
import type { Clock } from '../clock/index.js'
import { ApiError, systemCode } from '../errors/index.js'
import {
  type GuardDeps,
  guardedLookup,
  hostOf,
  permittedAddresses,
  Refused,
} from '../webhooks/index.js'

/**
 * Gets a file by its URL, or says in words for a client why not. Rejects only with a 503, while too many
 * are being fetched.
 */
export type FetchFile = (
  url: string,
  limits: { withinMs: number; maxBytes: number; accountId: string },
) => Promise<Fetched>

type Fetched = { pieces: Buffer[] } | { failed: string }

export interface FetchFileDeps extends GuardDeps {
  clock: Clock
  /** PEM of the authorities trusted beside the usual ones. */
  ca?: string | undefined
}

const maxUrlLength = 2_048
const maxRedirects = 3
const maxHeaderBytes = 16_384
// Each may hold as much as a mail may carry. A file may come as slowly as its server likes, so no account gets all
// places.
const maxAtOnce = 20
const maxOfAccount = 4
// Bounds the head of the answer, and how much of its body is read from the socket ahead of the reader.
const maxAheadBytes = 512 * 1024

/**
 * Fetches over HTTPS from public addresses and those in `allow`: whoever has a key must not read the
 * operator's network by mail. Every hop of a redirect is judged like the first.
 */
export function makeFetchFile(deps: FetchFileDeps): FetchFile {
  const running: string[] = []

  return async (text, { withinMs, maxBytes, accountId }) => {
    const own = running.filter((one) => one === accountId).length
    // An account may not take more places than it leaves free, so that there is always one for
    // another account.
    if (own >= maxOfAccount || own >= maxAtOnce - running.length) {
      const message = 'Too many attachments are being fetched; try again in a moment'
      throw new ApiError('service_unavailable', message, { headers: { 'retry-after': '5' } })
    }
    running.push(accountId)
    const stop = new AbortController()
    const cancel = deps.clock.after(withinMs, () => stop.abort())
    try {
      let url = fileUrl(text)
      for (let hops = 0; url !== undefined; hops++) {
        const answer = await get(deps, url, { maxBytes, signal: stop.signal })
        if (!('location' in answer)) return answer
        if (hops === maxRedirects) return { failed: `over ${maxRedirects} redirects` }
        url = fileUrl(answer.location, url)
      }
      return { failed: 'expected a URL of a file over https, without a user or password' }
    } finally {
      cancel()
      running.splice(running.indexOf(accountId), 1)
    }
  }
}

/** Without a user and a password, which logs would show. */
function fileUrl(text: string, base?: URL): URL | undefined {
  const url = text.length <= maxUrlLength ? URL.parse(text, base?.href) : null
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined
  return url.username === '' && url.password === '' ? url : undefined
}

/**
 * Redirects are followed by the caller, which judges each new address: a public URL must not lead
 * into the operator's own network (SSRF).
 */
async function get(
  deps: FetchFileDeps,
  url: URL,
  { maxBytes, signal }: { maxBytes: number; signal: AbortSignal },
): Promise<Fetched | { location: string }> {
  const host = hostOf(url)
  try {
    // An IP address needs no look-up, which would have judged it.
    if (isIP(host) !== 0) await permittedAddresses(deps, url)
    const response = await head(deps, url, signal)
    try {
      const status = response.statusCode ?? 0
      const { location } = response.headers
      if (status >= 300 && status < 400 && location !== undefined) return { location }
      if (status !== 200) return { failed: `${host} answered ${status}` }
      const { 'content-encoding': coding = 'identity', 'transfer-encoding': transfer = 'chunked' } =
        response.headers
      // RFC 9112 §7: a transfer coding may compress too, and Node decodes only chunks.
      if (!/^identity$/i.test(coding) || !/^chunked$/i.test(transfer)) {
        return { failed: `${host} sent it compressed, which was not asked for` }
      }
      const tooLarge = { failed: `the file has over ${maxBytes} bytes` }
      if (Number(response.headers['content-length'] ?? 0) > maxBytes) return tooLarge
      const pieces: Buffer[] = []
      let bytes = 0
      for await (const piece of response as AsyncIterable<Buffer>) {
        bytes += piece.length
        if (bytes > maxBytes) return tooLarge
        pieces.push(piece)
        // In chunks of one byte a file is six times as long, and the main thread has to read it
        // all.
        if (response.socket.bytesRead > maxAheadBytes + 2 * bytes) {
          return { failed: `${host} sent it in pieces that are too small` }
        }
      }
      // RFC 9112 §8: a body without a length ends with its connection, and Node reports an end even if we closed it.
      if (signal.aborted) return { failed: `${host} took too long` }
      if (!response.complete) return { failed: `${host} broke off in the middle of the file` }
      return bytes === 0 ? { failed: 'the file is empty' } : { pieces }
    } finally {
      response.destroy()
    }
  } catch (error) {
    if (signal.aborted) return { failed: `${host} took too long` }
    // The client must not learn what our resolver sees inside the network.
    if (error instanceof Refused) return { failed: `${host} is not at a public address over https` }
    const code = systemCode(error)
    const why = code === '' ? '' : ` (${code})`
    if (untrusted.test(code)) {
      return { failed: `the certificate of ${host} is not trusted, or is not for that name${why}` }
    }
    return { failed: `nothing could be fetched from ${host}${why}` }
  }
}

// OpenSSL's verdicts on a certificate, by Node's names: DEPTH_ZERO_SELF_SIGNED_CERT, CERT_HAS_EXPIRED,
// UNABLE_TO_VERIFY_LEAF_SIGNATURE, ERR_TLS_CERT_ALTNAME_INVALID.
const untrusted = /CERT|SIGNATURE/

/**
 * The connection goes to the judged address and not to the name, which could resolve to another
 * address a moment later.
 */
function head(
  { resolver, allow, ca }: FetchFileDeps,
  url: URL,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const secure = url.protocol === 'https:'
  const send = secure ? tlsRequest : plainRequest
  return new Promise((resolve, reject) => {
    const request = send(url, {
      agent: false,
      lookup: guardedLookup({ resolver, allow }, url),
      maxHeaderSize: maxHeaderBytes,
      signal,
      ...(secure && { minVersion: 'TLSv1.2' as const, ...(ca && { ca }) }),
      headers: { 'user-agent': 'Posthorn', accept: '*/*', 'accept-encoding': 'identity' },
    })
    request.once('response', (response) => {
      // For a file without a length, Node takes a reset connection for an orderly end.
      request.once('error', (error) => response.destroy(error))
      resolve(response)
    })
    request.once('error', reject)
    // An answer that does not fit the request, such as 101, ends the connection without an error.
    request.once('close', () => reject(new Error('There was no answer')))
    request.end()
  })
}
