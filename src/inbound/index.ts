import type { Clock } from '../clock/index.js'
import type { Config } from '../config/index.js'
import type { ReturnPaths } from '../deliveries/index.js'
import type { Log } from '../log/index.js'
import type { Store } from '../store/index.js'
import { readCertificate } from './certificate.js'
import { type Listener, openListener } from './listener.js'
import { makeMailboxes } from './mailboxes.js'
import { openSpool } from './spool.js'
import { startTrimming } from './trim.js'

/**
 * What comes back by SMTP: bounces, complaints, and mail for the operator. What must hold: nothing is
 * taken but for our own signed return paths, feedback@, postmaster@ and abuse@; the final dot is
 * answered after the commit; no mail is ever answered with a mail; no client, however hostile, takes
 * another's place for long. See README.md.
 */
export { readCertificate } from './certificate.js'
export {
  deleteOperatorMail,
  findOperatorMail,
  listOperatorMails,
  type OperatorMail,
} from './operator-mails.js'

export interface InboundDeps {
  store: Store
  clock: Clock
  log: Log
  returnPaths: ReturnPaths
  config: Config['inbound']
  /** Of the appliance itself, its own name first. */
  hosts: readonly string[]
  /** After a delivery was accepted, reports about it are taken for so long. */
  tokenLifeMs: number
}

export interface Inbound {
  readonly port: number
  /** Reads the TLS files again; bad ones change nothing and are told. */
  reload(): void
  close(): Promise<void>
}

/** Opens the listener and all that follows it. */
export async function openInbound(deps: InboundDeps): Promise<Inbound> {
  const { store, clock, log, config, returnPaths } = deps
  const spool = await openSpool(deps, {
    waiting: config.maxWaiting,
    waitingPerAddress: Math.ceil(config.maxWaiting / 10),
  })
  const listener: Listener = await openListener({
    clock,
    log,
    spool,
    welcome: makeMailboxes({
      read: store.read,
      clock,
      returnPaths,
      hosts: [...deps.hosts, ...config.hosts],
      tokenLifeMs: deps.tokenLifeMs,
    }),
    ring: () => {},
    // What came of a mail of ours, or of an automaton, goes round in circles when it is sent on.
    mayForward: (mailFrom) =>
      config.forwardTo !== '' && mailFrom !== '' && returnPaths.deliveryOf(mailFrom) === undefined,
    certificate: readCertificate(config.tls),
    config: { ...config, name: deps.hosts[0] ?? 'localhost' },
  })
  const trimming = startTrimming({ store, clock, log }, config.keepMails)
  return {
    port: listener.port,
    reload() {
      try {
        const certificate = readCertificate(config.tls)
        if (certificate !== undefined) listener.setCertificate(certificate)
      } catch (error) {
        log.error({ error }, 'The new certificate is not used')
      }
    },
    async close() {
      await listener.close()
      await trimming.stop()
    },
  }
}
