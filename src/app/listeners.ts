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
  type ArchiveDeps,
  type ArchiveTools,
  archiveRoutes,
  type ViewedCopy,
} from '../archive/routes.js'
import {
  domainUses,
  type LiveLimit,
  refuseTemplateInUse,
  startForContact,
  type TakeOuts,
  templateUses,
  type Versions,
} from '../automations/index.js'
import { automationRoutes } from '../automations/routes.js'
import type { Plans } from '../billing/index.js'
import { billingRoutes } from '../billing/routes.js'
import type { SharedCounts } from '../bounded/index.js'
import { audienceUses } from '../broadcasts/index.js'
import { broadcastRoutes } from '../broadcasts/routes.js'
import type { Clock } from '../clock/index.js'
import { type ApplianceKey, type Config, usualTracking } from '../config/index.js'
import { contactFieldRoutes } from '../contact-fields/routes.js'
import type { BulkTasks, ContactEffect, Importer, ImportTasks } from '../contacts/index.js'
import { contactRoutes } from '../contacts/routes.js'
import type { DashboardDeps, EmailPageDeps, RunningAppliance } from '../dashboard/index.js'
import type { Backlog } from '../deliveries/index.js'
import { dmarcRoutes } from '../dmarc/routes.js'
import { recordSettings } from '../domains/index.js'
import { domainRoutes } from '../domains/routes.js'
import { type Idempotency, insertNotice, makeFetchFile } from '../emails/index.js'
import { emailRoutes } from '../emails/routes.js'
import type { Erasures } from '../erasure/index.js'
import { erasureRoutes } from '../erasure/routes.js'
import { ApiError } from '../errors/index.js'
import type { LandEvents } from '../events/index.js'
import type { FormTallies, SignupTokens } from '../forms/index.js'
import {
  type FormDesk,
  type FormPageDeps,
  formPages,
  formRoutes,
  makeFormDesk,
  sampleForm,
} from '../forms/routes.js'
import {
  type Api,
  type HttpServer,
  type HttpServerOptions,
  openHttpServer,
  type Pages,
  standalonePage,
} from '../http/index.js'
import type { Log } from '../log/index.js'
import type { NodeRecords } from '../nodes/index.js'
import { invitePages } from '../nodes/routes.js'
import { openApiRoutes } from '../openapi/routes.js'
import { operatorRoutes } from '../operator/routes.js'
import { makePeople } from '../people/index.js'
import { pictureRoutes, servedPictures } from '../pictures/routes.js'
import { makePreferenceLinks, makeUnsubscribeLinks, makeViewLinks } from '../preferences/index.js'
import { preferenceRoutes, sampleCentre } from '../preferences/routes.js'
import { receivingRoutes } from '../receiving/routes.js'
import { rehearse } from '../rehearsals/index.js'
import { testInboxRoutes } from '../sandbox/routes.js'
import { segmentRoutes } from '../segments/routes.js'
import { statsRoutes } from '../stats/routes.js'
import type { Store } from '../store/index.js'
import { suppressionRoutes } from '../suppression/routes.js'
import { surgeRoutes } from '../surges/routes.js'
import type { Renderer } from '../templates/index.js'
import { templateRoutes } from '../templates/routes.js'
import { topicRoutes } from '../topics/routes.js'
import { domainSwitches, makeTrackingTokens, setSwitches } from '../tracking/index.js'
import { trackingRoutes } from '../tracking/routes.js'
import { makeWebhookTrials, webhookRoutes } from '../webhooks/routes.js'
import { makeApiAudit } from './api-audit.js'
import { listenerCertificates } from './certificates.js'
import { shapingFiles } from './files.js'
import type { Health } from './health.js'
import { healthRoutes } from './health.js'
import type { Hold } from './hold.js'
import { trustedProvider } from './log-in-provider.js'
import { countAnswers, type Metrics } from './metrics.js'
import { permissionOf } from './operations.js'
import { makeOperatorAudit } from './operator-audit.js'
import { openResolver } from './resolver.js'
import { surgeSettings } from './surges.js'

