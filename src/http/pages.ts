import { createHash } from 'node:crypto'
import { ApiError } from '../errors/index.js'
import { methodNotAllowed } from './api.js'
import { addressKey } from './client-address.js'
import type { ServerContext } from './context.js'
import { errorPage } from './error-page.js'
import type { Exchange } from './exchange.js'
import { logUnexpected } from './failure.js'
import { emptyForm, type Form, parseForm } from './form.js'
import { type RateLimiter, refuseExcess } from './rate-limit.js'
import type { Outgoing } from './reply.js'
import { decodeParams, type Endpoint, paramNames, type RouteTable } from './routes.js'

export interface PageRequest {
  /** `HEAD` where a GET is asked for its head alone. */
  method: string
  params: Record<string, string>
  query: URLSearchParams
  form: Form
  rawBody: Buffer
  requestId: string
  remoteAddress: string
  /** What of it one client cannot change at will, for counting by. */
  addressKey: string
  /** `name` in lower case. */
  header(name: string): string | undefined
  cookie(name: string): string | undefined
}

type Headers = Record<string, string | string[]>

/** What a page handler returns. `headers` win over the defaults; several `Set-Cookie` as an array. */
export type Page = { status?: number; headers?: Headers } & (
  | { html: string }
  | { text: string; contentType?: string }
  | { bytes: Buffer; contentType: string }
  /** 303 unless `status` says otherwise. */
  | { redirect: string }
)

export type PageHandler = (request: PageRequest) => Page | Promise<Page>

export interface PageShape {
  /** Default 64 KiB, the room that a form needs. */
  maxBodyBytes?: number
  /** Lets a form on another site post here. Mail providers' one-click posts do not need it. */
  crossSite?: true
  /** Takes any content type; the handler reads `rawBody`. */
  raw?: true
  /** Not counted in `pageRateLimit`: the handler refuses on its own grounds. */
  unlimited?: true
}

/** Where pages for browsers are added: no API key, forms in, HTML out. */
export interface Pages {
  get(path: string, handler: PageHandler, shape?: Pick<PageShape, 'unlimited'>): void
  post(path: string, shape: PageShape, handler: PageHandler): void
  /** A small file from memory, with an ETag. Default `cacheControl`: `no-cache` (ask each time). */
  file(path: string, file: { bytes: Buffer; contentType: string; cacheControl?: string }): void
}

const formBytes = 64 * 1024

/** No script but our own files, no framing, no address of ours in other sites' logs. */
const pageHeaders: Headers = {
  'Content-Security-Policy':
    "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'",
  'X-Content-Type-Options': 'nosniff',
  'X-Frame-Options': 'DENY',
  'Referrer-Policy': 'no-referrer',
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
    file(path, { bytes, contentType, cacheControl = 'no-cache' }) {
      const tag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`
      const headers = { ETag: tag, 'Cache-Control': cacheControl }
      add('GET', path, {}, (request) =>
        // RFC 9110 §13.1.2: a weak comparison is enough here.
        (request.header('if-none-match') ?? '').includes(tag)
          ? { status: 304, bytes: Buffer.alloc(0), contentType, headers }
          : { bytes, contentType, headers },
      )
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

  async function answer(exchange: Exchange, raw: string[]): Promise<Outgoing> {
    if (limiter !== undefined && !shape.unlimited) {
      refuseExcess(limiter.take(addressKey(exchange.remoteAddress)))
    }
    if (method === 'POST' && !shape.crossSite) refuseForeign(exchange)
    const rawBody = await exchange.readBody()
    const params = decodeParams(names, raw)
    if (params === undefined) throw new ApiError('not_found', 'Not found')
    const isForm = method === 'POST' && !shape.raw && rawBody.length > 0
    const page = await handler({
      method: exchange.head.method,
      params,
      query: new URLSearchParams(exchange.head.query),
      form: isForm ? parseForm(rawBody, exchange.header('content-type')) : emptyForm,
      rawBody,
      requestId: exchange.requestId,
      get remoteAddress() {
        return exchange.remoteAddress
      },
      get addressKey() {
        return addressKey(exchange.remoteAddress)
      },
      header: (name) => exchange.header(name),
      cookie: (name) => cookie(exchange.header('cookie'), name),
    })
    return render(page)
  }

  return {
    maxBodyBytes: shape.maxBodyBytes ?? formBytes,

    async serve(exchange, raw) {
      try {
        return await answer(exchange, raw)
      } catch (error) {
        logUnexpected(context.log, exchange.requestId, path, error)
        return renderError(error, exchange.requestId)
      }
    },

    refuse: (exchange, error) => renderError(error, exchange.requestId),

    turnDown(exchange, allow) {
      if (exchange.head.method === 'OPTIONS') {
        return { status: 204, headers: { Allow: allow }, body: '' }
      }
      const outgoing = renderError(methodNotAllowed(exchange, allow), exchange.requestId)
      return { ...outgoing, headers: { ...outgoing.headers, Allow: allow } }
    },
  }
}

/** The small page that a browser gets for anything that went wrong. */
export function renderError(error: unknown, requestId: string): Outgoing {
  const { status, headers, html } = errorPage(error, requestId)
  return render({ status, headers, html })
}

function render(page: Page): Outgoing {
  if ('redirect' in page) {
    // Encoding what a URL cannot hold also keeps line ends out of the header.
    const location = page.redirect.replace(/[^\x21-\x7e]/gu, encodeURIComponent)
    const headers = { ...pageHeaders, Location: location, ...page.headers }
    return { status: page.status ?? 303, headers, body: '' }
  }
  const [type, body] =
    'html' in page
      ? ['text/html; charset=utf-8', page.html]
      : 'text' in page
        ? [page.contentType ?? 'text/plain; charset=utf-8', page.text]
        : [page.contentType, page.bytes]
  const headers = { ...pageHeaders, 'Content-Type': type, ...page.headers }
  return { status: page.status ?? 200, headers, body }
}

// A page elsewhere can make a browser post here with its cookies. Browsers say so in these two
// headers, which pages cannot set; mail servers and scripts send neither.
function refuseForeign(exchange: Exchange): void {
  const site = exchange.header('sec-fetch-site')
  const origin = exchange.header('origin')
  const foreign =
    site === undefined
      ? origin !== undefined && origin.replace(/^https?:\/\//, '') !== exchange.header('host')
      : site !== 'same-origin' && site !== 'none'
  if (foreign) throw new ApiError('forbidden', 'This form can only be sent from its own page')
}

function cookie(header: string | undefined, name: string): string | undefined {
  for (const pair of header?.split(';') ?? []) {
    const equals = pair.indexOf('=')
    if (pair.slice(0, equals).trim() === name) return pair.slice(equals + 1).trim()
  }
  return undefined
}
