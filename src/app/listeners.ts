import { hostname } from 'node:os'
import {
  makeAuthenticate,
  type Principal,
  permissionOf,
  refuseBeyondScope,
} from '../accounts/index.js'
import { keyRoutes } from '../accounts/routes.js'
import {
  domainUses,
  type LiveLimit,
  makeFollowContacts,
  refuseTemplateInUse,
  templateUses,
  tooManyRuns,
  type Versions,
} from '../automations/index.js'
import { automationRoutes } from '../automations/routes.js'
import type { Plans } from '../billing/index.js'
import { billingRoutes } from '../billing/routes.js'
import { broadcastRoutes } from '../broadcasts/routes.js'
import type { Clock } from '../clock/index.js'
import type { ApplianceKey, Config } from '../config/index.js'
import type { Importer } from '../contacts/index.js'
import { contactRoutes } from '../contacts/routes.js'
import { dashboardRoutes } from '../dashboard/routes.js'
import type { Backlog } from '../deliveries/index.js'
import { dmarcRoutes } from '../dmarc/routes.js'
import { recordSettings } from '../domains/index.js'
import { domainRoutes } from '../domains/routes.js'
import { type Idempotency, makeFetchFile } from '../emails/index.js'
import { emailRoutes } from '../emails/routes.js'
import { type HttpServer, openHttpServer } from '../http/index.js'
import type { Log } from '../log/index.js'
import { openApiRoutes } from '../openapi/routes.js'
import { makePreferenceLinks, makeUnsubscribeLinks } from '../preferences/index.js'
import { preferenceRoutes } from '../preferences/routes.js'
import { statsRoutes } from '../stats/routes.js'
import type { Store } from '../store/index.js'
import { suppressionRoutes } from '../suppression/routes.js'
import type { Renderer } from '../templates/index.js'
import { templateRoutes } from '../templates/routes.js'
import { topicRoutes } from '../topics/routes.js'
import {
  domainSwitches,
  makeTrackingTokens,
  type Recorder,
  setSwitches,
} from '../tracking/index.js'
import { trackingRoutes } from '../tracking/routes.js'
import { webhookRoutes } from '../webhooks/routes.js'
import type { Health } from './health.js'
import { healthRoutes } from './health-routes.js'
import { countAnswers, type Metrics } from './metrics.js'
import { openResolver } from './resolver.js'

/*
 * The two HTTP listeners, each with the routes of the folders that have some.
 */
// By client address; mail programs fetch through few of them.
const publicRateLimit = { requests: 600, windowMs: 60_000 }

/** What applications and the operator reach: the API, the pages, the metrics. */
export async function openPrivateServer(
  { config, log, isLate }: { config: Config; log: Log; isLate?: boolean },
  core: Core,
): Promise<HttpServer<Principal>> {
  const { http } = config
  const { store, clock, metrics } = core
  const server = await openHttpServer<Principal>({
    ...http.private,
    allowedHosts: ['localhost', hostname(), ...http.private.allowedHosts],
    log: log.child({ listener: 'private' }),
    clock,
    authenticate: makeAuthenticate({ store, clock }),
    permit: (principal, route) => refuseBeyondScope(principal, permissionOf(route)),
    repeats: core.idempotency,
    rateKey: (principal) => principal.keyId,
    rateLimit: { requests: http.rateLimit.requests, windowMs: http.rateLimit.window },
    trustedProxies: [...http.trustedProxies],
    onAnswer: countAnswers(metrics.meter, 'private'),
  })
  const { retry, maxQueued } = config.outbound
  const { defaultCountry } = config.contacts
  const follow = makeFollowContacts(core.versions, clock, core.liveLimit)
  const checkRoom = async () => {
    if (await core.isFull()) throw tooManyRuns()
  }
  const followed = core.automateIfDue
  contactRoutes(server.api, { ...core, defaultCountry, follow, followed, checkRoom })
  suppressionRoutes(server.api, core)
  topicRoutes(server.api, core)
  const { allow, maxBytes, maxCount } = config.attachments
  const fetchFile = makeFetchFile({ clock, resolver: openResolver(config.dns, clock), allow })
  const attachments = { maxBytes, maxCount, fetchFile }
  const sending = { ...core, log, retry, maxQueued, defaultCountry, attachments }
  emailRoutes(server.api, sending)
  broadcastRoutes(server.api, sending)
  automationRoutes(server.api, { ...core, follow, maxQueued, meter: metrics.meter })
  templateRoutes(server.api, {
    ...core,
    usesOf: (accountId, slug, version) => templateUses(store.read, accountId, slug, version),
    refuseInUse: (accountId, slug) => refuseTemplateInUse(store.read, accountId, slug),
  })
  const ownResolver = () => openResolver(config.dns, clock)
  webhookRoutes(server.api, { ...core, openResolver: ownResolver, allow: config.webhooks.allow })
  billingRoutes(server.api, core)
  keyRoutes(server.api, core)
  domainRoutes(server.api, {
    ...core,
    settings: recordSettings(config),
    openResolver: ownResolver,
    automationsFrom: (accountId, name) => domainUses(store.read, accountId, name),
    switchesOf: domainSwitches,
    setSwitches: (domainId, changes) => setSwitches({ store }, { domainId }, changes),
  })
  dmarcRoutes(server.api, {
    ...{ store, clock, outbound: config.outbound },
    openResolver: ownResolver,
  })
  statsRoutes(server.api, { store, clock })
  dashboardRoutes(server.pages, {
    ...{ store, clock, sandbox: config.outbound.route === 'sandbox' },
    backupDir: config.backup.dir,
  })
  openApiRoutes(server, { whenAsked: isLate })
  healthRoutes(server.pages, core.health)
  if (metrics.expose !== undefined) server.pages.get('/metrics', metrics.expose)
  await server.listen()
  return server
}

/** What recipients reach: the pages behind the links in their mail. */
export async function openPublicServer(
  { config, log }: { config: Config; log: Log },
  deps: { store: Store; clock: Clock; key: ApplianceKey; metrics: Metrics; recorder: Recorder },
) {
  const { store, clock, key, metrics, recorder } = deps
  const { http } = config
  const server = await openHttpServer<never>({
    host: http.public.host,
    port: http.public.port,
    log: log.child({ listener: 'public' }),
    clock,
    trustedProxies: [...http.trustedProxies],
    pageRateLimit: publicRateLimit,
    onAnswer: countAnswers(metrics.meter, 'public'),
  })
  // Tokens are read here and made elsewhere, so the URL before them does not matter.
  preferenceRoutes(server.pages, {
    store,
    clock,
    unsubscribeLinks: makeUnsubscribeLinks(key, ''),
    preferenceLinks: makePreferenceLinks(key, ''),
  })
  trackingRoutes(server.pages, { clock, tokens: makeTrackingTokens(key), recorder })
  server.pages.get('/', async () => ({
    text: 'Posthorn\n',
    contentType: 'text/plain; charset=utf-8',
  }))
  await server.listen()
  return server
}

interface Core {
  store: Store
  key: ApplianceKey
  clock: Clock
  metrics: Metrics
  ring: Parameters<typeof emailRoutes>[1]['ring']
  backlog: Backlog
  health: Health
  plans: Plans
  renderer: Renderer
  importer: Importer
  idempotency: Idempotency
  expand: () => void
  automate: () => void
  automateIfDue: () => void
  versions: Versions
  isFull: () => Promise<boolean>
  liveLimit: LiveLimit
}