/*
 * The two HTTP listeners, each with the routes of the folders that have some.
 */
// By client address; mail programs fetch through few of them.
const publicRateLimit = { requests: 600, windowMs: 60_000 }

/** What is answered while an upgrade holds all else: they ask whether it goes well. */
const ownPages = new Set(['/healthz', '/readyz', '/metrics'])

interface ListenerOptions {
  config: Config
  configFile?: string | undefined
  dataDir: string
  log: Log
}

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
    // All but what tells whether it goes well: the upgrade that holds the start asks there.
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
  const automations = { ...core, follow, maxQueued, meter: metrics.meter }
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
  // Programs wait at the sandbox's inbox, and an upgrade has to see that all of the release can be loaded. Otherwise most
  // of the time nobody looks at pages, whose code takes 3 MB.
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
    rehearse: (accountId, id) => rehearse(rehearsing, accountId, id),
  })
}

/** Today's files and answers: what is rehearsed is the campaign of now. */
const rehearsingBy = (
  { config, dataDir }: Pick<ListenerOptions, 'config' | 'dataDir'>,
  clock: Clock,
) => ({
  outbound: config.outbound,
  shapingFiles: () => shapingFiles(dataDir),
  openResolver: resolverOf(config, clock),
})

/** What other machines ask, which do not log in. */
function machinePages(pages: Pages, { node }: Config, core: Core): void {
  const { health, metrics } = core
  healthRoutes(pages, health)
  if (metrics.expose !== undefined) pages.get('/metrics', metrics.expose)
  if (node.join) invitePages(pages, core)
}

/** The operator's API, whose callers are none of an account and are known by keys of their own. */
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

const resolverOf = (config: Config, clock: Clock) => () => openResolver(config.dns, clock)

/** What the pages of accounts and of the operator work with. */
function dashboardDeps(
  { config, configFile, dataDir, log }: ListenerOptions,
  core: Core,
  made: Pick<DashboardDeps, 'automations' | 'contacts' | 'document' | 'mail' | 'tryWebhook'>,
): DashboardDeps {
  const { store, clock } = core
  const ownResolver = resolverOf(config, clock)
  return {
    ...made,
    store,
    clock,
    key: core.key,
    plans: core.plans,
    publicUrl: core.publicUrl,
    outbound: config.outbound,
    sandbox: config.outbound.route === 'sandbox',
    backupDir: config.backup.dir,
    records: recordSettings(config, core.others),
    openResolver: ownResolver,
    counts: core.counts,
    imports: core.imports,
    bulk: core.bulk,
    erasures: core.erasures,
    takeOuts: core.takeOuts,
    sampleCentre: (accountId) => sampleCentre(store.read, accountId),
    sampleForm: (accountId) => sampleForm(store.read, accountId),
    webhookTargets: config.webhooks.allow,
    tracking: config.tracking,
    operator: {
      store,
      clock,
      config,
      configFile,
      dataDir,
      plans: core.plans,
      land: core.land,
      running: core.running,
      certificates: () => listenerCertificates(config),
      shapingFiles: () => shapingFiles(dataDir),
      openResolver: ownResolver,
    },
    plainHttp: config.dashboard.plainHttp,
    provider: trustedProvider({ clock, key: core.key, log, resolver: ownResolver() }, config),
    hostNames: config.http.private.allowedHosts.map((name) => name.toLowerCase()),
    sendNotice: (mail) => mailOwn(core, config, mail),
    people: makePeople({
      store,
      clock,
      key: core.key,
      // A password alone may be guessed or seen; on a loopback address only who is on the machine could use it.
      asksFactorOfOperators: othersReachPages(config),
      counts: core.counts,
    }),
  }
}

/** Whether others than this machine reach the pages. Behind a proxy all come from the loopback interface. */
function othersReachPages({ http }: Config): boolean {
  const isLoopback = /^(localhost|127\.|::1$)/.test(http.private.host)
  const proxies = http.trustedProxies.length + http.proxyProtocolFrom.length
  return !isLoopback || proxies > 0 || http.private.tls.enabled
}

