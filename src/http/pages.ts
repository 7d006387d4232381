import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { ApiError } from '../errors/index.js'
import { methodNotAllowed } from './api.js'
import { networkKey } from './client-address.js'
import type { ServerContext } from './context.js'
import { errorPage } from './error-page.js'
import type { Exchange } from './exchange.js'
import { errorResponse, logUnexpected } from './failure.js'
import { emptyForm, type Form, parseForm } from './form.js'
import { noBytes } from './incoming-body.js'
import { type RateLimiter, refuseExcess } from './rate-limit.js'
import { FixedHeaders, type Outgoing } from './reply.js'
import { decodeParams, type Endpoint, paramNames, type RouteTable } from './routes.js'
import { openUpload, type Upload } from './upload.js'

export interface PageRequest {
  /** `HEAD` for a GET that wants only the head. */
  method: string
  /** As sent, without the query. */
  path: string
  params: Record<string, string>
  query: URLSearchParams
  form: Form
  rawBody: Buffer
  requestId: string
  remoteAddress: string
  /** The part of the address that one client cannot change at will, for rate limits. */
  clientAddressKey: string
  /** Aborted when the client has gone or the server closes: an endless stream must then end. */
  signal: AbortSignal
  /** The client speaks TLS with us, or with a proxy of ours. */
  isSecure: boolean
  /** The file of a page with `upload`, while it arrives. Called once, if at all. */
  upload(): Promise<Upload>
  /** `name` in lower case. */
  header(name: string): string | undefined
  cookie(name: string): string | undefined
}

type Headers = Record<string, string | string[]>

/**
 * What a page handler returns. `headers` win over the defaults; several `Set-Cookie` as an array. `fixed` takes the
 * place of the defaults.
 */
export type Page = { status?: number; headers?: Headers; fixed?: PageHeaders } & (
  | { html: string }
  | { text: string; contentType?: string }
  | { bytes: Buffer; contentType: string }
  /**
   * Sent piece by piece (16 to 64 KiB is a good size), at the client's pace; uWS ends a connection that is silent
   * for 10 s.
   */
  | { stream: AsyncIterable<string | Buffer>; contentType: string }
  /**
   * 303 unless `status` says otherwise: after a POST the browser goes on with a GET (RFC 9110 §15.4.4), so that a
   * reload repeats nothing.
   */
  | { redirect: string }
)

export type PageHandler = (request: PageRequest) => Page | Promise<Page>

export interface PageShape {
  /** Default 64 KiB, which a form needs. For more, let `admit` say which clients may send it. */
  maxBodyBytes?: number
  /**
   * Called with the head alone (`form` and `rawBody` are empty), before more of the body is read: its answer or error
   * goes to a client that is not let in. Undefined: the body is read, and the handler called.
   */
  admit?: (request: PageRequest) => Promise<Page | undefined>
  /** Takes a file in this field of the form, piece by piece: `request.upload()`. `form` is empty then. */
  upload?: string
  /** Lets a form on another site post here. Mail providers' one-click posts do not need it. */
  crossSite?: true
  /**
   * Headers of the answer to OPTIONS, which browsers send before pages elsewhere may post more than a
   * form.
   */
  preflight?: Readonly<Record<string, string>>
  /** Takes any content type; the handler reads `rawBody`. */
  raw?: true
  /** Answers JSON to programs: refusals before the handler are JSON too, with these headers. */
  asJson?: Readonly<Record<string, string>>
  /** Not counted in `pageRateLimit`: the handler itself refuses. */
  unlimited?: true
  /** A GET is answered without TLS too, although the listener leads all others to TLS. */
  alsoPlain?: true
}

/** Where pages for browsers are added: no API key, forms in, HTML out. */
export interface Pages {
  get(
    path: string,
    handler: PageHandler,
    shape?: Pick<PageShape, 'unlimited' | 'alsoPlain' | 'asJson'>,
  ): void
  post(path: string, shape: PageShape, handler: PageHandler): void
  /**
   * A small file that does not change, with an ETag, gzipped for clients that take it. It is read now and again at
   * each request, as these are rare. Default `cacheControl`: `no-cache` (ask each time).
   */
  file(path: string, file: { read: () => Buffer; contentType: string; cacheControl?: string }): void
}

const formBytes = 64 * 1024
const isText = /^text\/|javascript|json|xml/

/** No script but our own files, no framing, no address of ours in other sites' logs. */
const pageHeaders: Record<string, string> = {
  'Content-Security-Policy':
    "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'",
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
  // Pages show strangers' links, whose names must be looked up only after a click.
  'X-DNS-Prefetch-Control': 'off',
  'Cache-Control': 'no-store',
}

