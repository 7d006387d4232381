import type { Clock, PosthornOptions } from '../../src/client/index.js'

/** What the server does with one request. */
export type Step =
  | { status: number; body?: unknown; headers?: Record<string, string> }
  /** The connection breaks before the answer, as undici says it. */
  | 'reset'
  | 'refused'
  /** No answer, and no end of its body, until the request is aborted. */
  | 'silent'
  | 'stalled'
  | 'truncated'

export interface Seen {
  method: string
  url: string
  body: unknown
  headers: Headers
  signal: AbortSignal
  /** Whether the attempt before it was over, aborted if it had no answer. */
  alone: boolean
}

/** An attempt may last this long: only a test lets it pass. */
export const timeout = 30_000

/**
 * A client's options for a server that does one step after the other, and a clock on which waits are
 * over at once. Everything that was asked for and waited for is kept.
 */
export function scripted(steps: Step[]) {
  const seen: Seen[] = []
  const waits: number[] = []
  let now = Date.parse('2026-11-22T12:00:00Z')
  const attempts: { end: () => void; signal: AbortSignal | undefined }[] = []
  const clock: Clock = {
    now: () => now,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted) return reject(signal.reason)
        signal?.addEventListener('abort', () => reject(signal.reason))
        if (ms === timeout) return attempts.push({ end: resolve, signal })
        waits.push(ms)
        now += ms
        resolve()
      }),
  }
  const expire = () => {
    now += timeout
    attempts.at(-1)?.end()
  }
  let under: AbortSignal | undefined
  const fetch = async (url: string, init: RequestInit): Promise<Response> => {
    const signal = init.signal as AbortSignal
    const alone = under === undefined || under.aborted
    seen.push({
      method: init.method ?? '',
      url,
      signal,
      alone,
      body: init.body,
      headers: new Headers(init.headers as Record<string, string>),
    })
    const step = steps.shift()
    under = step === 'silent' || step === 'stalled' ? signal : undefined
    return answer(step, signal, expire)
  }
  const options: PosthornOptions = {
    url: 'http://posthorn.test',
    apiKey: 'ph_secret',
    fetch,
    clock,
    timeout,
    random: () => 0.5,
  }
  return { options, seen, waits }
}

async function answer(
  step: Step | undefined,
  signal: AbortSignal,
  expire: () => void,
): Promise<Response> {
  if (signal.aborted) throw signal.reason
  const aborted = new Promise<never>((_, reject) =>
    signal.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError'))),
  )
  // Nobody may be waiting any more.
  aborted.catch(() => {})
  const fault = (code: string, message: string) =>
    new TypeError('fetch failed', { cause: Object.assign(new Error(message), { code }) })
  switch (step) {
    case undefined:
      throw new Error('More requests than the script has steps')
    case 'reset':
      throw fault('UND_ERR_SOCKET', 'other side closed')
    case 'refused':
      throw fault('ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:1')
    case 'silent':
      queueMicrotask(expire)
      return aborted
    case 'stalled':
      queueMicrotask(expire)
      return response(new ReadableStream({ pull: () => aborted }))
    case 'truncated':
      return response('{ "id": "a')
    default: {
      const { status, body = {}, headers = {} } = step
      const text = typeof body === 'string' ? body : JSON.stringify(body)
      return new Response(text, { status, headers })
    }
  }
}

const response = (body: string | ReadableStream) => new Response(body, { status: 200 })
