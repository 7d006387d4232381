import type { Struct } from 'superstruct'
import { ApiError } from '../errors/index.js'
import { check, convert } from '../fields/index.js'
import { networkKey } from './client-address.js'
import type { ServerContext } from './context.js'
import type { Exchange } from './exchange.js'
import { errorResponse, jsonResponse, logUnexpected } from './failure.js'
import { emptyForm, type Form, parseForm } from './form.js'
import { noBytes } from './incoming-body.js'
import { parseJsonObject, requireJsonType } from './json-body.js'
import { type RateLimiter, type RateStanding, refuseExcess, standingHeaders } from './rate-limit.js'
import { checkedKey, jsonFingerprint, type Remember, type Repeats } from './repeats.js'
import { ApiReply, jsonPieces, LongReply, noHeaders, reply } from './reply.js'
import { decodeParams, decodeQuery, type Endpoint, paramNames, type RouteTable } from './routes.js'
import { openDigestedUpload, type Upload } from './upload.js'

type Strings = Record<string, string>

/** What a route expects. Struct bodies with `type()`, which ignores unknown fields; not `object()`. */
export interface Shape<Params, Query, Body> {
  /** Params that do not fit are a 404, with this message. */
  params?: Struct<Params, unknown>
  notFound?: string
  query?: Struct<Query, unknown>
  /**
   * A JSON object; where none of its fields is required, it may be left out. Without it the body is not
   * looked at; it still is in `rawBody`.
   */
  body?: Struct<Body, unknown>
  /** Takes multipart/form-data (or urlencoded) in place of JSON. */
  form?: true
  /** Takes a file in this field of a multipart/form-data body, piece by piece: `request.upload()`. */
  upload?: string
  /** Default: the server's. */
  maxBodyBytes?: number
}

/** `account` is what the server's `authenticate` gave; `undefined` on a path with `auth: false`. */
export interface ApiRequest<Account, Params, Query, Body> {
  account: Account
  params: Params
  query: Query
  body: Body
  form: Form
  /** Begins to read the body of a route with `upload`, up to the file. Called once, if at all. */
  upload(): Promise<Upload>
  /**
   * Keeps the answer of a POST for repeats with the same `Idempotency-Key`. A handler with an effect
   * calls it in the transaction of the effect, with what it is going to answer.
   */
  remember: Remember
  /** Says what the audit log has of it beyond its path and its answer; the last word counts. */
  note(said: NotedChange): void
  /** Told that nothing large of the body is held any more, before the answer: the next large one has its turn. */
  letGo(): void
  /** Empty where the route takes JSON, which is let go once it is parsed. */
  rawBody: Buffer
  requestId: string
  /** `name` in lower case. */
  header(name: string): string | undefined
}

export type ApiHandler<Account, Params, Query, Body> = (
  request: ApiRequest<Account, Params, Query, Body>,
) => unknown

interface AddRoute<P> {
  <Params = Strings, Query = Strings, Body = undefined>(
    path: string,
    shape: Shape<Params, Query, Body> & { auth: false },
    handler: ApiHandler<undefined, Params, Query, Body>,
  ): void
  <Params = Strings, Query = Strings, Body = undefined>(
    path: string,
    shape: Shape<Params, Query, Body> & { auth?: true },
    handler: ApiHandler<P, Params, Query, Body>,
  ): void
}

/** A route as others may want to describe it. */
export interface ApiRoute {
  method: string
  /** As it was added: `/v1/emails/:id`. */
  path: string
  auth: boolean
  /** What the body is, for routes that look at it. */
  body: 'json' | 'form' | undefined
  /** None at all is taken for `{}`. */
  bodyOptional: boolean
  maxBodyBytes: number
}

/** Where routes are added. A handler returns the 200's JSON or a `reply(…)`, or throws an `ApiError`. */
export interface Api<P> {
  /** Those added so far. */
  readonly routes: readonly ApiRoute[]
  get: AddRoute<P>
  post: AddRoute<P>
  put: AddRoute<P>
  patch: AddRoute<P>
  delete: AddRoute<P>
}

/** How those are known who call a part of the API, and what is done for each of them. */
export interface ApiCallers<P> {
  authenticate:
    | ((authorization: string | undefined, address: () => string) => Promise<P>)
    | undefined
  permit: ((principal: P, route: string) => void) | undefined
  auditOf: ((route: string) => NoteChange<P> | undefined) | undefined
  repeats: Repeats<P> | undefined
  rateKey: (principal: P) => string
}

export interface ApiSettings<P> extends ApiCallers<P> {
  context: ServerContext
  maxBodyBytes: number
  /** Counts requests by key, and those without a valid one by address. */
  clients: RateLimiter
  strangers: RateLimiter
}

/** What a handler says of its change, for the audit log; never a secret. */
export interface NotedChange {
  /** What was changed; left out: what the path or the answer names. */
  target?: string | undefined
  /** What was done, where that is not what the operation usually does. */
  action?: string | undefined
  detail?: Readonly<Record<string, unknown>>
}