/** `limiter` counts by client address. */
export function makePages(
  context: ServerContext,
  limiter: RateLimiter | undefined,
  routes: RouteTable,
): Pages {
  const add = (method: string, path: string, shape: PageShape, handler: PageHandler) => {
    routes.add(method, path, makeEndpoint(context, limiter, method, path, shape, handler))
  }
  return {
    get: (path, handler, shape = {}) => add('GET', path, shape, handler),
    post: (path, shape, handler) => add('POST', path, shape, handler),
    file(path, { read, contentType, cacheControl = 'no-cache' }) {
      // RFC 9110 §8.8.1: a weak ETag, as both codings share it; §13.1.2: a weak comparison is enough here.
      const hashOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('base64url')
      const hash = hashOf(read())
      const tag = `"${hash.slice(0, 22)}"`
      const plain = { ETag: `W/${tag}`, 'Cache-Control': cacheControl, Vary: 'Accept-Encoding' }
      let packed: Buffer | undefined
      // Browsers keep the file for good, by the name that it had at the start.
      const asItWas = () => {
        const bytes = read()
        if (hashOf(bytes) === hash) return bytes
        throw new Error(`The file at ${path} has changed since the start: restart the appliance`)
      }
      add('GET', path, {}, (request) => {
        if ((request.header('if-none-match') ?? '').includes(tag)) {
          // RFC 9110 §15.4.5: a 304 has the ETag and the caching headers of the 200, and no body.
          return { status: 304, bytes: Buffer.alloc(0), contentType, headers: plain }
        }
        // RFC 9110 §12.4.2: a weight of 0 means that the client does not take it.
        const takesGzip = /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i
        if (!isText.test(contentType) || !takesGzip.test(request.header('accept-encoding') ?? '')) {
          return { bytes: asItWas(), contentType, headers: plain }
        }
        packed ??= gzipSync(asItWas(), { level: 9 })
        const headers = { ...plain, 'Content-Encoding': 'gzip' }
        return { bytes: packed, contentType, headers }
      })
    },
  }
}

function makeEndpoint(
  context: ServerContext,
  limiter: RateLimiter | undefined,
  method: string,
  path: string,
  shape: PageShape,
  handler: PageHandler,
): Endpoint {
  const names = paramNames(path)

  /** Returns at once if the handler waits for nothing: pixels are requested by the thousand. */
  function answer(exchange: Exchange, raw: string[]): Outgoing | Promise<Outgoing> {
    if (limiter !== undefined && !shape.unlimited) {
      refuseExcess(limiter.take(networkKey(exchange.remoteAddress)))
    }
    if (method === 'POST' && !shape.crossSite) refuseForeign(exchange)
    refuseCoded(exchange)
    const params = decodeParams(names, raw)
    if (params === undefined) throw new ApiError('not_found', 'Not found')
    const request = new HeadRequest(exchange, params)
    if (shape.admit !== undefined || exchange.hasBody) return answerBody(exchange, request)
    const page = handler(request)
    return page instanceof Promise ? page.then(render) : render(page)
  }

  async function answerBody(exchange: Exchange, request: HeadRequest): Promise<Outgoing> {
    const refusal = await shape.admit?.(request)
    if (refusal !== undefined) return render(refusal)
    const { upload } = shape
    if (upload !== undefined) {
      const type = exchange.header('content-type')
      request.upload = () => openUpload(exchange.bodyPieces(), type, upload)
      return render(await handler(request))
    }
    request.rawBody = await exchange.readBody()
    if (method === 'POST' && !shape.raw && request.rawBody.length > 0) {
      request.form = parseForm(request.rawBody, exchange.header('content-type'))
    }
    return render(await handler(request))
  }

  const refused = (exchange: Exchange, error: unknown): Outgoing =>
    shape.asJson === undefined
      ? renderError(error, exchange.requestId)
      : errorResponse(error, shape.asJson)
  const rendered = (exchange: Exchange, error: unknown) => {
    logUnexpected(context.log, exchange.requestId, path, error)
    return refused(exchange, error)
  }

  return {
    maxBodyBytes: shape.maxBodyBytes ?? formBytes,
    bodyInPieces: shape.upload !== undefined,
    alsoPlain: shape.alsoPlain === true,

    serve(exchange, raw) {
      try {
        const outgoing = answer(exchange, raw)
        if (!(outgoing instanceof Promise)) return outgoing
        return outgoing.catch((error) => rendered(exchange, error))
      } catch (error) {
        return rendered(exchange, error)
      }
    },

    refuse: refused,

    turnDown(exchange, allow) {
      if (exchange.head.method === 'OPTIONS') {
        return { status: 204, headers: { Allow: allow, ...shape.preflight }, body: '' }
      }
      const outgoing = refused(exchange, methodNotAllowed(exchange, allow))
      return { ...outgoing, headers: { ...outgoing.headers, Allow: allow } }
    },
  }
}

