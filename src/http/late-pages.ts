import { nextTurn } from '../bounded/index.js'
import { ApiError } from '../errors/index.js'
import type { Log } from '../log/index.js'
import type { Exchange } from './exchange.js'
import { nothingFound, type Pages, renderElsewhere, renderError } from './pages.js'
import type { Outgoing } from './reply.js'
import { type Endpoint, methodFor, type Route, RouteTable, turnDownAt } from './routes.js'

/** Adds pages. */
export type LoadPages = (pages: Pages) => Promise<void>

export interface LatePages {
  /** The route of an unknown path; undefined once all pages are loaded, and for the API's paths. */
  routeOf(path: string): Route | undefined
}

interface LateOptions {
  log: Log
  /** The bound of a body that no page takes. */
  maxBodyBytes: number
  makePages(routes: RouteTable): Pages
  isTaken(pattern: string): boolean
  serve(pattern: string, route: Route): void
}

/**
 * Loads pages for the first client that asks, and answers that client from here, as uWS looks for a path's route only
 * once. A failed load is tried again for the next client.
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
  const answer = async (exchange: Exchange): Promise<Outgoing> => {
    const { requestId, head } = exchange
    const routes = await all().catch((error: unknown) => {
      options.log.error({ error, requestId }, 'Pages could not be loaded')
    })
    const found = routes?.find(head.path)
    const endpoint = found?.route.methods.get(methodFor(head.method))
    exchange.boundBody(endpoint?.maxBodyBytes ?? options.maxBodyBytes)
    const answered =
      found && (endpoint?.serve(exchange, found.rawParams) ?? turnDownAt(found.route, exchange))
    if (answered !== undefined) return await answered
    return renderElsewhere(exchange, routes === undefined ? notLoaded() : nothingFound())
  }
  const first: Endpoint = {
    // Bounded once its page is known: until then no more of the body is held than of any that nobody has asked
    // for.
    maxBodyBytes: Number.POSITIVE_INFINITY,
    serve: answer,
    refuse: (exchange, error) => renderError(error, exchange.requestId),
    turnDown: answer,
  }
  const methods = new Map(['GET', 'POST'].map((method) => [method, first]))
  const route: Route = { pattern: '/*', path: 'unknown', params: 0, methods, allow: '' }
  return { routeOf: (path) => (isLoaded || path.startsWith('/v1/') ? undefined : route) }
}

/** This happens if the files were rebuilt since the start. */
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
  // uWS ends the process if a pattern is added twice.
  const twice = added.find(({ pattern }) => options.isTaken(pattern))
  if (twice !== undefined) throw new Error(`${twice.path} exists twice`)
  for (const route of added) options.serve(route.pattern, route)
  return routes
}
