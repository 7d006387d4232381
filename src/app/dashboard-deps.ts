import type { Clock } from '../clock/index.js'
import { type Config, usualTracking } from '../config/index.js'
import type { DashboardDeps } from '../dashboard/index.js'
import { recordSettings } from '../domains/index.js'
import { sampleForm } from '../forms/routes.js'
import { makePeople } from '../people/index.js'
import { sampleCentre } from '../preferences/routes.js'
import { listenerCertificates } from './certificates.js'
import { shapingFiles } from './files.js'
import type { Core, ListenerOptions } from './listener-parts.js'
import { trustedProvider } from './log-in-provider.js'
import { makeSentCopyLater } from './mail-copies.js'
import { mailOwn } from './own-mail.js'
import { resolverOf } from './resolver.js'

/** What the pages of accounts and of the operator work with. */
export function dashboardDeps(
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
    memory: core.memory,
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
      // Somebody may guess or see a password. On a loopback address only people on this machine could use it.
      asksFactorOfOperators: othersReachPages(config),
      counts: core.counts,
    }),
  }
}

/** Whether others than this machine reach the pages. Behind a proxy all requests come from the loopback interface. */
function othersReachPages({ http }: Config): boolean {
  const isLoopback = /^(localhost|127\.|::1$)/.test(http.private.host)
  const proxies = http.trustedProxies.length + http.proxyProtocolFrom.length
  return !isLoopback || proxies > 0 || http.private.tls.enabled
}

/** What pages about mail need beside what accepts it. */
export const aboutMail = ({ config, dataDir }: ListenerOptions, core: Core) => ({
  rehearsing: rehearsingBy({ config, dataDir }, core.clock),
  protection: config.protection,
  gateOf: core.gateOf,
  tracking: usualTracking(config),
  sentCopy: makeSentCopyLater(config, core),
})

/** Reads today's files and answers: a rehearsal is of the campaign as it is now. */
export const rehearsingBy = (
  { config, dataDir }: Pick<ListenerOptions, 'config' | 'dataDir'>,
  clock: Clock,
) => ({
  outbound: config.outbound,
  shapingFiles: () => shapingFiles(dataDir),
  openResolver: resolverOf(config, clock),
})
