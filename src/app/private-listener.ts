import { hostname } from 'node:os'
import {
  applianceAccountId,
  makeAuthenticate,
  makeAuthenticateOperator,
  type OperatorPrincipal,
  type Principal,
  refuseBeyondScope,
} from '../accounts/index.js'
import { brandRoutes, keyRoutes } from '../accounts/routes.js'
import {
  domainUses,
  refuseTemplateInUse,
  startForContact,
  templateUses,
} from '../automations/index.js'
import { automationRoutes } from '../automations/routes.js'
import { billingRoutes } from '../billing/routes.js'
import { audienceUses } from '../broadcasts/index.js'
import { broadcastRoutes } from '../broadcasts/routes.js'
import { type Config, usualTracking } from '../config/index.js'
import { contactFieldRoutes } from '../contact-fields/routes.js'
import { contactRoutes } from '../contacts/routes.js'
import type { DashboardDeps } from '../dashboard/index.js'
import { dmarcRoutes } from '../dmarc/routes.js'
import { recordSettings } from '../domains/index.js'
import { domainRoutes } from '../domains/routes.js'
import { makeFetchFile } from '../emails/index.js'
import { emailRoutes } from '../emails/routes.js'
import { erasureRoutes } from '../erasure/routes.js'
import { formRoutes, makeFormDesk } from '../forms/routes.js'
import { type Api, type HttpServer, openHttpServer, type Pages } from '../http/index.js'
import { invitePages } from '../nodes/routes.js'
import { openApiRoutes } from '../openapi/routes.js'
import { operatorRoutes } from '../operator/routes.js'
import { pictureRoutes } from '../pictures/routes.js'
import { receivingRoutes } from '../receiving/routes.js'
import { rehearseInTurn } from '../rehearsals/index.js'
import { testInboxRoutes } from '../sandbox/routes.js'
import { segmentRoutes } from '../segments/routes.js'
import { statsRoutes } from '../stats/routes.js'
import { suppressionRoutes } from '../suppression/routes.js'
import { surgeRoutes } from '../surges/routes.js'
import { templateRoutes } from '../templates/routes.js'
import { topicRoutes } from '../topics/routes.js'
import { domainSwitches, setSwitches } from '../tracking/index.js'
import { makeWebhookTrials, webhookRoutes } from '../webhooks/routes.js'
import { makeApiAudit } from './api-audit.js'
import { aboutMail, dashboardDeps, rehearsingBy } from './dashboard-deps.js'
import { shapingFiles } from './files.js'
import { healthRoutes } from './health.js'
import type { Core, ListenerOptions } from './listener-parts.js'
import { makeViewedCopyLater } from './mail-copies.js'
import { countAnswers } from './metrics.js'
import { permissionOf } from './operations.js'
import { makeOperatorAudit } from './operator-audit.js'
import { openResolver, resolverOf } from './resolver.js'
import { surgeSettings } from './surges.js'

/** Paths that are answered while an upgrade holds all else: they tell whether it goes well. */
const ownPages = new Set(['/healthz', '/readyz', '/metrics'])

/** A page elsewhere whose name was re-bound to this address must not speak for the browser (`http/guard.ts`). */
const ownNames = ({ http }: Config) => ({
  allowedHosts: ['localhost', hostname(), ...http.private.allowedHosts],
  hostAdvice:
    ': call it by its IP address, or add the name to allowed_hosts in [http.private] of posthorn.toml',
  strictApi: '/v1/operator/',
})

