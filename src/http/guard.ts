import { isIP } from 'node:net'
import type { Server } from 'hyper-express'
import type { Received } from './received.js'

/** uWS's own request and response, typed by way of hyper-express: the one package that we declare. */
type Receive = Parameters<Server['uws_instance']['any']>[1]
export type NativeResponse = Parameters<Receive>[0]
export type NativeRequest = Parameters<Receive>[1]

/** The part before the body, copied, as uWS frees its request when the callback returns. */
export interface Head {
  /** As sent: `get` is a different method from GET (RFC 9110 §9.1). */
  method: string
  /** As sent, percent-encoding included, without the query. */
  path: string
  query: string
  /** Names in lower case; repeated fields joined (RFC 9110 §5.3). */
  headers: Map<string, string>
  /** Set when the request must not be served: see `README.md`, rows 1, 4 and 11. */
  fault: Fault | undefined
}

export interface Fault {
  status: number
  message: string
}

/** Copies the head out of uWS's request and finds what uWS should have refused. */
export function readHead(request: NativeRequest, received: Received): Head {
  const headers = new Map<string, string>()
  let fault: Fault | undefined
  const take = (name: string, value: string) => {
    const earlier = headers.get(name)
    if (earlier === undefined) {
      headers.set(name, value)
    } else if (name === 'content-length' || name === 'transfer-encoding' || name === 'host') {
      // RFC 9112 §6.3, §3.2: a server that picks one of two lengths or hosts helps request
      // smuggling.
      fault = { status: 400, message: `The request has two ${name} headers; expected one` }
    } else {
      headers.set(name, `${earlier}${name === 'cookie' ? ';' : ','} ${value}`)
    }
  }
  const method = request.getCaseSensitiveMethod()
  const path = request.getUrl()
  // Undefined without a question mark, whatever its type says.
  const query = request.getQuery() || ''
  let told = 0
  request.forEach((name, value) => {
    told++
    take(name, value)
  })
  // uWS cuts bytes that are not ASCII off both ends of a value, so we read the values ourselves if we
  // can.
  const fields = received.fields({ method, path, query }, told, (each) => request.forEach(each))
  if (fields !== undefined && fields !== 'plain') {
    headers.clear()
    for (const [name, value] of fields) take(name, value)
  }
  const key = headers.get('idempotency-key')
  const cut = fields === undefined && key !== undefined && received.showsCut(key)
  return {
    method,
    path,
    query,
    headers,
    fault: fault ?? framingFault(headers) ?? (cut ? cutKey : undefined),
  }
}

// Two keys that differ only in what uWS cuts off would be one, and the second mail would never be
// sent.
const cutKey: Fault = {
  status: 400,
  message: 'Idempotency-Key: expected 1 to 255 visible ASCII characters',
}

// uWS knows only the exact coding `chunked`: any other spelling reaches us as 'no body', and the
// body's bytes as the next request.
function framingFault(headers: Map<string, string>): Fault | undefined {
  const length = headers.get('content-length')
  const coding = headers.get('transfer-encoding')
  if (length !== undefined && coding !== undefined) {
    return {
      status: 400,
      message: 'The request has both content-length and transfer-encoding; expected one of them',
    }
  }
  // Fifteen digits stay exact as a number; `+5`, `0x5` and blanks are not what RFC 9110 §8.6 allows.
  if (length !== undefined && !/^\d{1,15}$/.test(length)) {
    return { status: 400, message: 'Invalid content-length' }
  }
  // RFC 9112 §6.1: 501 for a transfer coding that a server does not understand.
  if (coding !== undefined && coding !== 'chunked') {
    return { status: 501, message: 'The only transfer-encoding that is supported is chunked' }
  }
  return undefined
}

/** The requested host, in lower case, without its port. */
export const hostOf = ({ headers }: Head) =>
  (headers.get('host') ?? '').toLowerCase().replace(/:\d+$/, '')

/** Whether bytes of a body follow the head. */
export function announcesBody(head: Head): boolean {
  return head.headers.has('transfer-encoding') || declaredBytes(head) > 0
}

/** The bytes of the body by Content-Length; 0 without one, NaN if it is no number. */
export function declaredBytes(head: Head): number {
  return Number(head.headers.get('content-length') ?? 0)
}

/**
 * Refuses names that are not the listener's: otherwise a foreign page whose name was re-bound to
 * this address could use the browser's place on the local network. A literal address cannot be
 * re-bound, so it is always let in.
 */
export function hostFault(head: Head, { names, advice }: AllowedHosts): Fault | undefined {
  const host = hostOf(head)
  if (names.has(host) || isIP(host.replace(/^\[|\]$/g, '')) !== 0) return undefined
  const shown = host.replace(/[^\x21-\x7e]/g, '?').slice(0, 100)
  // RFC 9110 §15.5.20: the request reached a server that its host does not name.
  return { status: 421, message: `This server is not known as "${shown}"${advice}` }
}

/** The names of a listener. */
export interface AllowedHosts {
  /** In lower case, without port, beside literal addresses. */
  names: ReadonlySet<string>
  /** What to do about another name, as the end of a sentence: `: …`; '' if nothing can be done. */
  advice: string
}
