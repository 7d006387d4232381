import { uuidForm } from '../fields/index.js'
import type { Exchange } from './exchange.js'
import type { Outgoing } from './reply.js'

/** What one method of one path does. */
export interface Endpoint {
  readonly maxBodyBytes: number
  /** The body is read while it arrives, and never held as a whole. */
  readonly bodyInPieces?: boolean
  /** Is served without TLS too, although all others are led to it. */
  readonly alsoPlain?: boolean
  /**
   * Neither throws nor rejects for a client's fault: errors come back rendered. Returns at once if nothing waits.
   */
  serve(exchange: Exchange, rawParams: string[]): Outgoing | Promise<Outgoing>
  /** Renders an error that does not come from the endpoint. */
  refuse(exchange: Exchange, error: unknown): Outgoing | Promise<Outgoing>
  /** The answer to OPTIONS and to methods that the path does not know. */
  turnDown(exchange: Exchange, allow: string): Outgoing | Promise<Outgoing>
}

/** A path with its methods; `GET` also answers `HEAD`. */
export interface Route {
  readonly pattern: string
  /** The path as it was first added, with the names of its parameters. */
  readonly path: string
  /** The number of its parameters. */
  readonly params: number
  readonly methods: Map<string, Endpoint>
  allow: string
}

/** The method whose endpoint answers. */
export const methodFor = (asked: string): string => (asked === 'HEAD' ? 'GET' : asked)

/** A route's answer to OPTIONS and to methods that it does not know. */
export function turnDownAt(
  { methods, allow }: Route,
  exchange: Exchange,
): Outgoing | Promise<Outgoing> | undefined {
  const [endpoint] = methods.values()
  return endpoint?.turnDown(exchange, allow)
}

/** A path's route, and its parameters as they came. */
export interface FoundRoute {
  route: Route
  rawParams: string[]
}

/** Paths by pattern. `/a/:id` and `/a/:name` are one path, whose methods name their own parameters. */
export class RouteTable {
  readonly #routes = new Map<string, Route>()
  #frozen = false

  add(method: string, path: string, endpoint: Endpoint): void {
    if (this.#frozen) throw new Error(`${method} ${path} was added after the server had started`)
    // `*` is uWS's wildcard; here it would silently shadow other paths.
    if (!/^\/[^*?#]*$/.test(path)) throw new Error(`${path} is no path for a route`)
    const pattern = path.replace(/:[^/]+/g, parameter)
    const route = this.#routes.get(pattern) ?? {
      pattern,
      path,
      params: paramNames(path).length,
      methods: new Map(),
      allow: '',
    }
    if (route.methods.has(method)) throw new Error(`${method} ${path} exists twice`)
    route.methods.set(method, endpoint)
    route.allow = [
      ...route.methods.keys(),
      ...(route.methods.has('GET') ? ['HEAD'] : []),
      'OPTIONS',
    ]
      .sort()
      .join(', ')
    this.#routes.set(pattern, route)
  }

  has(pattern: string): boolean {
    return this.#routes.has(pattern)
  }

  /** The route of a path, as uWS finds it: a fixed part wins over a parameter. */
  find(path: string): FoundRoute | undefined {
    const parts = path.split('/')
    let found: FoundRoute | undefined
    for (const route of this.#routes.values()) {
      const rawParams = paramsAt(parts, route.pattern.split('/'))
      if (rawParams === undefined) continue
      if (found === undefined || goesBefore(route, found.route)) found = { route, rawParams }
    }
    return found
  }

  /** All routes; from now on none may be added. */
  freeze(): Iterable<Route> {
    this.#frozen = true
    return this.#routes.values()
  }
}

const parameter = ':p'

/** The values at the pattern's parameters; undefined for a path that does not fit. */
function paramsAt(parts: readonly string[], pattern: readonly string[]): string[] | undefined {
  // uWS never takes an empty part as a parameter.
  const isOther = pattern.some((part, at) => (part === parameter ? !parts[at] : part !== parts[at]))
  if (isOther || parts.length !== pattern.length) return undefined
  return parts.filter((_, at) => pattern[at] === parameter)
}

function goesBefore(one: Route, other: Route): boolean {
  const others = other.pattern.split('/')
  const [first] = one.pattern.split('/').flatMap((part, at) => (part === others[at] ? [] : [part]))
  return first !== parameter
}

/** The names of a path's parameters, in their order: of `/v1/emails/:id` it is `id`. */
export function paramNames(path: string): string[] {
  return [...path.matchAll(/:([^/]+)/g)].map(([, name]) => name ?? '')
}

/** The path's parameters by name, or `undefined` if one is badly percent-encoded. */
export function decodeParams(names: string[], raw: string[]): Record<string, string> | undefined {
  const params: Record<string, string> = {}
  try {
    for (let i = 0; i < names.length; i++) {
      const value = raw[i] ?? ''
      const text = value.includes('%') ? decodeURIComponent(value) : value
      // RFC 9562 §4: a UUID is the same in upper and lower case, and stored ones are in lower case.
      params[names[i] ?? ''] = uuidForm.test(text) ? text.toLowerCase() : text
    }
    return params
  } catch {
    return undefined
  }
}

/** A query's parameters; the first of several with one name counts. */
export function decodeQuery(query: string): Record<string, string> {
  const values: Record<string, string> = {}
  if (query === '') return values
  for (const [name, value] of new URLSearchParams(query)) {
    if (!Object.hasOwn(values, name)) values[name] = value
  }
  return values
}
