import { type IncomingMessage, request as plainRequest } from 'node:http'
import { request as tlsRequest } from 'node:https'
import { isIP } from 'node:net'
import type { Clock } from '../../clock/index.js'
import type { Resolver } from '../../dns/index.js'
import { ApiError, messageOf } from '../../errors/index.js'
import { type GuardDeps, guardedLookup, hostOf, permittedAddresses } from '../../webhooks/index.js'

/** The result of asking for an address. */
export interface Followed {
  url: string
  good: boolean
  sentence: string
}

/** Asks for each address, and says what answered, in the order of `urls`. */
export type FollowLinks = (urls: readonly string[]) => Promise<Followed[]>

/** What following links needs; webhooks have the same guard. */
export interface FollowDeps {
  clock: Clock
  /** Called when links are first followed. */
  openResolver: () => Resolver
  /** `webhooks.allow`. */
  allow: readonly string[]
}

const maxLinks = 50
// Mails link to the same few servers; these must not take the requests for an attack.
const atOnce = 4
// The time for an address with all its redirects.
const eachMs = 5_000
const maxRedirects = 5

/**
 * Asks by HEAD, which changes nothing on servers that follow RFC 9110 §9.3.2, and by GET where HEAD is not known. As
 * for webhooks, it reaches only public addresses over https, and those in `allow`: whoever sends a mail to the sandbox
 * must not look around in the operator's network. One check runs at a time; a second one gets a 503.
 */
export function makeFollowLinks({ openResolver, allow, clock }: FollowDeps): FollowLinks {
  let running = false
  let deps: (GuardDeps & { clock: Clock }) | undefined
  return async (urls) => {
    if (running) {
      throw new ApiError(
        'service_unavailable',
        'Links of another mail are being followed; try again soon',
      )
    }
    running = true
    deps ??= { resolver: openResolver(), allow, clock }
    const guarded = deps
    try {
      // Each address once: a mail has those of its footer several times.
      const left = [...new Set(urls.filter((url) => /^https?:/i.test(url)))].slice(0, maxLinks)
      const answers = new Map<string, Followed>()
      // The workers empty `left`.
      const order = [...left]
      const worker = async () => {
        for (let url = left.shift(); url !== undefined; url = left.shift()) {
          answers.set(url, { url, ...(await follow(guarded, url)) })
        }
      }
      await Promise.all(Array.from({ length: atOnce }, worker))
      return order.flatMap((url) => answers.get(url) ?? [])
    } finally {
      running = false
    }
  }
}

/** Asks for one address and follows its redirects, judging each of them again. */
async function follow(
  deps: GuardDeps & { clock: Clock },
  text: string,
): Promise<Omit<Followed, 'url'>> {
  const stop = new AbortController()
  const cancel = deps.clock.after(eachMs, () => stop.abort())
  try {
    let url = URL.parse(text)
    for (let hops = 0; hops <= maxRedirects; hops++) {
      if (url === null || !/^https?:$/.test(url.protocol)) {
        return { good: false, sentence: 'It leads on to something that is not a web address.' }
      }
      // A bare IP address is judged here: it needs no DNS, and `lookup` would not see it.
      if (isIP(hostOf(url)) !== 0) await permittedAddresses(deps, url)
      const { status, location } = await ask(deps, url, stop.signal)
      if (status >= 300 && status < 400 && location !== undefined) {
        url = URL.parse(location, url.href)
        continue
      }
      const after =
        hops === 0 ? '' : `, after ${hops} redirect${hops === 1 ? '' : 's'}, at ${url.host}`
      return { good: status >= 200 && status < 300, sentence: `Answered ${status}${after}.` }
    }
    return { good: false, sentence: `Led on more than ${maxRedirects} times.` }
  } catch (error) {
    if (stop.signal.aborted)
      return { good: false, sentence: `No answer within ${eachMs / 1_000} s.` }
    return { good: false, sentence: `Not reached: ${messageOf(error)}` }
  } finally {
    cancel()
  }
}

/** HEAD, and GET where HEAD is not known. The body is never read: only the status counts. */
async function ask(
  deps: GuardDeps,
  url: URL,
  signal: AbortSignal,
): Promise<{ status: number; location: string | undefined }> {
  for (const method of ['HEAD', 'GET']) {
    const response = await head(deps, url, method, signal)
    response.destroy()
    const status = response.statusCode ?? 0
    // RFC 9110 §15.5.6, §15.6.2: the server does not know HEAD.
    if (method === 'GET' || (status !== 405 && status !== 501)) {
      return { status, location: response.headers.location }
    }
  }
  return { status: 0, location: undefined }
}

/** One request, on a connection of its own. */
function head(
  deps: GuardDeps,
  url: URL,
  method: string,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const send = url.protocol === 'https:' ? tlsRequest : plainRequest
  return new Promise((resolve, reject) => {
    const request = send(url, {
      // Without an agent no connection is reused: each was judged for one address only.
      method,
      agent: false,
      signal,
      maxHeaderSize: 16_384,
      // Judged for this very connection: a DNS that gives another answer the second time gains
      // nothing (DNS rebinding).
      lookup: guardedLookup(deps, url),
      headers: { 'user-agent': 'Posthorn link check', accept: '*/*' },
    })
    request.once('response', resolve)
    request.once('error', reject)
    // A reply that is no answer, such as 101, ends the connection without an error.
    request.once('close', () => reject(new Error('no answer')))
    request.end()
  })
}