/** The request before its body is read. */
class HeadRequest implements PageRequest {
  form = emptyForm
  rawBody: Buffer = noBytes
  upload = (): Promise<Upload> => Promise.reject(new Error(`${this.path} takes no upload`))
  readonly params: Record<string, string>
  readonly remoteAddress: string
  readonly isSecure: boolean
  readonly #exchange: Exchange
  #query: URLSearchParams | undefined
  // Bound, as handlers destructure the request.
  readonly header = (name: string) => this.#exchange.header(name)
  readonly cookie = (name: string) => cookie(this.#exchange.header('cookie'), name)

  constructor(exchange: Exchange, params: Record<string, string>) {
    this.#exchange = exchange
    this.params = params
    // Read at once: a client that has hung up has no address any more, and no log would show it.
    this.remoteAddress = exchange.remoteAddress
    this.isSecure = exchange.isSecure
  }

  get method(): string {
    return this.#exchange.head.method
  }

  get path(): string {
    return this.#exchange.head.path
  }

  // Parsed on demand, as most requests have none.
  get query(): URLSearchParams {
    this.#query ??= new URLSearchParams(this.#exchange.head.query)
    return this.#query
  }

  get requestId(): string {
    return this.#exchange.requestId
  }

  get clientAddressKey(): string {
    return networkKey(this.remoteAddress)
  }

  get signal(): AbortSignal {
    return this.#exchange.signal
  }
}

// No browser compresses what it posts, and a few gzipped bytes become megabytes.
function refuseCoded(exchange: Exchange): void {
  const coding = exchange.header('content-encoding')?.trim().toLowerCase() ?? 'identity'
  if (coding === 'identity') return
  throw new ApiError('unsupported_media_type', 'Send the form without a Content-Encoding', {
    headers: { 'Accept-Encoding': 'identity' },
  })
}

export const nothingFound = () => new ApiError('not_found', 'There is nothing at this path')

/**
 * An error for a path without a page. RFC 9110 §12.5.1 allows weights; browsers name HTML for a page, programs mostly
 * send anything.
 */
export function renderElsewhere(exchange: Exchange, error: ApiError): Outgoing {
  const wantsHtml = exchange.header('accept')?.includes('text/html') === true
  if (!wantsHtml) return errorResponse(error)
  const shown =
    error.code === 'not_found' ? new ApiError('not_found', 'There is no page here') : error
  return renderError(shown, exchange.requestId)
}

/** The small page that a browser gets for anything that went wrong. */
export function renderError(error: unknown, requestId: string): Outgoing {
  const { status, headers, html } = errorPage(error, requestId)
  return render({ status, headers, html })
}

function render(page: Page): Outgoing {
  if ('redirect' in page) {
    // Encoding characters that a URL cannot hold also keeps line ends out of the header.
    const location = isVisible.test(page.redirect)
      ? page.redirect
      : page.redirect.replace(/[^\x21-\x7e]/gu, encodeURIComponent)
    return outgoing(page, page.status ?? 303, { Location: location }, '')
  }
  if ('stream' in page) {
    const { stream, contentType } = page
    return { ...outgoing(page, page.status ?? 200, { 'Content-Type': contentType }, ''), stream }
  }
  const [type, body] =
    'html' in page
      ? ['text/html; charset=utf-8', page.html]
      : 'text' in page
        ? [page.contentType ?? 'text/plain; charset=utf-8', page.text]
        : [page.contentType, page.bytes]
  return outgoing(page, page.status ?? 200, { 'Content-Type': type }, body)
}

const isVisible = /^[\x21-\x7e]*$/

function outgoing(page: Page, status: number, first: Headers, body: string | Buffer): Outgoing {
  const { headers: own, fixed } = page
  if (own === undefined) return { status, headers: first, fixed: fixed ?? plainPage, body }
  if (fixed !== undefined) return { status, headers: { ...first, ...own }, fixed, body }
  return { status, headers: { ...pageHeaders, ...first, ...own }, body }
}

const plainPage = new FixedHeaders(pageHeaders)

/** Headers of many answers, combined with the defaults once. */
export class PageHeaders extends FixedHeaders {
  constructor(headers: Record<string, string>) {
    super({ ...pageHeaders, ...headers })
  }
}

// A page elsewhere can make a browser post here with its cookies. Browsers tell it in these two
// headers, which pages cannot set; mail servers and scripts send neither.
function refuseForeign(exchange: Exchange): void {
  const site = exchange.header('sec-fetch-site')
  const origin = exchange.header('origin')
  const foreign =
    site === undefined
      ? origin !== undefined && origin.replace(/^https?:\/\//, '') !== exchange.header('host')
      : site !== 'same-origin' && site !== 'none'
  if (foreign) {
    const message =
      'This form can only be sent from the page it is on: open that page again and send the form there'
    throw new ApiError('forbidden', message)
  }
}

/**
 * RFC 6265 §5.4: browsers send the longer path's cookie first of two with one name, and a server cannot tell them
 * apart. The first one counts; the session's `__Host-` cookie has no second one over TLS.
 */
function cookie(header: string | undefined, name: string): string | undefined {
  for (const pair of header?.split(';') ?? []) {
    const equals = pair.indexOf('=')
    if (pair.slice(0, equals).trim() === name) return pair.slice(equals + 1).trim()
  }
  return undefined
}
