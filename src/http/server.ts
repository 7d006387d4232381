import { rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { type CountedTogether, nextTurn } from '../bounded/index.js'
import type { Clock } from '../clock/index.js'
import { type ApiError, OperatorError } from '../errors/index.js'
import type { Log } from '../log/index.js'
import { type Api, type ApiCallers, type ApiSettings, makeApi, type NoteChange } from './api.js'
import { makeClientAddress, makeIsTrusted } from './client-address.js'
import { type Answered, RequestWork, type ServerContext } from './context.js'
import { makeBodyMemory, makeBodyTimer } from './incoming-body.js'
import { makeLargeBodies } from './large-bodies.js'
import { type LatePages, type LoadPages, makeLatePages } from './late-pages.js'
import { type OverTls, prepareSocket } from './over-tls.js'
import { makePages, type Pages } from './pages.js'
import { makeRateLimiter, type RateLimit } from './rate-limit.js'
import { maxHeadBytes, openReceived } from './received.js'
import type { Repeats } from './repeats.js'
import { makeResponder } from './responder.js'
import { type Route, RouteTable } from './routes.js'

export interface HttpServerOptions<P> {
  host: string
  /** 0 takes a free one. */
  port: number
  log: Log
  clock: Clock
  /** Default 10 MiB; a route may have its own. */
  maxBodyBytes?: number
  /**
   * How much all unfinished requests may hold together; beyond it they get a 503. Default 256 MiB.
   */
  maxBodyMemoryBytes?: number
  /**
   * Throws an `ApiError` missing_api_key or invalid_api_key, or forbidden for a key used from
   * elsewhere. Not called on paths with `auth: false`.
   */
  authenticate?: (authorization: string | undefined, address: () => string) => Promise<P>
  /**
   * Throws an `ApiError` for a route (`GET /v1/emails/:id`) that this caller may not use. Default: all are
   * allowed.
   */
  permit?: (principal: P, route: string) => void
  /**
   * Called once for each route: gives the function that notes its changes before they are answered; undefined
   * notes nothing.
   */
  auditOf?: (route: string) => NoteChange<P> | undefined
  /**
   * Answers repeats of a POST with the same `Idempotency-Key`. Default: the header has no effect.
   */
  repeats?: Repeats<P>
  /** The key that requests are counted by. Default: everybody together. */
  rateKey?: (principal: P) => string
  /** The rate limit of the API, by key. Default 100 in 60 s; 0 requests = no limit. */
  rateLimit?: RateLimit
  /** The rate limit of the pages, by client address. Default none. */
  pageRateLimit?: RateLimit
  /** The counts that are shared with other nodes, by kind. Default: none. */
  together?: ((kind: string) => CountedTogether) | undefined
  /** Addresses or CIDR ranges whose X-Forwarded-For is believed. */
  trustedProxies?: string[]
  /**
   * Host names served, without port, besides literal addresses, and the advice for clients that use another one.
   * Default: any. Only pages and API paths that begin with `strictApi` are restricted to them.
   */
  allowedHosts?: string[]
  hostAdvice?: string
  strictApi?: string
  /** How long a body may take once somebody waits for it. Default 60 s. */
  bodyTimeoutMs?: number
  /** Present if TLS ends in front of this server. Default: it does not. */
  overTls?: OverTls | undefined
  /** Why this path is not served now; undefined if it is. */
  refuse?: (path: string) => ApiError | undefined
  /** Called after every answer; for metrics. */
  onAnswer?: (answer: Answered) => void
}

export interface HttpServer<P> {
  /** Known once it listens; for a server behind TLS only, the listener in front has the port. */
  readonly port: number
  readonly api: Api<P>
  /** Routes for callers of another kind, who authenticate differently; the same limits count their requests. */
  apiFor<Q>(callers: ApiCallers<Q>): Api<Q>
  readonly pages: Pages
  /**
   * Pages that are loaded at the first request for an unknown path, so that an appliance whose pages nobody
   * opens does without their code. Call it before `listen`.
   */
  loadPagesLater(load: LoadPages): void
  /** Starts to serve; no other route may be added afterwards. Throws an `OperatorError` if it can't. */
  listen(): Promise<void>
  /**
   * Takes no new connection, answers new requests with 503, gives those in flight `graceMs` to
   * end, then closes every connection.
   */
  close(graceMs: number): Promise<void>
}

/** Loads uWS (a native addon, hence only on demand) and prepares a server that does not listen yet. */
export async function openHttpServer<P>(options: HttpServerOptions<P>): Promise<HttpServer<P>> {
  // uWS 20.57 reads it once, when it is loaded. Browsers send the cookies of a whole site to a tracking host.
  process.env.UWS_HTTP_MAX_HEADERS_SIZE = String(maxHeadBytes)
  const { Server } = await import('hyper-express')
  const native = new Server({ auto_close: false })
  // hyper-express would add a second catch-all beside ours, and uWS would abort the process.
  Object.assign(native.handlers, { on_not_found: null })

  const { log, host, overTls } = options
  const closes = new AbortController()
  const context = contextOf(options, closes.signal)
  const routes = new RouteTable()
  const maxBodyBytes = options.maxBodyBytes ?? 10 * 1024 * 1024
  const forAll = apiSettings(options, context, maxBodyBytes)
  const api = makeApi<P>(forAll, routes)
  const { pageRateLimit, clock, together } = options
  const pageLimiter =
    pageRateLimit && makeRateLimiter(pageRateLimit, clock, { together: together?.('page') })
  const { strictApi, hostAdvice: advice = '' } = options
  const allowedHosts = options.allowedHosts && {
    names: new Set(options.allowedHosts.map((name) => name.toLowerCase())),
    advice,
  }
  const { received, look } = openReceived(native.uws_instance)
  const settings = { allowedHosts, strictApi, maxBodyBytes, standing: api, received }
  const respond = makeResponder(context, settings)
  let late: LatePages | undefined
  let closed: Promise<void> | undefined
  let socketOverTls: Parameters<typeof native.close>[0]

  const serve = (pattern: string, route: Route) => {
    native.uws_instance.any(pattern, (response, request) => respond(response, request, route))
  }
  async function shut(graceMs: number): Promise<void> {
    context.closing = true
    closes.abort()
    native.close()
    if (socketOverTls !== undefined) native.close(socketOverTls)
    await idleOrOver(context, graceMs)
    // Responses that have just ended are sent when uWS's callback returns.
    await nextTurn()
    // Missing from uWS's types. It closes every connection, which lets the process end.
    const app: typeof native.uws_instance & { close?(): void } = native.uws_instance
    app.close?.()
    if (overTls !== undefined) rmSync(overTls.socket, { force: true })
  }
  async function listenOverTls(over: OverTls): Promise<void> {
    prepareSocket(over)
    socketOverTls = await new Promise((resolve) =>
      native.uws_instance.listen_unix(resolve, over.socket),
    )
    if (!socketOverTls) throw new OperatorError(`Cannot listen on ${over.socket}`)
  }

  return {
    get port() {
      return native.port
    },
    api,
    apiFor: (callers) => makeApi({ ...forAll, ...callers }, routes),
    pages: makePages(context, pageLimiter, routes),
    loadPagesLater(load) {
      const makeThem = (those: RouteTable) => makePages(context, pageLimiter, those)
      const isTaken = (pattern: string) => routes.has(pattern)
      late = makeLatePages(load, { log, maxBodyBytes, makePages: makeThem, isTaken, serve })
    },
    async listen() {
      const alone = overTls?.only === true
      if (!alone && options.port !== 0) await probePort(host, options.port)
      for (const [pattern, route] of withTrailingSlashes(routes.freeze())) serve(pattern, route)
      native.uws_instance.any('/*', (response, request) =>
        respond(response, request, late?.routeOf(request.getUrl())),
      )
      if (overTls !== undefined) await listenOverTls(overTls)
      try {
        if (!alone) await native.listen(options.port, host)
      } catch (cause) {
        throw new OperatorError(`Cannot listen on ${host}:${options.port}`, { cause })
      }
      const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
      const at = overTls ? { path: overTls.socket } : { host: reachable, port: native.port }
      if (!(await look(at))) {
        log.warn({}, 'Bytes of headers that are not ASCII cannot be seen at their ends')
      }
      // Keeps the port known after the listening socket is gone.
      log.debug({ host, ...(!alone && { port: native.port }) }, 'HTTP server listens')
    },
    close(graceMs) {
      closed ??= shut(graceMs)
      return closed
    },
  }
}

// Two batches of a hundred mails of 10 KB: one is written while the next is read. With eight batches as values at once
// the main thread's heap was 17 MB larger (24 Nov 2026).
const largeBodyBytes = 2.5 * 1024 * 1024
const longestTurnMs = 500

function contextOf<P>(options: HttpServerOptions<P>, closes: AbortSignal): ServerContext {
  const { log, clock, overTls, onAnswer, refuse, trustedProxies = [] } = options
  return {
    log,
    clock,
    overTls,
    onAnswer,
    refuse,
    closes,
    bodyTimer: makeBodyTimer(clock, options.bodyTimeoutMs ?? 60_000),
    largeBodies: makeLargeBodies(clock, largeBodyBytes, longestTurnMs),
    bodyMemory: makeBodyMemory(options.maxBodyMemoryBytes ?? 256 * 1024 * 1024),
    clientAddress: makeClientAddress(trustedProxies),
    isTrusted: makeIsTrusted(trustedProxies),
    work: new RequestWork(),
    closing: false,
  }
}

function apiSettings<P>(
  options: HttpServerOptions<P>,
  context: ServerContext,
  maxBodyBytes: number,
): ApiSettings<P> {
  const { authenticate, permit, auditOf, repeats, rateKey = () => '' } = options
  const { rateLimit = { requests: 100, windowMs: 60_000 }, together } = options
  const limiter = (kind: string) =>
    makeRateLimiter(rateLimit, context.clock, { together: together?.(kind) })
  return {
    context,
    maxBodyBytes,
    authenticate,
    permit,
    auditOf,
    repeats,
    rateKey,
    clients: limiter('key'),
    strangers: limiter('address'),
  }
}

/** Resolves when no request is in flight, and after `graceMs` in any case. */
function idleOrOver({ clock, work }: ServerContext, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(graceMs, resolve)
    work.whenIdle(() => {
      cancel()
      resolve()
    })
  })
}

/**
 * In the API a trailing slash changes nothing; on a page it would break relative links. A Map, as uWS
 * ends the process if a pattern is added twice.
 */
function withTrailingSlashes(routes: Iterable<Route>): Map<string, Route> {
  const all = new Map([...routes].map((route) => [route.pattern, route]))
  for (const [pattern, route] of [...all]) {
    if (pattern.startsWith('/v1/')) all.set(pattern.replace(/\/?$/, '/'), route)
  }
  return all
}

/**
 * uWS listens with SO_REUSEPORT, so a second Posthorn would silently take half of the connections.
 * A plain socket does not get a used port, and tells why.
 */
export function probePort(host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = createServer()
    socket.once('error', (cause) => {
      reject(new OperatorError(`Cannot listen on ${host}:${port}: ${cause.message}`, { cause }))
    })
    socket.listen({ host, port, exclusive: true }, () => socket.close(() => resolve()))
  })
}
