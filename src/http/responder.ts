import { ApiError } from '../errors/index.js'
import type { ApiStanding } from './api.js'
import type { ServerContext } from './context.js'
import { Exchange } from './exchange.js'
import { errorResponse } from './failure.js'
import {
  type AllowedHosts,
  type Fault,
  hostFault,
  type NativeRequest,
  type NativeResponse,
  readHead,
} from './guard.js'
import { sendToTls } from './over-tls.js'
import { nothingFound, renderElsewhere } from './pages.js'
import type { Received } from './received.js'
import type { Outgoing } from './reply.js'
import { methodFor, type Route, turnDownAt } from './routes.js'

type Responder = (
  response: NativeResponse,
  request: NativeRequest,
  /** The path's, or `undefined` for a path that nobody added. */
  route: Route | undefined,
) => void

// The methods that metrics tell apart; otherwise a client could make a new series with each
// request.
const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

export interface ResponderSettings {
  /** Undefined: any. */
  allowedHosts: AllowedHosts | undefined
  /** The beginning of those API paths that are served only by these names too. */
  strictApi: string | undefined
  /** For routes without a limit of their own. */
  maxBodyBytes: number
  /** The rate-limit headers of answers under `/v1` that no route gives. */
  standing: ApiStanding
  received: Received
}

/** The function that uWS calls with every request; it gives exactly one response. */
export function makeResponder(
  context: ServerContext,
  { allowedHosts, strictApi, maxBodyBytes, standing, received }: ResponderSettings,
): Responder {
  /**
   * Sends an answer that needs no wait within uWS's callback: promises, and a callback for clients that hang up, took a
   * seventh of a pixel's time (54 → 46 µs without its writes, 24 Nov 2026).
   */
  function respond(
    exchange: Exchange,
    route: Route | undefined,
    answer: Outgoing | Promise<Outgoing>,
  ): void {
    context.work.begin()
    const began = performance.now()
    if (answer instanceof Promise) return void respondLater(exchange, route, answer, began)
    try {
      const sending = exchange.send(answer)
      if (sending === undefined) ended(exchange, route, answer.status, began)
      else void respondLater(exchange, route, answer, began, sending)
    } catch (error) {
      void respondLater(exchange, route, Promise.reject(error), began)
    }
  }

  async function respondLater(
    exchange: Exchange,
    route: Route | undefined,
    answer: Outgoing | Promise<Outgoing>,
    began: number,
    sending?: Promise<void>,
  ): Promise<void> {
    let status = 500
    try {
      const outgoing = await answer
      await (sending ?? exchange.send(outgoing))
      status = outgoing.status
    } catch (error) {
      // A handler's headers cannot be sent, or we have a bug.
      const { requestId } = exchange
      context.log.error({ requestId, error }, 'Response failed unexpectedly')
      try {
        await exchange.send(errorResponse(error))
      } catch {
        exchange.drop()
      }
    } finally {
      ended(exchange, route, status, began)
    }
  }

  function ended(
    { head: { method } }: Exchange,
    route: Route | undefined,
    status: number,
    began: number,
  ): void {
    context.onAnswer?.({
      method: methods.has(method) ? method : 'other',
      route: route?.path ?? 'unknown',
      status,
      seconds: (performance.now() - began) / 1_000,
    })
    context.work.end()
  }

  function handle(exchange: Exchange, request: NativeRequest, route: Route | undefined): void {
    const { head } = exchange
    if (exchange.cameBy === 'unknown') {
      exchange.drop()
      return
    }
    // DNS rebinding borrows a browser's network access, but the API needs a key, which no browser has. Only a stolen
    // key of the operator's could use it, to pass the networks that the key is bound to.
    const isApi = head.path.startsWith('/v1/')
    const isStrict = strictApi !== undefined && head.path.startsWith(strictApi)
    const open = isApi && !isStrict ? undefined : allowedHosts
    const fault = head.fault ?? (open && hostFault(head, open))
    if (fault !== undefined) {
      // Not at once: while this request waits, uWS closes the connection instead of reading on, so
      // that bytes that a wrong length makes 'the next request' are never served.
      setImmediate(() => {
        // uWS cannot end a response without a body together with its connection.
        if (head.method === 'HEAD') exchange.drop()
        else {
          const headers = isApi ? standing.ofStranger(exchange) : {}
          respond(exchange, route, faultResponse(fault, headers))
        }
      })
      return
    }
    const method = methodFor(head.method)
    const endpoint = route?.methods.get(method)
    const isPlain = context.overTls !== undefined && exchange.cameBy === 'tcp'
    // Never a POST, which most clients would repeat as a GET (RFC 9110 §15.4.2).
    const mayLead = isPlain && method === 'GET' && endpoint?.alsoPlain !== true
    const secure = mayLead && context.overTls ? sendToTls(context.overTls, head) : undefined
    exchange.receiveBody(endpoint?.maxBodyBytes ?? maxBodyBytes, endpoint?.bodyInPieces)
    const refusal = context.closing ? leaving() : context.refuse?.(head.path)
    if (refusal !== undefined) {
      const refused = endpoint?.refuse(exchange, refusal) ?? errorResponse(refusal)
      respond(exchange, route, refused)
    } else if (secure !== undefined) {
      respond(exchange, route, secure)
    } else if (route !== undefined && endpoint !== undefined) {
      const raw: string[] = []
      // Never empty here: uWS 20.57 gives no parameter only if the pattern has none of that index.
      for (let i = 0; i < route.params; i++) raw.push(request.getParameter(i) ?? '')
      respond(exchange, route, endpoint.serve(exchange, raw))
    } else {
      respond(exchange, route, turnDown(exchange, route, standing))
    }
  }

  return (response, request, route) => {
    const exchange = new Exchange(response, readHead(request, received), context)
    try {
      handle(exchange, request, route)
    } finally {
      if (!exchange.ended) exchange.outlive()
    }
  }
}

async function turnDown(
  exchange: Exchange,
  route: Route | undefined,
  standing: ApiStanding,
): Promise<Outgoing> {
  const turned = route && turnDownAt(route, exchange)
  if (turned !== undefined) return await turned
  if (!exchange.head.path.startsWith('/v1/')) return renderElsewhere(exchange, nothingFound())
  return errorResponse(nothingFound(), await standing.ofCaller(exchange))
}

function leaving(): ApiError {
  return new ApiError('service_unavailable', 'The server is shutting down', {
    headers: { 'Retry-After': '5' },
  })
}

function faultResponse({ status, message }: Fault, headers: Record<string, string>): Outgoing {
  const code = status === 421 ? 'forbidden' : 'validation_error'
  return { ...errorResponse(new ApiError(code, message, { status }), headers), close: true }
}
