import { nextTurn } from '../bounded/index.js'
import { ApiError } from '../errors/index.js'
import type { Log } from '../log/index.js'
import type { Exchange } from './exchange.js'
import { declaredBytes } from './guard.js'
import { formBytes, nothingFound, type Pages, renderElsewhere, renderError } from './pages.js'
import type { Outgoing } from './reply.js'
import { type Endpoint, type FoundRoute, type Route, RouteTable } from './routes.js'

/** Adds pages. */
export type LoadPages = (pages: Pages) => Promise<void>

export interface LatePages {
  /** What a path that is not there leads to; undefined when all pages are, and for the API's paths. */
  routeOf(path: string): Route | undefined
}

interface LateOptions {
  log: Log
  makePages(routes: RouteTable): Pages
  isTaken(pattern: string): boolean
  serve(pattern: string, route: Route): void
}

/**
 * Loads pages for whoever comes first, who is answered from here: uWS looks for a path's route but once. What can't be
 * loaded is tried again for the next.
 */
export function makeLatePages(load: LoadPages, options: LateOptions): LatePages {
  let loading: Promise<RouteTable> | undefined
  let isLoaded = false
  const all = (): Promise<RouteTable> => {
    loading ??= addAll(load, options).then(
      (routes) => {
        isLoaded = true
        return routes
      },
      (error) => {
        loading = undefined
        throw error
      },
    )
    return loading
  }
  const answer = async (
    exchange: Exchange,
    reply: (found: FoundRoute) => Outgoing | Promise<Outgoing> | undefined,
  ): Promise<Outgoing> => {
    const routes = await all().catch((error: unknown) => {
      options.log.error({ error, requestId: exchange.requestId }, 'Pages could not be loaded')
    })
    if (routes === undefined) return renderElsewhere(exchange, notLoaded())
    const found = routes.find(exchange.head.path)
    const given = found && reply(found)
    return given === undefined ? renderElsewhere(exchange, nothingFound()) : await given
  }
  const turnDown = (exchange: Exchange) =>
    answer(exchange, ({ route }) => {
      const [first] = route.methods.values()
      return first?.turnDown(exchange, route.allow)
    })
  const first: Endpoint = {
    maxBodyBytes: formBytes,
    async serve(exchange) {
      const { head } = exchange
      return await answer(exchange, ({ route, rawParams }) => {
        const endpoint = route.methods.get(head.method === 'HEAD' ? 'GET' : head.method)
        if (endpoint === undefined) return turnDown(exchange)
        return isTooLong(exchange, endpoint) ? again(exchange) : endpoint.serve(exchange, rawParams)
      })
    },
    refuse: (exchange, error) => renderError(error, exchange.requestId),
    turnDown,
  }
  const methods = new Map(['GET', 'POST'].map((method) => [method, first]))
  const route: Route = { pattern: '/*', path: 'unknown', params: 0, methods, allow: '' }
  return { routeOf: (path) => (isLoaded || path.startsWith('/v1/') ? undefined : route) }
}

/** As of a tree that was built anew since the start. */
const notLoaded = () =>
  new ApiError(
    'service_unavailable',
    'The pages could not be loaded. Restart the appliance if its files have changed since its start',
  )

async function addAll(load: LoadPages, options: LateOptions): Promise<RouteTable> {
  const routes = new RouteTable()
  await load(options.makePages(routes))
  // Not while uWS looks for a route.
  await nextTurn()
  const added = [...routes.freeze()]
  // uWS ends the process over a pattern that is added twice.
  const twice = added.find(({ pattern }) => options.isTaken(pattern))
  if (twice !== undefined) throw new Error(`${twice.path} exists twice`)
  for (const route of added) options.serve(route.pattern, route)
  return routes
}

/** A body for which there is room in its own page alone, whose bound was not known when it began to come. */
function isTooLong({ hasBody, head }: Exchange, { maxBodyBytes }: Endpoint): boolean {
  if (!hasBody || maxBodyBytes <= formBytes) return false
  return head.headers.has('transfer-encoding') || declaredBytes(head) > formBytes
}

/** RFC 9110 §15.4.8: the same request is made again, with its body. */
function again({ head: { path, query } }: Exchange): Outgoing {
  const location = query === '' ? path : `${path}?${query}`
  return { status: 307, headers: { Location: location }, body: '' }
}
