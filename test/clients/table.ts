/** What the server does with one request. */
export type ServerStep =
  | { status: number; body: unknown; headers?: Record<string, string> }
  /** The connection is killed once the request has come. */
  | 'killed'
  /** No answer; an answer that stands still; one that ends too early. */
  | 'silent'
  | 'stalled'
  | 'truncated'
  /** A whole answer, after which the connection stays; one whose head comes byte by byte, or never ends. */
  | 'kept open'
  | 'dripping'
  | 'endless head'
  /** A body without an end, by its length, by pieces or to the end of the connection; one whose length is no number. */
  | 'endless by length'
  | 'endless by pieces'
  | 'endless'
  | 'endless in little'
  /** A whole answer after informational ones. */
  | 'informed'

/** One behaviour that every client has: what is called, what the server does, and what has to come of it. */
export interface Behaviour {
  name: string
  /** `nan`: a mail with a number that is none; `bytes`: with a text that is none. */
  call: 'send' | 'get' | 'cancel' | 'list' | 'import' | 'nan' | 'bytes'
  /** What the same client is asked before, whatever comes of it. */
  first?: Behaviour['call'][]
  /** The server keeps connections, as the appliance does; else it closes each, as some proxies do. */
  keeps?: 'one connection' | 'connections'
  only?: readonly string[]
  /** Given by the caller. */
  key?: string
  steps: readonly ServerStep[]
  /** Before each further attempt, in seconds, where chance is 0.5. */
  waits: readonly number[]
  result?: unknown
  error?: {
    code: string
    /** The class, in languages where errors have one. */
    kind: string
    status: number
    retryable?: boolean
    retryAfter?: number
    message?: string
  }
}

export const mail = { from: 'a@b.test', to: 'c@d.test', subject: 'Größe', html: '<p>H</p>' }

const good: ServerStep = { status: 200, body: { id: 'x', message: 'Email queued' } }
const refusal = (status: number, code: string, headers = {}, more = {}): ServerStep => ({
  status,
  headers,
  body: { code, error: `It is ${code}`, ...more },
})
const again = (name: string, step: ServerStep): Behaviour => ({
  name: `${name} is tried again`,
  call: 'send',
  steps: [step, step, good],
  waits: [0.25, 0.5],
  result: 'x',
})
const never = (status: number, code: string, kind: string): Behaviour => ({
  name: `${status} ${code} is not tried again`,
  call: 'send',
  steps: [refusal(status, code)],
  waits: [],
  error: { code, kind, status, retryable: false, message: `It is ${code}` },
})

const unfit = (
  name: string,
  call: Behaviour['call'],
  more: Partial<Behaviour> = {},
): Behaviour => ({
  name,
  call,
  steps: [],
  waits: [],
  error: { code: 'validation_error', kind: 'ValidationError', status: 0, retryable: false },
  ...more,
})

