import type { Clock } from '../clock/index.js'
import { OperatorError } from '../errors/index.js'
import type { Log } from '../log/index.js'
import type { Meter } from '../metrics/index.js'
import type { Receiving } from '../receiving/index.js'
import {
  boundSessions,
  type CertificateFor,
  guardListener,
  makeGate,
  makeProxyDoor,
  offerNow,
  type Refusal,
  refuseFor,
  sniOptions,
  takeBarePaths,
  takeQuotedLocals,
  tellPeers,
} from '../smtpd/index.js'
import type { RcptDecision } from './mailboxes.js'
import type { Spool } from './spool.js'
import { makeTransactions, maxMessageBytes } from './transaction.js'

/** What the listener needs and calls. */
export interface InboundListenerDeps {
  clock: Clock
  log: Log
  meter: Meter
  spool: Spool
  decideRcpt(recipient: string): Promise<RcptDecision>
  /** Called after each stored report. */
  ring(): void
  /** Whether mail for the operator may be forwarded. */
  mayForward(mailFrom: string): boolean
  /** Takes mail for accounts. */
  receiving: Pick<Receiving, 'judge' | 'keep' | 'refused'>
  certificateFor: CertificateFor
  config: ListenerConfig
}

/** Where it listens, and how much of it one client may have. */
export interface ListenerConfig {
  host: string
  port: number
  /** How it greets. */
  name: string
  maxConnections: number
  connectionsPerAddress: number
  connectionsPerNetwork: number
  idleTimeout: number
  sessionTimeout: number
  /** Peers that have to begin with a PROXY header, which names the client. */
  proxyProtocolFrom: readonly string[]
}

export interface InboundListener {
  readonly port: number
  readonly connections: number
  /** New sessions get the present certificates. */
  renew(): void
  /** Lets transactions under way end for a moment, then closes them. */
  close(): Promise<void>
}

// notes/mta.md §3, 'Limits'.
const maxRecipients = 100
const maxCommandBytes = 2 * 1024
// Refusals of all kinds count: a client that goes on at once after 'try again later' is no mail server.
const maxRefusedCommands = 50
// From one mail to the next. A mail with the most recipients needs about one reply for each.
const maxReplies = maxRecipients + 50
const closeTimeoutMs = 2_000

/** Listens. Throws an `OperatorError` if it can't. */
export async function openListener(deps: InboundListenerDeps): Promise<InboundListener> {
  // Loaded only for listening, as the command line imports this folder's index too.
  const { SMTPServer } = await import('smtp-server')
  const { config, clock, log } = deps
  const gate = makeGate({
    connections: config.maxConnections,
    perAddress: config.connectionsPerAddress,
    perNetwork: config.connectionsPerNetwork,
    idleMs: config.idleTimeout,
    now: () => clock.now(),
    limit: (end) => clock.after(config.sessionTimeout, end),
  })
  const { begin, judge, receive } = makeTransactions({ ...deps, gate })

  const server = new SMTPServer({
    name: config.name,
    banner: 'Posthorn; relays nothing',
    size: maxMessageBytes,
    rejectOversized: true,
    maxRecipients,
    maxCommandLength: maxCommandBytes,
    socketTimeout: config.idleTimeout,
    authOptional: true,
    disabledCommands: ['AUTH'],
    ...sniOptions(deps.certificateFor),
    // Others choose that name, and looking it up takes time.
    disableReverseLookup: true,
    // The table of smtp-server has one enhanced code a reply code: 550 would always be 5.1.1.
    hideENHANCEDSTATUSCODES: true,
    // We never answer accepted mail with a report.
    hideDSN: true,
    logger: false,
    closeTimeout: closeTimeoutMs,
    onClose: (session) => gate.left(session),
    onMailFrom: (address, session, done) => answer(begin(address, session), done, deps),
    onRcptTo: (address, session, done) => answer(judge(address, session), done, deps),
    onData: (stream, session, done) => answer(receive(stream, session), done, deps),
  })
  offerNow(server, deps.certificateFor)
  takeBarePaths(server)
  takeQuotedLocals(server)
  tellPeers(server)
  boundSessions(server, {
    refused: maxRefusedCommands,
    replies: maxReplies,
    ended: () => deps.meter.count(refusals, { reply: '421 4.7.0' }),
  })
  // Clients that vanish or fail a handshake, about which an operator can do nothing.
  server.on('error', (error) => log.debug({ error }, 'Inbound connection failed'))

  const { server: net } = server
  const door = makeProxyDoor({ from: config.proxyProtocolFrom, clock, log, listener: 'inbound' })
  guardListener(net, { gate, door }, (reply) => deps.meter.count(refusals, { reply }))
  try {
    await new Promise<void>((resolve, reject) => {
      net.once('error', reject)
      server.listen(config.port, config.host, () => {
        net.off('error', reject)
        resolve()
      })
    })
  } catch (cause) {
    throw new OperatorError(
      `Cannot listen on ${config.host}:${config.port} for bounces and complaints; [inbound] of the settings has the port, or enabled = false`,
      { cause },
    )
  }
  const address = net.address()
  const port = typeof address === 'object' && address !== null ? address.port : config.port
  log.info(
    { host: config.host, port, tls: deps.certificateFor() !== undefined },
    'Listens for reports',
  )
  return {
    port,
    get connections() {
      return gate.connections
    },
    renew: () => offerNow(server, deps.certificateFor),
    async close() {
      door.close()
      await new Promise<void>((resolve) => server.close(resolve))
      gate.closeAll()
    },
  }
}

/** Answers a command when its work is done, and counts refusals. */
function answer(
  work: Promise<void>,
  done: (error?: Error | null) => void,
  { log, meter }: InboundListenerDeps,
): void {
  refuseFor(work, done, {
    refused: ({ codes }: Refusal) => meter.count(refusals, { reply: codes }),
    failed: (error) => log.error({ error }, 'Inbound mail could not be taken'),
  })
}

const refusals = 'posthorn_inbound_refusals_total'
