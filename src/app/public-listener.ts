import { type ArchiveDeps, archiveRoutes } from '../archive/routes.js'
import type { Config } from '../config/index.js'
import { ApiError } from '../errors/index.js'
import { type FormPageDeps, formPages } from '../forms/routes.js'
import { type HttpServerOptions, openHttpServer, standalonePage } from '../http/index.js'
import type { Log } from '../log/index.js'
import { invitePages } from '../nodes/routes.js'
import { servedPictures } from '../pictures/routes.js'
import { makePreferenceLinks, makeUnsubscribeLinks, makeViewLinks } from '../preferences/index.js'
import { preferenceRoutes } from '../preferences/routes.js'
import { makeTrackingTokens } from '../tracking/index.js'
import { trackingRoutes } from '../tracking/routes.js'
import type { Core } from './listener-parts.js'
import { countAnswers } from './metrics.js'

// By client address; mail programs fetch through few addresses.
const publicRateLimit = { requests: 600, windowMs: 60_000 }

/** What recipients reach: the pages behind the links in their mail. */
export async function openPublicServer(
  { config, log }: { config: Config; log: Log },
  deps: Pick<Core, 'store' | 'clock' | 'key' | 'metrics' | 'hold' | 'counts'> & {
    recorder: Parameters<typeof trackingRoutes>[1]['recorder']
    challenge: (token: string) => Promise<string | undefined>
    overTls: HttpServerOptions<never>['overTls']
    forms: Pick<FormPageDeps, 'tokens' | 'tallies' | 'desk' | 'machineSign'>
    archive: Pick<ArchiveDeps, 'publicUrl' | 'tools'>
  },
) {
  const { store, clock, key, metrics, recorder, challenge, overTls } = deps
  const { http } = config
  const server = await openHttpServer<never>({
    // No `allowedHosts`: the names of accounts' links lead here by CNAME, and a token says what is meant.
    host: http.public.host,
    port: http.public.port,
    log: log.child({ listener: 'public' }),
    clock,
    trustedProxies: [...http.trustedProxies],
    pageRateLimit: publicRateLimit,
    together: deps.counts?.of,
    overTls,
    refuse: () => deps.hold.refuse(),
    onAnswer: countAnswers(metrics.meter, 'public'),
  })
  // Tokens are read here and made elsewhere, so the URL before them does not matter.
  preferenceRoutes(server.pages, {
    store,
    clock,
    unsubscribeLinks: makeUnsubscribeLinks(key, ''),
    preferenceLinks: makePreferenceLinks(key, ''),
  })
  servedPictures(server.pages, { store })
  archiveRoutes(server.pages, { store, viewLinks: makeViewLinks(key, ''), ...deps.archive })
  formPages(server.pages, { store, clock, ...deps.forms })
  trackingRoutes(server.pages, { clock, tokens: makeTrackingTokens(key), recorder })
  if (config.node.join) invitePages(server.pages, { store, clock })
  // RFC 8555 §8.3: it is asked for without TLS, by the name that is to be proved.
  server.pages.get(
    '/.well-known/acme-challenge/:token',
    async ({ params }) => {
      const text = await challenge(params.token ?? '')
      if (text === undefined)
        throw new ApiError('not_found', 'There is no ACME challenge with this token')
      return { text, contentType: 'application/octet-stream' }
    },
    { alsoPlain: true },
  )
  // Somebody who looks up an address from a mail comes here; they do not learn who sends by it.
  server.pages.get('/', async () =>
    standalonePage('A mail server', [
      'Links in mail lead here: to choose what you get, to unsubscribe, and to the pages that a mail points at.',
      'To change what you get, use the link at the end of a mail that you received. If you got mail that you did not ask for, mark it as spam: its sender is told.',
    ]),
  )
  await server.listen()
  return server
}
