import { type Call, makeCall, makeMethods } from './call.js'
import { type Clock, systemClock } from './clock.js'
import { emailMethods } from './emails.js'
import { makePace } from './pace.js'
import {
  type CallOptions,
  type Core,
  type RequestSeen,
  type ResponseSeen,
  request,
} from './request.js'
import {
  automationMethods,
  brandMethods,
  broadcastMethods,
  contactMethods,
  domainMethods,
  eventMethods,
  formMethods,
  inboxMethods,
  keyMethods,
  pictureMethods,
  receivedMethods,
  receivingMethods,
  segmentMethods,
  statsMethods,
  suppressionMethods,
  surgeMethods,
  templateMethods,
  topicMethods,
  webhookMethods,
} from './resources.js'
import { clientVersion, type Plan } from './types.js'

export interface PosthornOptions {
  /** Where the appliance's API is, such as `http://posthorn.internal:8080`; else POSTHORN_URL. */
  url?: string | undefined
  /** The key, or a function that gives it for each request; else POSTHORN_API_KEY. */
  apiKey?: string | (() => string | undefined | Promise<string | undefined>) | undefined
  /** Used instead of the global fetch. */
  fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined
  /** Milliseconds for each attempt; default 30,000. */
  timeout?: number | undefined
  /** How often a request may be tried again; default 3. */
  retries?: number | undefined
  /** Milliseconds for all attempts and waits of a call; default 120,000. */
  maxElapsed?: number | undefined
  /** How many bytes of an answer are read at most; default 64 MiB, twice the largest that an appliance gives. */
  maxAnswerBytes?: number | undefined
  /**
   * `wait` waits before requests that the rate limit would refuse. By default only `sendMany` does.
   */
  pace?: 'wait' | 'off' | undefined
  clock?: Clock | undefined
  /** A number below 1, like Math.random. */
  random?: (() => number) | undefined
  /** Put before the client's own. */
  userAgent?: string | undefined
  onRequest?: ((request: RequestSeen) => void) | undefined
  onResponse?: ((response: ResponseSeen) => void) | undefined
  onWarning?: ((message: string) => void) | undefined
}

interface Environment {
  process?: {
    env?: Record<string, string | undefined>
    versions?: Record<string, string | undefined>
  }
  window?: unknown
  document?: unknown
}

/** A client of one appliance, for one API key. Every failure is thrown: see `PosthornError`. */
export class Posthorn {
  // Declared alone: the constructor sets them, and the file has to stay within 8 KiB.
  declare readonly emails: ReturnType<typeof emailMethods>
  declare readonly broadcasts: ReturnType<typeof broadcastMethods>
  declare readonly contacts: ReturnType<typeof contactMethods>
  declare readonly topics: ReturnType<typeof topicMethods>
  declare readonly forms: ReturnType<typeof formMethods>
  declare readonly brand: ReturnType<typeof brandMethods>
  declare readonly pictures: ReturnType<typeof pictureMethods>
  declare readonly segments: ReturnType<typeof segmentMethods>
  declare readonly automations: ReturnType<typeof automationMethods>
  declare readonly events: ReturnType<typeof eventMethods>
  declare readonly suppressions: ReturnType<typeof suppressionMethods>
  declare readonly templates: ReturnType<typeof templateMethods>
  declare readonly webhooks: ReturnType<typeof webhookMethods>
  declare readonly domains: ReturnType<typeof domainMethods>
  declare readonly keys: ReturnType<typeof keyMethods>
  declare readonly receiving: ReturnType<typeof receivingMethods>
  declare readonly received: ReturnType<typeof receivedMethods>
  declare readonly surges: ReturnType<typeof surgeMethods>
  declare readonly inbox: ReturnType<typeof inboxMethods>
  /** Figures over time. */
  declare readonly stats: ReturnType<typeof statsMethods>
  /** No key is needed. */
  declare readonly plans: { list(options?: CallOptions): Promise<Plan[]> }
  readonly #core: Core
  readonly #call: Call
  #warn: ((message: string) => void) | undefined