/** Notes what a request has changed, before it is answered. Never rejects. */
export type NoteChange<P> = (change: {
  principal: P
  /** `POST /v1/keys`. */
  route: string
  params: Strings
  /** What the answer says. */
  answer: unknown
  /** What the handler says. */
  noted: NotedChange | undefined
  clientAddressKey: string
}) => Promise<void>

type Admission<P> = { headers: Strings } & ({ account: P } | { refusal: unknown })

/** The rate-limit headers of answers that have nothing to do with what is asked. Never rejects. */
export interface ApiStanding {
  /** By key where there is a good one, which is counted all the same, and else by address. */
  ofCaller(exchange: Exchange): Promise<Strings>
  ofStranger(exchange: Exchange): Strings
}

/**
 * The API: adds routes to `routes`, and gives each request its account, its checked parameters and
 * the rate limits' headers.
 */
export function makeApi<P>(settings: ApiSettings<P>, routes: RouteTable): Api<P> & ApiStanding {
  const added: ApiRoute[] = []
  const standing: ApiStanding = {
    ofStranger: (exchange) =>
      standingHeaders(settings.strangers.take(networkKey(exchange.remoteAddress))),
    async ofCaller(exchange) {
      const { authenticate } = settings
      if (authenticate === undefined || exchange.header('authorization') === undefined) {
        return standing.ofStranger(exchange)
      }
      return (await admit(settings, exchange)).headers
    },
  }
  const adder =
    (method: string): AddRoute<P> =>
    <Params, Query, Body>(
      path: string,
      shape: Shape<Params, Query, Body> & { auth?: boolean },
      // The two overloads say which account a handler gets; here it may be either.
      handler: ApiHandler<never, Params, Query, Body>,
    ) => {
      const secured = shape.auth !== false
      if (secured && settings.authenticate === undefined) {
        throw new Error(`${method} ${path} needs a server with authenticate`)
      }
      const endpoint = makeEndpoint(
        { ...settings, standing },
        secured,
        method,
        path,
        shape,
        handler,
      )
      routes.add(method, path, endpoint)
      const { maxBodyBytes } = endpoint
      const body = shape.form || shape.upload ? 'form' : shape.body && 'json'
      const bodyOptional = mayBeLeftOut(shape)
      added.push({ method, path, auth: secured, body, bodyOptional, maxBodyBytes })
    }
  return {
    ...standing,
    routes: added,
    get: adder('GET'),
    post: adder('POST'),
    put: adder('PUT'),
    patch: adder('PATCH'),
    delete: adder('DELETE'),
  }
}

const mayBeLeftOut = <Params, Query, Body>({ body }: Shape<Params, Query, Body>) =>
  body?.is({}) ?? false

function makeEndpoint<P, Params, Query, Body>(
  settings: ApiSettings<P> & { standing: ApiStanding },
  secured: boolean,
  method: string,
  path: string,
  shape: Shape<Params, Query, Body>,
  handler: ApiHandler<never, Params, Query, Body>,
): Endpoint {
  const names = paramNames(path)
  const route = `${method} ${path}`
  const { log } = settings.context
  const repeats = method === 'POST' && secured ? settings.repeats : undefined
  const note = secured ? settings.auditOf?.(route) : undefined

  async function answer(
    exchange: Exchange,
    raw: string[],
    account: unknown,
    said: (noted: NotedChange) => void,
  ): Promise<ApiReply> {
    const { head } = exchange
    const key = repeats && checkedKey(head.headers.get('idempotency-key'))
    const asked = head.path.replace(/\/$/, '')
    const contentType = head.headers.get('content-type')
    const { rawBody, body, digest } = await take(
      shape,
      exchange,
      key === undefined ? undefined : asked,
    )
    const file = shape.upload ? openDigestedUpload(exchange, contentType, shape.upload) : undefined
    const work = async (remember: Remember) => {
      const request: ApiRequest<unknown, Params, Query, Body> = {
        account,
        form: shape.form ? parseForm(rawBody, contentType) : emptyForm,
        params: paramsOf(shape, names, raw),
        query: shape.query
          ? convert(decodeQuery(head.query), shape.query)
          : (decodeQuery(head.query) as Query),
        body: shape.body ? check(body, shape.body) : (undefined as Body),
        upload: () => (file === undefined ? Promise.reject(noUpload(path)) : file.open()),
        remember,
        note: said,
        letGo: () => exchange.endTurn(),
        rawBody,
        requestId: exchange.requestId,
        header: (name) => exchange.header(name),
      }
      const result = await handler(request as ApiRequest<never, Params, Query, Body>)
      return result instanceof ApiReply ? result : reply(200, result)
    }
    if (key === undefined || repeats === undefined) return await work(async () => {})
    const fingerprint = file === undefined ? digest : () => file.fingerprint(asked)
    const once = await repeats.once({ account: account as P, key, fingerprint }, work)
    const { status, body: told, replayed } = once
    return reply(status, told, replayed ? { 'Idempotency-Replay': 'true' } : noHeaders)
  }

  return {
    maxBodyBytes: shape.maxBodyBytes ?? settings.maxBodyBytes,
    bodyInPieces: shape.upload !== undefined,

    async serve(exchange, raw) {
      // Asked for at once, as who has hung up meanwhile has none any more; of other requests it costs too much.
      const from = note && networkKey(exchange.remoteAddress)
      const admission = secured ? await admit(settings, exchange) : unsecured(settings, exchange)
      const { headers } = admission
      try {
        if ('refusal' in admission) throw admission.refusal
        // Counted before: who asks for what it may not do is held back like others.
        if (secured) settings.permit?.(admission.account as P, route)
        let noted: NotedChange | undefined
        const say = (said: NotedChange) => {
          noted = said
        }
        const told = await answer(exchange, raw, admission.account, say)
        const { status, body, headers: own } = told
        // A repeat changes nothing again.
        if (note !== undefined && status < 300 && !own['Idempotency-Replay']) {
          const params = decodeParams(names, raw) ?? {}
          const principal = admission.account as P
          const change = { principal, route, params, answer: body, noted }
          await note({ ...change, clientAddressKey: from ?? '' })
        }
        const all = own === noHeaders ? headers : { ...own, ...headers }
        const response = jsonResponse(status, body, all)
        if (told instanceof LongReply) response.stream = jsonPieces(told)
        return response
      } catch (error) {
        logUnexpected(log, exchange.requestId, path, error)
        return errorResponse(error, headers)
      }
    },

    async refuse(exchange, error) {
      return errorResponse(error, await settings.standing.ofCaller(exchange))
    },

    async turnDown(exchange, allow) {
      const headers = { Allow: allow, ...(await settings.standing.ofCaller(exchange)) }
      if (exchange.head.method === 'OPTIONS') return { status: 204, headers, body: '' }
      return errorResponse(methodNotAllowed(exchange, allow), headers)
    },
  }
}

