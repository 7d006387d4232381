import { makeCheckKey } from '../accounts/index.js'
import { counted } from '../amounts/index.js'
import type { SharedCounts } from '../bounded/index.js'
import type { Certificates } from '../certificates/index.js'
import type { Clock } from '../clock/index.js'
import { type Config, listenOf } from '../config/index.js'
import type { EmailDeps } from '../emails/index.js'
import { makeIdempotency, maxContentBytes } from '../emails/index.js'
import { ApiError } from '../errors/index.js'
import type { Meter } from '../metrics/index.js'
import { base64Size } from '../mime/index.js'
import { makeGate, makeQuota, makeRoom } from '../smtpd/index.js'
import { maxHeaderBytes } from './arriving.js'
import { makeClients } from './client.js'
import { makeFailedLogins } from './failed-logins.js'
import { openListener, type SubmissionListener } from './listener.js'
import type { ListenerName } from './session.js'
import { openSessionLog } from './session-log.js'

/**
 * Mail from programs that speak SMTP: one more door into `emails/`. What must hold: a password goes only over TLS; a
 * 250 means that the mail is on disk; a message leaves as it was written; nothing is accepted that the API would
 * refuse. See README.md.
 */
export { findSession, listSessions, type SubmissionSession } from './session.js'

/** What the submission listeners need of the appliance. */
export interface SubmissionDeps extends EmailDeps {
  meter: Meter
  config: Config
  certificates: Pick<Certificates, 'forName' | 'reload'>
  /** For messages while they arrive. */
  dir: string
  /** Ports that were taken before a restart, by the listener's name. */
  ports: Readonly<Record<string, number>>
  /** The counts that nodes share; undefined for an appliance with one node. */
  counts?: SharedCounts | undefined
}

/** The listeners that are open. */
export interface Submission {
  readonly ports: Readonly<Record<string, number>>
  /** Reads the TLS files again; bad ones change nothing and are logged. */
  reload(): void
  close(): Promise<void>
}

/** Takes as many mails from a key as the API takes requests from it; the two are counted apart. */
function makeKeyRate(
  clock: Clock,
  { requests, window }: Config['http']['rateLimit'],
  counts: SharedCounts | undefined,
) {
  const together = counts?.of('submission key')
  const quota = makeQuota(clock, { most: requests, windowMs: window, together })
  return (keyId: string): void => {
    if (requests === 0 || quota.take(keyId)) return
    const message = `Over ${counted(requests, 'mail')} of this key in ${window / 1_000} s; try again later`
    throw new ApiError('rate_limit_exceeded', message)
  }
}

/**
 * The three listeners that the settings may name, and who may connect to each: only the one without TLS is limited to
 * networks.
 */
const places = (config: Config['submission']) =>
  [
    { listener: 'starttls', at: config.starttls, networks: undefined },
    { listener: 'tls', at: config.tls, networks: undefined },
    { listener: 'plain', at: config.plain.listen, networks: config.plain.networks },
  ] as const

// Room for as much text and HTML as the API takes, and for a header; attachments are added to that.
const maxOtherBytes = maxContentBytes + maxHeaderBytes

/** Opens the listeners that the settings name. */
export async function openSubmission(deps: SubmissionDeps): Promise<Submission> {
  const { store, clock, log, certificates } = deps
  const { submission: config, outbound, http } = deps.config
  const gate = makeGate({
    connections: config.maxConnections,
    perAddress: config.connectionsPerAddress,
    perNetwork: config.connectionsPerNetwork,
    idleMs: config.idleTimeout,
    now: () => clock.now(),
    limit: (end) => clock.after(config.sessionTimeout, end),
  })
  const maxMessageBytes = base64Size(deps.config.attachments.maxBytes) + maxOtherBytes
  // However little room the operator gives, one message fits.
  const all = Math.max(config.maxArrivingMib * 2 ** 20, maxMessageBytes)
  const sessions = openSessionLog(deps, config.keepSessions)
  const shared = {
    clock,
    log,
    gate,
    sessions,
    dir: deps.dir,
    meter: deps.meter,
    emails: deps,
    idempotency: makeIdempotency({ store, clock }),
    failedLogins: makeFailedLogins(clock, deps.counts),
    // Half of the room for one address: all clients may come through one relay inside.
    room: makeRoom({ all, perNetwork: Math.max(all / 2, maxMessageBytes) }),
    clients: makeClients({
      read: store.read,
      clock,
      checkKey: makeCheckKey({ store, clock }),
      countMail: makeKeyRate(clock, http.rateLimit, deps.counts),
      trusted: config.trusted,
      counts: deps.counts,
    }),
    certificateFor: certificates.forName,
    name: outbound.heloName,
    idleTimeout: config.idleTimeout,
    proxyProtocolFrom: config.proxyProtocolFrom,
    maxMessageBytes,
  }
  const listeners = new Map<ListenerName, SubmissionListener>()
  const close = async () => {
    await Promise.all([...listeners.values()].map((listener) => listener.close()))
    gate.closeAll()
    // The database is closed after this, but connections report their end only later.
    await Promise.all([...listeners.values()].map((listener) => listener.ended()))
    await sessions.close()
  }
  try {
    for (const { listener, at, networks } of places(config)) {
      const address = listenOf(at)
      if (address === undefined) continue
      const port = deps.ports[listener] ?? address.port
      const opened = await openListener(shared, { listener, ...address, port, networks })
      listeners.set(listener, opened)
    }
  } catch (error) {
    await close()
    throw error
  }
  return {
    ports: Object.fromEntries([...listeners].map(([name, { port }]) => [name, port])),
    reload() {
      certificates.reload()
      for (const listener of listeners.values()) listener.renew()
    },
    close,
  }
}
