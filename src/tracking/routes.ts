import type { Clock } from '../clock/index.js'
import { ApiError } from '../errors/index.js'
import {
  makeRateLimiter,
  type Page,
  PageHeaders,
  type PageRequest,
  type Pages,
  refuseExcess,
} from '../http/index.js'
import type { Recorder } from './recorder.js'
import type { TrackingTokens } from './token.js'

export interface TrackingRoutesDeps {
  clock: Clock
  tokens: TrackingTokens
  recorder: Pick<Recorder, 'note'>
}

// By client address. A request with a genuine token is never refused: all readers of a mail provider may come from
// one address.
const strangersLimit = { requests: 600, windowMs: 60_000 }

/** The targets of pixels and links in mail, for the public listener. */
export function trackingRoutes(
  pages: Pages,
  { clock, tokens, recorder }: TrackingRoutesDeps,
): void {
  const strangers = makeRateLimiter(strangersLimit, clock)
  const unknown = (request: PageRequest): never => {
    refuseExcess(strangers.take(request.clientAddressKey))
    throw new ApiError(
      'not_found',
      'This link is not complete, or it was not made by this service. Please open the email again and follow it from there',
    )
  }

  // Links with http:// in sent mail go on working, also where their host has no certificate any more.
  pages.get(
    '/o/:name',
    (request): Page => {
      const name = request.params.name ?? ''
      const copy = name.endsWith('.gif') ? tokens.readOpen(name.slice(0, -4)) : undefined
      if (copy === undefined) return unknown(request)
      recorder.note(copy, askedBy(request, 'opened'))
      return { bytes: pixel, contentType: 'image/gif', fixed: quiet }
    },
    { unlimited: true, alsoPlain: true },
  )

  pages.get(
    '/c/:token',
    (request): Page => {
      const click = tokens.readClick(request.params.token ?? '')
      if (click === undefined) return unknown(request)
      const { links, target } = click
      recorder.note(click, { links, target, ...askedBy(request, 'clicked') })
      return { status: 302, redirect: target, fixed: quiet }
    },
    { unlimited: true, alsoPlain: true },
  )
}

const askedBy = (request: PageRequest, kind: 'opened' | 'clicked') => ({
  kind,
  userAgent: request.header('user-agent') ?? '',
  address: request.remoteAddress,
  onlyHead: request.method === 'HEAD',
  ahead: purposeHeaders.some((name) => saysAhead(request.header(name))),
})

// The headers by which browsers mark a prefetch; the first one is the standard (Fetch, Sec-Purpose).
const purposeHeaders = ['sec-purpose', 'purpose', 'x-moz', 'x-purpose']
const saysAhead = (purpose: string | undefined) =>
  purpose !== undefined && /\b(prefetch|prerender|preview)/i.test(purpose)

const quiet = new PageHeaders({ 'X-Robots-Tag': 'noindex' })

// 1 × 1, transparent, GIF89a.
const pixel = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64')
