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
  /** Params that do not fit lead to a 404 with this message. */
  params?: Struct<Params, unknown>
  notFound?: string
  query?: Struct<Query, unknown>
  /**
   * A JSON object, which may be left out if none of its fields is required. Without this struct the
   * body is not parsed, but `rawBody` has it.
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
   * calls it in the transaction of the effect, with its later answer.
   */
  remember: Remember
  /** Adds what the audit log shall have beyond path and answer; the last call counts. */
  note(said: NotedChange): void
  /**
   * Called before the answer when nothing large of the body is held any more, so that the next large body gets
   * its turn.
   */
  letGo(): void
  /** Empty if the route takes JSON, whose bytes are freed once they are parsed. */
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

/** A route, for code that describes it. */
export interface ApiRoute {
  method: string
  /** The path as it was added: `/v1/emails/:id`. */
  path: string
  auth: boolean
  /** The type of the body, for routes that read it. */
  body: 'json' | 'form' | undefined
  /** A missing body counts as `{}`. */
  bodyOptional: boolean
  maxBodyBytes: number
}

/** Where routes are added. A handler returns the 200's JSON or a `reply(…)`, or throws an `ApiError`. */
export interface Api<P> {
  /** The routes added so far. */
  readonly routes: readonly ApiRoute[]
  get: AddRoute<P>
  post: AddRoute<P>
  put: AddRoute<P>
  patch: AddRoute<P>
  delete: AddRoute<P>
}

/** How the callers of a part of the API are authenticated, and what is done for each of them. */
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

/** What a handler tells the audit log about its change; never a secret. */
export interface NotedChange {
  /** What was changed; if left out, what the path or the answer names. */
  target?: string | undefined
  /** What was done, if the operation usually does something else. */
  action?: string | undefined
  detail?: Readonly<Record<string, unknown>>
}

/** Notes what a request changed, before it is answered. Never rejects. */
export type NoteChange<P> = (change: {
  principal: P
  /** `POST /v1/keys`. */
  route: string
  params: Strings
  /** The answer's body. */
  answer: unknown
  /** What the handler added. */
  noted: NotedChange | undefined
  clientAddressKey: string
}) => Promise<void>

type Admission<P> = { headers: Strings } & ({ account: P } | { refusal: unknown })

/** The rate-limit headers of answers that no route gives. Never rejects. */
export interface ApiStanding {
  /** By a valid key, which is counted too, or else by address. */
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
      // The two overloads say which account a handler gets; the implementation may get either.
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
      // Read at once, as a client that hangs up meanwhile has no address any more; for other requests it costs
      // too much.
      const from = note && networkKey(exchange.remoteAddress)
      const admission = secured ? await admit(settings, exchange) : unsecured(settings, exchange)
      const { headers } = admission
      try {
        if ('refusal' in admission) throw admission.refusal
        // Counted before this check, so that clients without permission are limited like others.
        if (secured) settings.permit?.(admission.account as P, route)
        let noted: NotedChange | undefined
        const say = (said: NotedChange) => {
          noted = said
        }
        const told = await answer(exchange, raw, admission.account, say)
        const { status, body, headers: own } = told
        // A repeat changes nothing, so it is not noted again.
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
 * What the request carries, and its fingerprint if it is `keyed`. A function of its own, so that
 * while the handler waits only the values of a JSON body are still held.
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

/** A path for everybody shows the address's standing, and does not count the request. */
function unsecured<P>(settings: ApiSettings<P>, exchange: Exchange): Admission<undefined> {
  const standing = settings.strangers.look(networkKey(exchange.remoteAddress))
  return { headers: standingHeaders(standing), account: undefined }
}

/** Authenticates, then counts: by key, or by address without a valid key. Never rejects. */
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
    // Text that is no id counts as an id that does not exist (`decisions.md`, Names).
  }
  throw new ApiError('not_found', shape.notFound ?? 'Not found')
}

/** A 405 for a path that has other methods; `allow` names them, separated by commas. */
export function methodNotAllowed(exchange: Exchange, allow: string): ApiError {
  return new ApiError('not_found', `${exchange.head.method} is not allowed here, only ${allow}`, {
    status: 405,
  })
}
