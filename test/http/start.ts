import { type } from 'superstruct'
import { systemClock } from '../../src/clock/index.js'
import { ApiError } from '../../src/errors/index.js'
import { type HttpServer, type HttpServerOptions, openHttpServer } from '../../src/http/index.js'
import type { Log } from '../../src/log/index.js'
import { RawConnection, rawRequest } from '../support/raw-http.js'

interface Account {
  id: string
}

export interface Started {
  server: HttpServer<Account>
  port: number
  /** What was logged as an error. */
  errors: { fields: object; message: string }[]
  connect(): Promise<RawConnection>
  /** Sends one request on a new connection; `undefined` if the server closed without a response. */
  raw(text: string | Buffer): ReturnType<typeof rawRequest>
  call(method: string, path: string, init?: CallInit): Promise<Called>
}

interface CallInit {
  /** `null`: no Authorization header. */
  key?: string | null
  /** Sent as JSON unless it is text. */
  body?: unknown
  headers?: Record<string, string>
}

export interface Called {
  status: number
  headers: Headers
  text: string
  json: Record<string, unknown>
}

interface Owner {
  teardown(work: () => Promise<void>): void
}

/** A server on a free port with keys `key-<account>`, closed at the end of the test. */
export async function startServer(
  t: Owner,
  addRoutes: (server: HttpServer<Account>) => void,
  options: Partial<HttpServerOptions<Account>> = {},
): Promise<Started> {
  const errors: Started['errors'] = []
  const log: Log = {
    debug() {},
    info() {},
    warn() {},
    error: (fields, message) => void errors.push({ fields, message }),
    child: () => log,
  }
  const server = await openHttpServer<Account>({
    host: '127.0.0.1',
    port: 0,
    log,
    clock: systemClock,
    rateLimit: { requests: 0, windowMs: 60_000 },
    authenticate: async (authorization) => {
      if (authorization === undefined) throw new ApiError('missing_api_key', 'Unauthorized')
      const id = /^Bearer key-(\w+)$/.exec(authorization)?.[1]
      if (id === undefined) throw new ApiError('invalid_api_key', 'Unauthorized')
      return { id }
    },
    rateKey: (account) => account.id,
    ...options,
  })
  addRoutes(server)
  await server.listen()
  const { port } = server
  t.teardown(() => server.close(0))
  return {
    server,
    port,
    errors,
    connect: () => RawConnection.open(port),
    raw: (text) => rawRequest(port, text),
    call: (method, path, init) => call(port, method, path, init),
  }
}

async function call(port: number, method: string, path: string, init: CallInit = {}) {
  const { key = 'key-a', body, headers } = init
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    redirect: 'manual',
    headers: {
      ...(key !== null && { authorization: `Bearer ${key}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') === true
  return {
    status: response.status,
    headers: response.headers,
    text,
    json: isJson && text !== '' ? JSON.parse(text) : {},
  }
}

/** A request with the usual head; `headers` come after it. */
export function request(line: string, headers: string[] = [], body = ''): string {
  const head = [`${line} HTTP/1.1`, 'Host: localhost', 'Authorization: Bearer key-a', ...headers]
  return `${head.join('\r\n')}\r\n\r\n${body}`
}

/** A JSON post with its right length. */
export function post(path: string, value: unknown): string {
  const body = Buffer.from(JSON.stringify(value)).toString('latin1')
  return request(
    `POST ${path}`,
    ['Content-Type: application/json', `Content-Length: ${body.length}`],
    body,
  )
}

/** Any JSON object. */
export const Anything = type({})