/** The table that runs against all clients. */
export const behaviours: readonly Behaviour[] = [
  { name: 'an answer is given', call: 'send', steps: [good], waits: [], result: 'x' },
  {
    name: 'a key of the caller’s is used',
    call: 'send',
    key: 'order-1',
    steps: [good],
    waits: [],
    result: 'x',
  },
  again('a connection that is killed', 'killed'),
  again('no answer in time', 'silent'),
  again('an answer that stands still', 'stalled'),
  again('an answer that is cut off', 'truncated'),
  {
    name: 'an answer ends with its length',
    call: 'send',
    steps: ['kept open'],
    waits: [],
    result: 'x',
  },
  again('a head that comes byte by byte', 'dripping'),
  again('a head without an end', 'endless head'),
  ...(['endless by length', 'endless by pieces', 'endless', 'endless in little'] as const).map(
    (step): Behaviour => ({
      name: `an answer that would fill the memory (${step}) is read no further, nor asked for again`,
      call: 'send',
      steps: [step],
      waits: [],
      error: {
        code: 'answer_too_large',
        kind: 'ConnectionError',
        status: 0,
        retryable: false,
        message: 'more than 1048576 bytes; see ',
      },
    }),
  ),
  {
    name: 'informational answers come before the final one',
    call: 'send',
    steps: ['informed'],
    waits: [],
    result: 'x',
  },
  again('an answer that nobody could read', { status: 200, body: '['.repeat(100_000) }),
  again('a 500', refusal(500, 'application_error')),
  again('a 503 service_unavailable', refusal(503, 'service_unavailable')),
  again('the page of a proxy', { status: 502, body: '<html>Bad gateway</html>' }),
  {
    name: 'a GET and a DELETE are tried again, without a key',
    call: 'get',
    steps: ['killed', { status: 200, body: { email: { id: 'x' } } }],
    waits: [0.25],
    result: 'x',
  },
  {
    name: 'a DELETE too',
    call: 'cancel',
    steps: ['killed', { status: 200, body: { message: 'Scheduled email cancelled' } }],
    waits: [0.25],
    result: 'Scheduled email cancelled',
  },
  {
    name: 'a 429 is waited for as long as it says',
    call: 'send',
    steps: [refusal(429, 'rate_limit_exceeded', { 'retry-after': '7' }), good],
    waits: [7],
    result: 'x',
  },
  {
    name: 'a 429 that asks for more than two minutes is told',
    call: 'send',
    steps: [refusal(429, 'rate_limit_exceeded', { 'retry-after': '3600' })],
    waits: [],
    error: {
      code: 'rate_limit_exceeded',
      kind: 'RateLimitError',
      status: 429,
      retryable: true,
      retryAfter: 3_600,
      message: 'It is rate_limit_exceeded; it asks to wait 3600 s, and a call takes 120 s at most',
    },
  },
  {
    name: 'a 503 too',
    call: 'send',
    steps: [refusal(503, 'service_unavailable', { 'retry-after': '600' })],
    waits: [],
    error: {
      code: 'service_unavailable',
      kind: 'ServerError',
      status: 503,
      retryable: true,
      message: 'It is service_unavailable; it asks to wait 600 s, and a call takes 120 s at most',
    },
  },
  {
    name: 'an earlier attempt that still runs is asked for again',
    call: 'send',
    steps: [refusal(409, 'concurrent_idempotent_request'), good],
    waits: [1.25],
    result: 'x',
  },
  never(409, 'invalid_idempotent_request', 'ConflictError'),
  never(503, 'account_paused', 'AccountPausedError'),
  never(403, 'account_paused', 'AccountPausedError'),
  never(402, 'monthly_quota_exceeded', 'QuotaError'),
  never(429, 'daily_quota_exceeded', 'QuotaError'),
  never(401, 'invalid_api_key', 'AuthenticationError'),
  never(403, 'domain_not_verified', 'PermissionError'),
  never(404, 'not_found', 'NotFoundError'),
  never(422, 'validation_error', 'ValidationError'),
  {
    name: 'fields that are wrong are named',
    call: 'send',
    steps: [
      {
        status: 400,
        body: {
          success: false,
          error: { issues: [{ path: ['to', 0], message: 'Expected an address' }] },
        },
      },
    ],
    waits: [],
    error: {
      code: 'validation_error',
      kind: 'ValidationError',
      status: 400,
      retryable: false,
      message: 'to.0: Expected an address',
    },
  },
  {
    name: 'a redirect is not followed',
    call: 'send',
    steps: [{ status: 302, body: '', headers: { location: 'http://127.0.0.1:1/elsewhere' } }],
    waits: [],
    error: { code: 'http_302', kind: 'PosthornError', status: 302, retryable: false },
  },
  {
    name: 'what never ends well is told after four attempts',
    call: 'send',
    steps: ['killed', 'killed', 'killed', 'killed'],
    waits: [0.25, 0.5, 1],
    error: { code: 'connection_failed', kind: 'ConnectionError', status: 0, retryable: true },
  },
  {
    name: 'what never answers is told as that',
    call: 'send',
    steps: ['silent', 'silent', 'silent', 'silent'],
    waits: [0.25, 0.5, 1],
    error: { code: 'timeout', kind: 'TimeoutError', status: 0, retryable: true },
  },
  {
    name: 'a list gives the items of all its pages',
    call: 'list',
    steps: [
      {
        status: 200,
        body: { emails: [{ id: '1' }, { id: '2' }], hasMore: true, nextCursor: 'c+1' },
      },
      'killed',
      { status: 200, body: { emails: [{ id: '3' }], hasMore: false, nextCursor: null } },
    ],
    waits: [0.25],
    result: ['1', '2', '3'],
  },
  {
    name: 'an import is never tried again',
    call: 'import',
    steps: ['killed'],
    waits: [],
    error: { code: 'connection_failed', kind: 'ConnectionError', status: 0 },
  },
  ...['', 'a\r\nX: 1', 'order 1', 'größe', 'k'.repeat(256)].map((key) =>
    unfit(
      `an idempotency key ${JSON.stringify(key.slice(0, 10))} is refused before anything is sent`,
      'send',
      { key },
    ),
  ),
  unfit('a number that is none is not sent', 'nan'),
  unfit('a text that is none is not sent', 'bytes', { only: ['Python', 'PHP'] }),
  {
    name: 'a connection that is kept serves one request after the other',
    call: 'send',
    keeps: 'one connection',
    first: ['send', 'get', 'send', 'send'],
    steps: [
      good,
      refusal(404, 'not_found'),
      { status: 200, body: { id: 'y' }, headers: { 'transfer-encoding': 'chunked' } },
      refusal(503, 'service_unavailable'),
      good,
      good,
    ],
    waits: [0.25],
    result: 'x',
  },
  {
    name: 'a list goes by one connection',
    call: 'list',
    keeps: 'one connection',
    first: ['cancel'],
    steps: [
      { status: 200, body: { message: 'Cancelled' } },
      { status: 200, body: { emails: [{ id: '1' }], hasMore: true, nextCursor: 'c+1' } },
      { status: 200, body: { emails: [{ id: '2' }], hasMore: false, nextCursor: null } },
    ],
    waits: [],
    result: ['1', '2'],
  },
  {
    name: 'an import is not sent again where a kept connection breaks',
    call: 'import',
    keeps: 'connections',
    first: ['get'],
    steps: [{ status: 200, body: { email: { id: 'x' } } }, 'killed'],
    waits: [],
    error: { code: 'connection_failed', kind: 'ConnectionError', status: 0 },
  },
]
