import type { Plans } from '../billing/index.js'
import type { Certificates } from '../certificates/index.js'
import type { Clock } from '../clock/index.js'
import type { ApplianceKey, Config } from '../config/index.js'
import type { ReturnPaths, StreamDue } from '../deliveries/index.js'
import type { Resolver } from '../dns/index.js'
import type { InsertDeps } from '../emails/index.js'
import { messageOf } from '../errors/index.js'
import type { LandEvents } from '../events/index.js'
import type { Log } from '../log/index.js'
import type { Meter } from '../metrics/index.js'
import { openReceiving } from '../receiving/index.js'
import type { Store } from '../store/index.js'
import { startClerk } from './clerk.js'
import { type InboundListener, openListener } from './listener.js'
import { makeMailboxes } from './mailboxes.js'
import { makeReader } from './reader.js'
import type { Judging } from './reading.js'
import { openSpool } from './spool.js'
import { startTrimming } from './trim.js'

/**
 * What comes by SMTP: bounces, complaints, mail for the operator, and mail for accounts (`receiving/`). What must hold:
 * mail is taken only for our own signed return paths, feedback@, postmaster@ and abuse@, and addresses that an
 * account's rules name; the final dot is answered after the commit; no mail is ever answered with a mail; no client,
 * however hostile, takes another's place for long. See README.md.
 */
export { adoptSpooled } from './adopt-spooled.js'
export { type ForwardDeps, makeForwarding } from './forward.js'
export {
  deleteOperatorMail,
  findOperatorMail,
  listOperatorMails,
  type OperatorMail,
} from './operator-mails.js'

export {
  discardParkedReports,
  listParkedReports,
  type ParkedReport,
  readParkedReport,
  retryParkedReports,
} from './parked.js'

export interface InboundDeps {
  store: Store
  clock: Clock
  log: Log
  meter: Meter
  returnPaths: ReturnPaths
  config: Config['inbound']
  /** The certificates for STARTTLS, which is not offered without any. */
  certificates: Pick<Certificates, 'forName' | 'reload'>
  /** Host names of the appliance itself, its own name first. */
  hosts: readonly string[]
  /** For how long reports about a delivery are taken after it was accepted. */
  tokenLifeMs: number
  /** The rules that judge reports; read again after `reload`. */
  judging(): Judging
  /** For checking the signatures and senders of complaints. */
  resolver: Resolver
  land: LandEvents
  plans: Plans
  /** Seals and marks forwarded mail. */
  key: ApplianceKey
  retry: InsertDeps['retry']
  /** Tells the outbound threads what is due. */
  ring(due: readonly StreamDue[]): void
}

export interface Inbound {
  readonly port: number
  /** Mails of another appliance were taken over. */
  readAnew(): void
  /** Reads the TLS files and the rules again; bad TLS files are reported and change nothing. */
  reload(): void
  close(): Promise<void>
}

/** Opens the listener and all that follows it. */
export async function openInbound(deps: InboundDeps): Promise<Inbound> {
  const { store, clock, log, config, returnPaths, certificates } = deps
  const limits = { mails: config.maxWaiting, bytes: config.maxWaitingMib * 2 ** 20 }
  const spool = await openSpool(deps, limits)
  const reader = makeReader(deps)
  const receiving = await openReceiving({
    ...deps,
    mta: deps.hosts[0] ?? 'localhost',
    limits,
    rspamd: config.rspamd,
  })
  const listener: InboundListener = await openListener({
    clock,
    log,
    meter: deps.meter,
    spool,
    decideRcpt: makeMailboxes({
      read: store.read,
      clock,
      returnPaths,
      hosts: [...deps.hosts, ...config.hosts],
      tokenLifeMs: deps.tokenLifeMs,
      decideFor: receiving.decide,
    }),
    receiving,
    ring: () => clerk.ring(),
    // Replies to our own or to automatic mail would go round in circles if they were forwarded.
    mayForward: (mailFrom) =>
      config.forwardTo !== '' && mailFrom !== '' && returnPaths.deliveryOf(mailFrom) === undefined,
    certificateFor: certificates.forName,
    config: { ...config, name: deps.hosts[0] ?? 'localhost' },
  })
  const clerk = startClerk({ ...deps, spool, reader })
  const trimming = startTrimming(
    { store, clock, log },
    { keep: config.keepMails, tokenLifeMs: deps.tokenLifeMs },
  )
  return {
    port: listener.port,
    readAnew() {
      clerk.ringAnew()
      receiving.readAnew()
    },
    reload() {
      reader.renew()
      try {
        certificates.reload()
        listener.renew()
      } catch (error) {
        log.error({ cause: messageOf(error) }, 'The new file is not used')
      }
    },
    async close() {
      await listener.close()
      await clerk.close()
      await receiving.close()
      await trimming.stop()
    },
  }
}