/** What applications and the operator reach: the API, the pages, the metrics. */
export async function openPrivateServer(
  options: ListenerOptions,
  core: Core,
): Promise<HttpServer<Principal>> {
  const { config, log } = options
  const { http } = config
  const { store, clock, metrics } = core
  const server = await openHttpServer<Principal>({
    host: http.private.host,
    port: http.private.port,
    ...ownNames(config),
    log: log.child({ listener: 'private' }),
    clock,
    authenticate: makeAuthenticate({ store, clock }),
    permit: (principal, route) => refuseBeyondScope(principal, permissionOf(route)),
    auditOf: makeApiAudit({ store, clock, log }),
    repeats: core.idempotency,
    // By key and not by account: an application that runs wild leaves the account's others their requests.
    rateKey: (principal) => principal.keyId,
    rateLimit: { requests: http.rateLimit.requests, windowMs: http.rateLimit.window },
    together: core.counts?.of,
    trustedProxies: [...http.trustedProxies],
    overTls: core.overTls,
    // Refuses all paths but those that tell whether it goes well: the upgrade that holds the start asks there.
    refuse: (path) => (ownPages.has(path) ? undefined : core.hold.refuse()),
    onAnswer: countAnswers(metrics.meter, 'private'),
  })
  const { retry, maxQueued } = config.outbound
  const { defaultCountry } = config.contacts
  const { follow, automateIfDue: followed } = core
  erasureRoutes(server.api, core)
  suppressionRoutes(server.api, core)
  topicRoutes(server.api, core)
  contactFieldRoutes(server.api, core)
  segmentRoutes(server.api, { ...core, usesOf: audienceUses })
  const { allow, maxBytes, maxCount } = config.attachments
  const fetchFile = makeFetchFile({ clock, resolver: openResolver(config.dns, clock), allow })
  const attachments = { maxBytes, maxCount, fetchFile }
  const surges = surgeSettings(config)
  const sending = { ...core, log, retry, maxQueued, defaultCountry, attachments, surges }
  const { forms, publicUrl } = core
  const desk = makeFormDesk({ ...sending, ...forms, publicUrl, follow, followed })
  core.openDesk(desk)
  core.openArchive({ renderer: core.renderer, viewedCopy: makeViewedCopyLater(config, core) })
  const { askFirst } = desk
  const contacts = {
    defaultCountry,
    follow,
    followed,
    checkRoom: core.checkRoom,
    askFirst,
    startRun: (...[billing, whom]: Parameters<DashboardDeps['contacts']['startRun']>) =>
      startForContact(core, billing, whom),
  }
  contactRoutes(server.api, { ...core, ...contacts })
  emailRoutes(server.api, sending)
  surgeRoutes(server.api, core)
  receivingRoutes(server.api, core)
  formRoutes(server.api, { store, clock, plans: core.plans, publicUrl, desk })
  brandRoutes(server.api, core)
  campaignRoutes(server.api, sending, options)
  const tracking = usualTracking(config)
  const automations = { ...core, follow, maxQueued, tracking, meter: metrics.meter }
  automationRoutes(server.api, automations)
  templateRoutes(server.api, {
    ...core,
    usesOf: (accountId, slug, version) => templateUses(store.read, accountId, slug, version),
    refuseInUse: (accountId, slug) => refuseTemplateInUse(store.read, accountId, slug),
  })
  pictureRoutes(server.api, core)
  const ownResolver = resolverOf(config, clock)
  const targets = { ...core, openResolver: ownResolver, allow: config.webhooks.allow }
  const tryWebhook = makeWebhookTrials(targets)
  webhookRoutes(server.api, { ...targets, tryWebhook })
  billingRoutes(server.api, core)
  keyRoutes(server.api, core)
  testInboxRoutes(server.api, core)
  domainRoutes(server.api, {
    ...core,
    settings: recordSettings(config, core.others),
    openResolver: ownResolver,
    automationsFrom: (accountId, name) => domainUses(store.read, accountId, name),
    switchesOf: domainSwitches,
    setSwitches: (domainId, changes) => setSwitches({ store }, { domainId }, changes),
  })
  dmarcRoutes(server.api, {
    store,
    clock,
    outbound: config.outbound,
    openResolver: ownResolver,
  })
  statsRoutes(server.api, { store, clock })
  const makeDocument = openApiRoutes(server, operatorApi(options, core, server))
  const pageDeps = dashboardDeps(options, core, {
    document: makeDocument,
    tryWebhook,
    contacts,
    automations,
    mail: { ...sending, ...aboutMail(options, core) },
  })
  const addPages = async (pages: Pages) => {
    const { dashboardRoutes } = await import('../dashboard/routes.js')
    dashboardRoutes(pages, pageDeps)
  }
  // Loaded at once where programs wait at the sandbox's inbox, and where an upgrade has to see that all of the release
  // can be loaded. Otherwise nobody looks at pages most of the time, and their code takes 3 MB.
  if (pageDeps.sandbox || core.hold.isOn) await addPages(server.pages)
  else server.loadPagesLater(addPages)
  machinePages(server.pages, config, core)
  await server.listen()
  return server
}

/** Campaigns, and their rehearsals. */
function campaignRoutes(
  api: Api<Principal>,
  sending: Omit<Parameters<typeof broadcastRoutes>[1], 'rehearse' | 'tracking'>,
  options: ListenerOptions,
): void {
  const { store, clock } = sending
  const rehearsing = { store, clock, ...rehearsingBy(options, clock) }
  broadcastRoutes(api, {
    ...sending,
    tracking: usualTracking(options.config),
    rehearse: (accountId, id) => rehearseInTurn(rehearsing, accountId, id, { forPeople: true }),
  })
}

/** The pages that other machines ask for, which do not log in. */
function machinePages(pages: Pages, { node }: Config, core: Core): void {
  const { health, metrics } = core
  healthRoutes(pages, health)
  if (metrics.expose !== undefined) pages.get('/metrics', metrics.expose)
  if (node.join) invitePages(pages, core)
}

/** The operator's API, whose callers belong to no account and have keys of their own. */
function operatorApi(
  { config, dataDir, log }: ListenerOptions,
  core: Core,
  server: HttpServer<Principal>,
): Api<OperatorPrincipal> | undefined {
  if (!config.http.private.operatorApi) return undefined
  const { store, clock, idempotency } = core
  const api = server.apiFor<OperatorPrincipal>({
    authenticate: makeAuthenticateOperator({ store, clock }),
    permit: undefined,
    auditOf: makeOperatorAudit({ store, clock, log }),
    repeats: {
      once: (asked, work) =>
        idempotency.once(
          { ...asked, account: { accountId: applianceAccountId, apart: 'operator' } },
          work,
        ),
    },
    rateKey: ({ keyId }) => keyId,
  })
  operatorRoutes(api, { ...core, config, shapingFiles: () => shapingFiles(dataDir) })
  return api
}
