import type { Clock } from './clock.js'
import { ValidationError } from './errors.js'
import { type Answered, AnswerTooLarge, type Outcome, toError } from './outcome.js'
import type { Pace, RateLimit } from './pace.js'
import { againAfter, type Chances, retryAfterMs } from './retry.js'

/** The last argument of every method. */
export interface CallOptions {
  /** For a POST: one call, one key. The client makes it unless it is given. */
  idempotencyKey?: string | undefined
  /** Ends the call, which then throws the signal's reason. */
  signal?: AbortSignal | undefined
  /** Milliseconds for each attempt. */
  timeout?: number | undefined
  /** How often it may be tried again. */
  retries?: number | undefined
  headers?: Record<string, string> | undefined
  /** `wait` waits before a request that the rate limit would refuse. */
  pace?: 'wait' | 'off' | undefined
}

/** What every request of a client has in common. */
export interface Core extends Chances {
  url: string
  apiKey: () => Promise<string | undefined>
  fetch: (url: string, init: RequestInit) => Promise<Response>
  timeout: number
  maxAnswerBytes: number
  waits: boolean
  pace: Pace
  clock: Clock
  userAgent: string
  onRequest?: ((request: RequestSeen) => void) | undefined
  onResponse?: ((response: ResponseSeen) => void) | undefined
}

/** For a log of your own; the key is not in it. */
export interface RequestSeen {
  method: string
  url: string
  attempt: number
  idempotencyKey: string | undefined
}
export interface ResponseSeen extends RequestSeen {
  /** 0: there was no whole answer. */
  status: number
  requestId: string | undefined
  elapsedMs: number
}

/** What is known of a request beside its result: `metaOf(result)`. */
export interface Meta {
  status: number
  requestId: string | undefined
  rateLimit: RateLimit | undefined
  /** It is the answer to an earlier request with the same key. */
  replayed: boolean
  attempts: number
}

export interface Asked {
  method: string
  /** Below the server's url: `/v1/emails/send`. */
  path: string
  query?: Record<string, unknown> | undefined
  /** Sent as JSON, unless it is a stream with a content type of its own. */
  body?: unknown
  contentType?: string
  /** The request is never repeated: repeating an interrupted import would not be harmless. */
  once?: boolean
}

// Kept beside the results, so that they stay the plain JSON of the answer; an entry is freed with its result.
const metas = new WeakMap<object, Meta>()

/** What is known of the request that gave this result; undefined for anything else. */
export const metaOf = (result: object): Meta | undefined => metas.get(result)

/** Gives `result`, a part of an answer, the same meta as the answer. */
export function withMeta<T>(result: T, meta: Meta | undefined): T {
  if (typeof result === 'object' && result !== null && meta !== undefined) metas.set(result, meta)
  return result
}

/** One call: as many attempts as it takes and may have, all with one key and the same bytes. */
export async function request(
  core: Core,
  asked: Asked,
  options: CallOptions = {},
): Promise<unknown> {
  const began = core.clock.now()
  const { signal } = options
  const key = options.idempotencyKey ?? (asked.method === 'POST' ? crypto.randomUUID() : undefined)
  // Changing the key silently would send another mail.
  if (key !== undefined && !/^[!-~]{1,255}$/.test(key)) {
    throw unfit('idempotencyKey: expected 1 to 255 visible ASCII characters')
  }
  const url = core.url + asked.path + search(asked.query)
  const { contentType } = asked
  const body = contentType === undefined ? json(asked.body) : asked.body
  const headers: Record<string, string> = {
    accept: 'application/json',
    'user-agent': core.userAgent,
    ...(key !== undefined && { 'idempotency-key': key }),
    ...(body !== undefined && { 'content-type': contentType ?? 'application/json' }),
    ...options.headers,
  }
  const chances = { ...core, retries: asked.once ? 0 : (options.retries ?? core.retries) }
  for (let attempt = 1; ; attempt++) {
    if ((options.pace ?? (core.waits ? 'wait' : 'off')) === 'wait') await core.pace.take(signal)
    const seen = { method: asked.method, url, attempt, idempotencyKey: key }
    const outcome = await once(core, { seen, headers, body }, options)
    const answered = outcome.kind === 'answered' ? outcome : undefined
    const rateLimit = answered && core.pace.learn(answered.headers)
    if (answered && answered.status < 300) {
      return withMeta(answered.body, { ...metaFrom(answered), rateLimit, attempts: attempt })
    }
    const now = core.clock.now()
    const after = answered && retryAfterMs(answered.headers, now)
    const passed = { elapsedMs: now - began, retryAfterMs: after }
    const wait = againAfter(outcome, attempt, passed, chances)
    if (wait === undefined) {
      throw toError(outcome, attempt, {
        seconds: after === undefined ? undefined : after / 1_000,
        most: attempt > chances.retries ? undefined : core.maxElapsed / 1_000,
      })
    }
    await core.clock.sleep(wait, signal)
  }
}