/**
 * What the request carries, and its fingerprint if it is `keyed`. A function of its own: while the
 * handler waits, only what was made of a JSON body is still held.
 */
async function take<Params, Query, Body>(
  shape: Shape<Params, Query, Body>,
  exchange: Exchange,
  keyed: string | undefined,
) {
  if (shape.upload) return { rawBody: noBytes, body: undefined, digest: '' }
  const looked = shape.body !== undefined || shape.form === true
  const rawBody = await exchange.readBody(looked ? 'inflated' : 'sent')
  const isLeftOut = rawBody.length === 0 && mayBeLeftOut(shape)
  if (shape.body !== undefined && !isLeftOut) {
    requireJsonType(exchange.head.headers.get('content-type'))
  }
  const body = shape.body && (isLeftOut ? {} : parseJsonObject(rawBody))
  const digest = keyed === undefined ? '' : jsonFingerprint(keyed, body, rawBody)
  if (body === undefined) return { rawBody, body, digest }
  exchange.releaseBody()
  return { rawBody: noBytes, body, digest }
}

const noUpload = (path: string) => new Error(`${path} takes no upload`)

/** A path for everybody tells the address's standing, and does not count. */
function unsecured<P>(settings: ApiSettings<P>, exchange: Exchange): Admission<undefined> {
  const standing = settings.strangers.look(networkKey(exchange.remoteAddress))
  return { headers: standingHeaders(standing), account: undefined }
}

/** Authenticates, then counts: by key, or by address where there is no valid one. Never rejects. */
async function admit<P>(settings: ApiSettings<P>, exchange: Exchange): Promise<Admission<P>> {
  let standing: RateStanding | undefined
  try {
    const account = await settings.authenticate?.(
      exchange.header('authorization'),
      () => exchange.remoteAddress,
    )
    if (account === undefined) throw new ApiError('invalid_api_key', 'Unauthorized')
    standing = settings.clients.take(settings.rateKey(account))
    refuseExcess(standing)
    return { headers: standingHeaders(standing), account }
  } catch (error) {
    if (standing !== undefined) return { headers: standingHeaders(standing), refusal: error }
    const stranger = settings.strangers.take(networkKey(exchange.remoteAddress))
    const headers = standingHeaders(stranger)
    try {
      refuseExcess(stranger)
      return { headers, refusal: error }
    } catch (excess) {
      return { headers, refusal: excess }
    }
  }
}

function paramsOf<Params, Query, Body>(
  shape: Shape<Params, Query, Body>,
  names: string[],
  raw: string[],
): Params {
  const params = decodeParams(names, raw)
  if (params !== undefined && shape.params === undefined) return params as Params
  try {
    if (params !== undefined && shape.params !== undefined) return convert(params, shape.params)
  } catch {
    // An id that is no id is one that does not exist (`decisions.md`, Names).
  }
  throw new ApiError('not_found', shape.notFound ?? 'Not found')
}

/** A 405 for a path that has other methods; `allow` names them, separated by commas. */
export function methodNotAllowed(exchange: Exchange, allow: string): ApiError {
  return new ApiError('not_found', `${exchange.head.method} is not allowed here, only ${allow}`, {
    status: 405,
  })
}