  constructor(options: PosthornOptions = {}) {
    const core = coreOf(options)
    const call = makeCall(core)
    const methods = makeMethods(call)
    this.#core = core
    this.#call = call
    this.#warn = options.onWarning
    this.emails = emailMethods(methods, core.clock)
    this.broadcasts = broadcastMethods(methods)
    this.contacts = contactMethods(methods, core)
    this.topics = topicMethods(methods)
    this.forms = formMethods(methods)
    this.brand = brandMethods(methods)
    this.pictures = pictureMethods(methods)
    this.segments = segmentMethods(methods)
    this.automations = automationMethods(methods)
    this.events = eventMethods(methods)
    this.suppressions = suppressionMethods(methods)
    this.templates = templateMethods(methods)
    this.webhooks = webhookMethods(methods)
    this.domains = domainMethods(methods)
    this.keys = keyMethods(methods)
    this.receiving = receivingMethods(methods)
    this.received = receivedMethods(methods)
    this.surges = surgeMethods(methods)
    this.inbox = inboxMethods(methods)
    this.stats = statsMethods(methods)
    this.plans = { list: methods.part('GET /v1/billing/plans', 'plans') }
  }

  /** The OpenAPI document of the server. */
  openapi(options?: CallOptions) {
    return this.#call('GET /v1/openapi.json', {}, options)
  }

  /** The versions of both sides; tells `onWarning`, once, when they differ. */
  async version(options?: CallOptions): Promise<{ client: string; server: string }> {
    const { info } = await this.openapi(options)
    const server = String((info as { version?: unknown }).version)
    if (server !== clientVersion) {
      this.#warn?.(`The server is ${server}, this client ${clientVersion}: install the server's`)
      this.#warn = undefined
    }
    return { client: clientVersion, server }
  }

  /**
   * Any request, for operations that are newer than this client. A POST has an Idempotency-Key too.
   */
  request(
    method: string,
    path: string,
    given: { query?: Record<string, unknown>; body?: unknown } & CallOptions = {},
  ): Promise<unknown> {
    const { query, body, ...options } = given
    return request(this.#core, { method, path, query, body }, options)
  }

  toString(): string {
    return `Posthorn(${this.#core.url})`
  }

  toJSON(): { url: string } {
    return { url: this.#core.url }
  }

  // What Node's console shows.
  [Symbol.for('nodejs.util.inspect.custom')](): string {
    return this.toString()
  }
}

function coreOf(options: PosthornOptions): Core {
  const { process, window, document } = globalThis as Environment
  // In Node, where a key is safe, jsdom has both too.
  if (window !== undefined && document !== undefined && process?.versions?.node === undefined) {
    throw new Error(
      'An API key in a page belongs to everybody who opens it: call Posthorn from your server',
    )
  }
  const url = options.url ?? process?.env?.POSTHORN_URL
  if (url === undefined) throw new TypeError('Posthorn needs url, or POSTHORN_URL')
  const apiKey = options.apiKey ?? process?.env?.POSTHORN_API_KEY
  const clock = options.clock ?? systemClock
  const node = process?.versions?.node?.split('.')[0]
  const agent = [options.userAgent, `posthorn-client/${clientVersion}`, node && `node/${node}`]
  return {
    // The URL that quickstart and pages show may end with /v1.
    url: checkedUrl(url).replace(/\/+(v1\/*)?$/, ''),
    apiKey: async () => (typeof apiKey === 'function' ? apiKey() : apiKey),
    // Looked up for each request: tests replace the global one later.
    fetch: options.fetch ?? ((to, init) => fetch(to, init)),
    timeout: options.timeout ?? 30_000,
    retries: options.retries ?? 3,
    maxElapsed: options.maxElapsed ?? 120_000,
    maxAnswerBytes: options.maxAnswerBytes ?? 64 * 1_024 ** 2,
    waits: options.pace === 'wait',
    pace: makePace(clock),
    clock,
    random: options.random ?? Math.random,
    userAgent: agent.filter((part) => part !== undefined).join(' '),
    onRequest: options.onRequest,
    onResponse: options.onResponse,
  }
}

function checkedUrl(url: string): string {
  const { protocol, username } = new URL(url)
  if (/^https?:$/.test(protocol) && username === '') return url
  throw new TypeError('url is not http: or https: without a user and a password')
}
