import { Agent as PlainAgent, request as plainRequest } from 'node:http'
import { Agent as TlsAgent, request as tlsRequest } from 'node:https'
import { isIP } from 'node:net'
import type { Clock } from '../clock/index.js'
import { messageOf, systemCode } from '../errors/index.js'
import type { WebhookCause } from '../store/index.js'
import { type GuardDeps, guardedLookup, hostOf, permittedAddresses, Refused } from './target.js'

/** The result of one attempt. `stopped`: we ended it, so it says nothing about the receiver. */
export type PostAnswer =
  | { kind: 'taken'; status: number; response: string }
  | { kind: 'refused'; status: number; response: string; error: string }
  | { kind: 'failed'; error: string; cause: WebhookCause | null }
  | { kind: 'stopped' }

/** Connections to one endpoint, kept open between its webhooks. */
export interface EndpointConnections {
  post(body: string, signature: string): Promise<PostAnswer>
  close(): void
}

/** What a connection to an endpoint needs. */
export interface LineDeps extends GuardDeps {
  clock: Clock
  /** Ends what is under way. */
  signal: AbortSignal
  /** PEM of the authorities trusted beside the usual ones. */
  ca?: string | undefined
}

// interface.md, 'Delivery and retry'. From the beginning of the attempt to the end of the answer.
const timeoutMs = 10_000
// How much of an answer the log keeps; a receiver that sends more is cut off.
const maxResponseBytes = 4_096
const maxHeaderBytes = 16_384
// Shorter than most servers keep an idle connection, so that we seldom write into a closing one.
const idleMs = 4_000

/** Opens nothing yet; the first webhook does. */
export function openLine(deps: LineDeps, url: URL): EndpointConnections {
  const settings = { keepAlive: true, timeout: idleMs, lookup: guardedLookup(deps, url) }
  const secure = url.protocol === 'https:'
  const agent = secure
    ? new TlsAgent({ ...settings, minVersion: 'TLSv1.2', ...(deps.ca ? { ca: deps.ca } : {}) })
    : new PlainAgent(settings)
  const send = secure ? tlsRequest : plainRequest

  function attempt(body: string, signature: string, mayRepeat: boolean): Promise<PostAnswer> {
    return new Promise((resolve) => {
      let ended = false
      const end = (answer: PostAnswer | Promise<PostAnswer>) => {
        ended = true
        cancel()
        deps.signal.removeEventListener('abort', stop)
        resolve(answer)
      }
      const fail = (error: string, cause: WebhookCause | null) => {
        end({ kind: 'failed', error, cause })
        request.destroy()
      }
      const stop = () => {
        end({ kind: 'stopped' })
        request.destroy()
      }
      const request = send(url, {
        method: 'POST',
        agent,
        maxHeaderSize: maxHeaderBytes,
        headers: {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
          'user-agent': 'Posthorn',
          'svc-signature': signature,
        },
      })
      // The receiver closed a kept connection: that is no answer, so the request is sent once more over a new one.
      request.on('error', (error: NodeJS.ErrnoException) => {
        if (ended) return
        if (mayRepeat && request.reusedSocket && error.code === 'ECONNRESET') {
          end(attempt(body, signature, false))
        } else fail(inWords(error), causeOf(error))
      })
      request.once('response', (response) => {
        const status = response.statusCode ?? 0
        const chunks: Buffer[] = []
        let bytes = 0
        const settle = () => {
          const text = Buffer.concat(chunks).subarray(0, maxResponseBytes).toString()
          end(answerOf(status, text))
        }
        const cutOff = () => {
          settle()
          request.destroy()
        }
        // The status came in time; a body that does not end does not change it.
        readDeadline = cutOff
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length
          chunks.push(chunk)
          if (bytes > maxResponseBytes) cutOff()
        })
        response.once('end', settle)
        response.once('error', cutOff)
      })
      let readDeadline = () => fail(`no answer within ${timeoutMs / 1_000} s`, 'timeout')
      const cancel = deps.clock.after(timeoutMs, () => readDeadline())
      deps.signal.addEventListener('abort', stop)
      if (deps.signal.aborted) stop()
      request.end(body)
    })
  }

  return {
    async post(body, signature) {
      try {
        // An address needs no look-up, so nothing else would check it.
        if (isIP(hostOf(url)) !== 0) await permittedAddresses(deps, url)
      } catch (error) {
        return { kind: 'failed', error: messageOf(error), cause: causeOf(error) }
      }
      return attempt(body, signature, true)
    },
    close: () => agent.destroy(),
  }
}

/**
 * What a status means. A redirect is a refusal: it could lead to an unchecked address, and a POST would become a GET.
 */
function answerOf(status: number, response: string): PostAnswer {
  if (status >= 200 && status < 300) return { kind: 'taken', status, response }
  const redirect = status >= 300 && status < 400 ? '; redirects are not followed' : ''
  return { kind: 'refused', status, response, error: `HTTP ${status}${redirect}` }
}

/** With several addresses, Node's error has no message of its own but holds an error for each. */
function inWords(error: Error): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join('; ')
  return messageOf(error)
}

/** The cause, by our own guard and by the codes of Node, its look-up and OpenSSL; null: none that pages explain. */
function causeOf(error: unknown): WebhookCause | null {
  if (error instanceof Refused) return 'forbidden'
  const code = systemCode(error)
  return causes.get(code) ?? (ofTls.test(code) ? 'certificate' : null)
}

const causes: ReadonlyMap<string, WebhookCause> = new Map([
  ['ECONNREFUSED', 'refused'],
  ['ECONNRESET', 'closed'],
  ['EPIPE', 'closed'],
  ['ENOTFOUND', 'no-host'],
  ['EAI_AGAIN', 'no-host'],
  ['ETIMEDOUT', 'unreachable'],
  ['EHOSTUNREACH', 'unreachable'],
  ['ENETUNREACH', 'unreachable'],
])

// The codes of OpenSSL's verification and handshake; there are some fifty.
const ofTls =
  /CERT|CRL|ISSUER|VERIFY|HOSTNAME_MISMATCH|INVALID_(CA|PURPOSE)|^ERR_(TLS|SSL)_|^EPROTO$/
