import { WebhookVerificationError } from './errors.js'
import {
  readWebhook,
  type WebhookEvent,
  type WebhookEventName,
  type WebhookEventOf,
  webhookId,
} from './webhook.js'

export interface WebhookOptions {
  /** While a secret is being replaced, give both. */
  secret: string | readonly string[]
  /**
   * Functions by event. Other events are answered with 200 and dropped. `id` is the same when an event
   * comes again.
   */
  on: { [E in WebhookEventName]?: (event: WebhookEventOf<E>, id: string) => unknown }
  /** Whether this event was dealt with before; it is then answered with 200 at once. */
  seen?: ((id: string) => boolean | Promise<boolean>) | undefined
  /** Gets what a function of yours threw. The event comes again, up to four times. */
  onError?: ((error: unknown) => void) | undefined
  toleranceSeconds?: number | undefined
  now?: (() => number) | undefined
}

const maxBodyBytes = 1024 * 1024
// The appliance waits 10 s for an answer.
const answerWithinMs = 9_000

/** For servers of the web's standard: `export default { fetch: webhookHandler({ … }) }`. */
export function webhookHandler(options: WebhookOptions): (request: Request) => Promise<Response> {
  return async (request) => {
    if (request.method !== 'POST')
      return new Response(null, { status: 405, headers: { allow: 'POST' } })
    const body = await collect(request.body ?? [])
    const status = await take(options, body, request.headers.get('svc-signature'))
    return new Response(null, { status })
  }
}

/** The needed parts of Node's IncomingMessage and ServerResponse. */
export interface NodeRequest extends AsyncIterable<Uint8Array> {
  method?: string | undefined
  headers: Record<string, string | string[] | undefined>
}
export interface NodeResponse {
  statusCode: number
  setHeader(name: string, value: string): unknown
  end(): unknown
}

/** For node:http: `createServer(nodeWebhook({ … }))`. */
export function nodeWebhook(
  options: WebhookOptions,
): (request: NodeRequest, response: NodeResponse) => void {
  const answer = async (request: NodeRequest): Promise<number> => {
    if (request.method !== 'POST') return 405
    const { 'svc-signature': header } = request.headers
    return take(options, await collect(request), typeof header === 'string' ? header : undefined)
  }
  return (request, response) => {
    const end = (status: number) => {
      response.statusCode = status
      if (status === 405) response.setHeader('allow', 'POST')
      // The rest of a body that is too large is not read.
      if (status === 413) response.setHeader('connection', 'close')
      response.end()
    }
    // The request was cut off. The answer will hardly arrive, but it ends the exchange.
    answer(request).then(end, () => end(400))
  }
}

/** The whole body, or undefined when it is too large. */
async function collect(
  stream: AsyncIterable<Uint8Array> | ReadableStream<Uint8Array> | Iterable<never>,
): Promise<Uint8Array | undefined> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of stream as AsyncIterable<Uint8Array>) {
    size += chunk.length
    if (size > maxBodyBytes) return undefined
    chunks.push(chunk)
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer())
}

/** The status to answer with. */
async function take(
  { secret, on, seen, onError, toleranceSeconds, now }: WebhookOptions,
  body: Uint8Array | undefined,
  header: string | null | undefined,
): Promise<number> {
  if (body === undefined) return 413
  let timer: ReturnType<typeof setTimeout> | undefined
  try {
    const event = await readWebhook(body, header, secret, { toleranceSeconds, now: now?.() })
    const late = new Promise<never>((_, reject) => {
      const error = new Error(`No end within ${answerWithinMs} ms`)
      timer = setTimeout(() => reject(error), answerWithinMs)
    })
    await Promise.race([late, deal(event, { on, seen })])
    return 200
  } catch (error) {
    if (error instanceof WebhookVerificationError) return 400
    onError?.(error)
    return 500
  } finally {
    clearTimeout(timer)
  }
}

async function deal(event: WebhookEvent, { on, seen }: Pick<WebhookOptions, 'on' | 'seen'>) {
  const handler = Object.hasOwn(on, event.event)
    ? (on[event.event] as ((event: WebhookEvent, id: string) => unknown) | undefined)
    : undefined
  if (handler === undefined) return
  const id = webhookId(event)
  if (await seen?.(id)) return
  await handler(event, id)
}