const metaFrom = ({ status, headers }: Answered) => ({
  status,
  requestId: headers.get('x-request-id') ?? undefined,
  replayed: headers.get('idempotency-replay') === 'true',
})

function search(query: Record<string, unknown> = {}): string {
  const given = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null) continue
    for (const one of Array.isArray(value) ? value : [value]) {
      given.append(name, one instanceof Date ? one.toISOString() : String(one))
    }
  }
  return given.size === 0 ? '' : `?${given}`
}

/** An error from before anything is sent. */
const unfit = (message: string) =>
  new ValidationError(message, { code: 'validation_error', attempts: 0 })

const json = (body: unknown) =>
  JSON.stringify(body, (name, value) => {
    // JSON has no such numbers, and would send a null in silence.
    if (typeof value !== 'number' || Number.isFinite(value)) return value
    throw unfit(`The body cannot be sent as JSON: ${name} is ${value}`)
  })

interface Attempt {
  seen: RequestSeen
  headers: Record<string, string>
  body: unknown
}

/**
 * One attempt. It resolves when the whole body of the answer was read, or the attempt has failed; it rejects only with
 * the reason of the caller's signal.
 */
async function once(core: Core, attempt: Attempt, options: CallOptions): Promise<Outcome> {
  const { seen, headers, body } = attempt
  const { signal } = options
  const began = core.clock.now()
  const key = await core.apiKey()
  // The key is not shown, as a message goes into logs.
  if (key && !/^[!-~]+$/.test(key)) {
    throw unfit('apiKey has a space, a line break or a letter that no key has')
  }
  core.onRequest?.(seen)
  const cut = new AbortController()
  const over = new AbortController()
  const follow = () => cut.abort(signal?.reason)
  if (signal?.aborted) throw signal.reason
  signal?.addEventListener('abort', follow, { once: true })
  const afterMs = options.timeout ?? core.timeout
  let late = false
  core.clock.sleep(afterMs, over.signal).then(
    () => {
      late = true
      cut.abort()
    },
    () => {},
  )
  let phase: 'request' | 'response' = 'request'
  let outcome: Outcome
  try {
    const response = await core.fetch(seen.url, {
      method: seen.method,
      headers: { ...headers, ...(key && { authorization: `Bearer ${key}` }) },
      // Redirects are not followed. The request would go to a place that nobody has named, and after a 301 or 302 fetch
      // turns a POST into a GET (RFC 9110 §15.4).
      redirect: 'manual',
      signal: cut.signal,
      ...(body !== undefined && { body: body as string }),
      // fetch requires it for a body that is a stream.
      ...(body instanceof ReadableStream && { duplex: 'half' }),
    })
    phase = 'response'
    outcome = read(response, await textOf(response, core.maxAnswerBytes))
  } catch (cause) {
    if (signal?.aborted) throw signal.reason
    outcome = late
      ? { kind: 'timeout', afterMs }
      : { kind: 'broken', phase: reachedBy(cause, phase), cause }
  } finally {
    over.abort()
    signal?.removeEventListener('abort', follow)
  }
  const answered = outcome.kind === 'answered' ? outcome : undefined
  core.onResponse?.({
    ...seen,
    status: answered?.status ?? 0,
    requestId: answered?.headers.get('x-request-id') ?? undefined,
    elapsedMs: core.clock.now() - began,
  })
  return outcome
}

/** The whole body, which is read no further than `mostBytes`: a server that lies must not fill the memory. */
async function textOf({ body }: Response, mostBytes: number): Promise<string> {
  const decoder = new TextDecoder()
  const reader = body?.getReader()
  let text = ''
  for (let left = mostBytes; ; ) {
    const { value } = (await reader?.read()) ?? {}
    if (value === undefined) return text + decoder.decode()
    left -= value.length
    if (left < 0) {
      reader?.cancel().catch(() => {})
      throw new AnswerTooLarge(`it has more than ${mostBytes} bytes; see maxAnswerBytes`)
    }
    text += decoder.decode(value, { stream: true })
  }
}

function read(response: Response, text: string): Outcome {
  const { status, headers } = response
  try {
    return { kind: 'answered', status, headers, body: JSON.parse(text), isJson: true }
  } catch (cause) {
    // A 2xx whose body cannot be read has not arrived whole. The request may have been carried out: the repeat with the
    // same key finds out.
    if (status < 300) return { kind: 'broken', phase: 'response', cause }
    return { kind: 'answered', status, headers, body: text.slice(0, 200), isJson: false }
  }
}

// The codes of Node and of undici for what happens before a byte is sent.
const unreached =
  /^(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|EHOSTUNREACH|ENETUNREACH|UND_ERR_CONNECT_TIMEOUT)$/

function reachedBy(fault: unknown, phase: 'request' | 'response') {
  const { code } = ((fault as { cause?: unknown }).cause ?? {}) as { code?: unknown }
  return typeof code === 'string' && unreached.test(code) ? 'connect' : phase
}