/** What pages about mail need beside what accepts it. */
const aboutMail = ({ config, dataDir }: ListenerOptions, core: Core) => ({
  rehearsing: rehearsingBy({ config, dataDir }, core.clock),
  protection: config.protection,
  gateOf: core.gateOf,
  tracking: usualTracking(config),
  sentCopy: makeSentCopyLater(config, core),
})

/** Makes copies of mails for people to look at. All of outbound comes along with the first of them. */
function makeSentCopyLater(
  { outbound }: Config,
  { store, clock, key, publicUrl, renderer }: Core,
): EmailPageDeps['sentCopy'] {
  const deps = { store, clock, key, publicUrl, config: outbound, renderer: () => renderer }
  let made: Promise<EmailPageDeps['sentCopy']> | undefined
  return async (copy) => {
    made ??= import('../outbound/index.js').then(({ makeSentCopies }) => makeSentCopies(deps))
    return await (await made)(copy)
  }
}

/** Makes copies of mails for their recipients, in browsers; outbound comes along as above. */
function makeViewedCopyLater(
  config: Config,
  { store, clock, key, publicUrl, renderer }: Core,
): ViewedCopy {
  const tracking = usualTracking(config)
  const deps = { store, clock, key, publicUrl, tracking, renderer: () => renderer }
  let made: Promise<ViewedCopy> | undefined
  return async (copy) => {
    made ??= import('../outbound/index.js').then(({ makeViewedCopies }) => makeViewedCopies(deps))
    return await (await made)(copy)
  }
}

/** A mail of the appliance itself, to somebody who is asked to log in. */
async function mailOwn(
  { store, clock, backlog, ring }: Core,
  { outbound, operator }: Config,
  mail: { to: string; subject: string; text: string },
): Promise<boolean> {
  const { retry } = outbound
  const { from } = operator
  const made = await store.write((tx) =>
    insertNotice({ store, retry }, tx, { ...mail, from, now: clock.now() }),
  )
  if (made === undefined) return false
  backlog.change(1)
  ring(made.due)
  return true
}

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
  // RFC 8555 §8.3: asked for without TLS, by the name that is to be proved.
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
  // Somebody who looks up an address from a mail comes here; they learn nothing of who sends by it.
  server.pages.get('/', async () =>
    standalonePage('A mail server', [
      'Links in mail lead here: to choose what you get, to unsubscribe, and to the pages that a mail points at.',
      'To change what you get, use the link at the end of a mail that you received. If you got mail that you did not ask for, mark it as spam: its sender is told.',
    ]),
  )
  await server.listen()
  return server
}

interface Core {
  store: Store
  /** What the other nodes want in the DNS. */
  others: readonly NodeRecords[]
  key: ApplianceKey
  clock: Clock
  metrics: Metrics
  ring: Parameters<typeof emailRoutes>[1]['ring']
  ringOthers: Parameters<typeof emailRoutes>[1]['ringOthers']
  backlog: Backlog
  health: Health
  hold: Hold
  counts: SharedCounts | undefined
  plans: Plans
  gateOf: EmailPageDeps['gateOf']
  /** Where recipients reach the public listener. */
  publicUrl: string
  land: LandEvents
  running: RunningAppliance
  renderer: Renderer
  importer: Importer
  imports: ImportTasks
  bulk: BulkTasks
  erasures: Erasures
  takeOuts: TakeOuts
  follow: ContactEffect
  idempotency: Idempotency
  expand: () => void
  automate: () => void
  automateIfDue: () => void
  versions: Versions
  isFull: () => Promise<boolean>
  checkRoom: () => Promise<void>
  liveLimit: LiveLimit
  forms: { tokens: SignupTokens; tallies: FormTallies }
  openDesk: (desk: FormDesk) => void
  openArchive: (tools: ArchiveTools) => void
  overTls: HttpServerOptions<never>['overTls']
}
