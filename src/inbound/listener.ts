import type { Server, Socket } from 'node:net'
import type { SMTPServerAddress, SMTPServerDataStream, SMTPServerSession } from 'smtp-server'
import type { Clock } from '../clock/index.js'
import { OperatorError } from '../errors/index.js'
import type { Log } from '../log/index.js'
import type { Meter } from '../metrics/index.js'
import type { Certificate } from './certificate.js'
import { type Gate, makeGate } from './gate.js'
import { collect, Refusal } from './incoming.js'
import type { Welcome } from './mailboxes.js'
import { networkOf } from './network.js'
import { makeQuota } from './quota.js'
import { makeRoom } from './room.js'
import { boundSessions } from './session-bounds.js'
import { examinedBytes, type Spool } from './spool.js'

export interface ListenerDeps {
  clock: Clock
  log: Log
  meter: Meter
  spool: Spool
  welcome(recipient: string): Promise<Welcome>
  /** Called after each report that was kept. */
  ring(): void
  /** Whether what comes for the operator is to be sent on. */
  mayForward(mailFrom: string): boolean
  certificate: Certificate | undefined
  config: ListenerConfig
}

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
}

export interface Listener {
  readonly port: number
  readonly connections: number
  /** Sessions from now on use it. */
  setCertificate(certificate: Certificate): void
  /** Lets transactions under way end for a moment, then closes them. */
  close(): Promise<void>
}

// notes/mta.md §3, 'Limits'.
const maxMessageBytes = 20 * 1024 * 1024
const maxMessages = 100
const maxRecipients = 100
const maxCommandBytes = 2 * 1024
const maxRefusals = 20
// Of any kind: who is asked to come again later, and goes on all the same, is no mail server.
const maxRefusedCommands = 50
// Of mails while they arrive; reports take half a mebibyte each at most.
const maxHeldBytes = { all: 64 * 1024 * 1024, perNetwork: 24 * 1024 * 1024 }
// To the operator from one network: a person writes less, and no flood pushes others' mail out.
const operatorMailsPerHour = 20
const operatorBytesPerHour = 40 * 1024 * 1024
// From one mail to the next; one for the most recipients needs about as many as these have.
const maxReplies = maxRecipients + 50
const closeTimeoutMs = 2_000
const noRoom = '452 4.3.1 Your reports are still being read, try again later'

/** What a session has been told so far. */
interface Course {
  /** By the recipient as it was given. */
  welcomed: Map<string, Welcome & { address: string }>
  refusals: number
}

/** Listens. Throws an `OperatorError` if it can't. */
export async function openListener(deps: ListenerDeps): Promise<Listener> {
  // Loaded by those who listen alone: the command line opens this folder's door too.
  const { SMTPServer } = await import('smtp-server')
  const { config, clock, log, spool } = deps
  const room = makeRoom(maxHeldBytes)
  const windowMs = 3_600_000
  const quota = makeQuota(clock, { most: operatorMailsPerHour, windowMs })
  const bytesQuota = makeQuota(clock, { most: operatorBytesPerHour, windowMs })
  const gate = makeGate({
    connections: config.maxConnections,
    perAddress: config.connectionsPerAddress,
    perNetwork: config.connectionsPerNetwork,
    idleMs: config.idleTimeout,
    now: () => clock.now(),
    limit: (end) => clock.after(config.sessionTimeout, end),
  })
  const courses = new WeakMap<SMTPServerSession, Course>()
  const courseOf = (session: SMTPServerSession): Course => {
    const course = courses.get(session) ?? { welcomed: new Map(), refusals: 0 }
    courses.set(session, course)
    return course
  }

  const begin = async (session: SMTPServerSession) => {
    courseOf(session).welcomed.clear()
    if (session.transaction > maxMessages) throw new Refusal('421 4.7.0 Enough for one connection')
    if (!spool.hasRoom(session.remoteAddress)) {
      throw new Refusal(noRoom)
    }
    gate.advanced(session)
  }

  const judge = async ({ address }: SMTPServerAddress, session: SMTPServerSession) => {
    const course = courseOf(session)
    const welcome = await deps.welcome(address)
    if (welcome.kind === 'refused') {
      // Whoever tries so many is guessing.
      if (++course.refusals > maxRefusals) throw new Refusal('421 4.7.0 Too many bad recipients')
      throw new Refusal(welcome.reply)
    }
    if (welcome.kind === 'operator' && !quota.take(networkOf(session.remoteAddress))) {
      throw new Refusal('450 4.7.1 Too much mail for the operator, try again in an hour')
    }
    course.welcomed.set(address, welcome)
    gate.advanced(session)
  }

  const receive = async (stream: SMTPServerDataStream, session: SMTPServerSession) => {
    const { welcomed } = courseOf(session)
    const { mailFrom, rcptTo } = session.envelope
    const sender = mailFrom === false ? '' : mailFrom.address
    const addressed = (kind: Welcome['kind']) => [
      ...new Set(
        rcptTo
          .map(({ address }) => welcomed.get(address))
          .filter((welcome) => welcome?.kind === kind)
          .map((welcome) => welcome?.address ?? ''),
      ),
    ]
    const operator = addressed('operator')
    const keepBytes = operator.length > 0 ? maxMessageBytes : examinedBytes
    const { remoteAddress } = session
    const network = networkOf(remoteAddress)
    const advanced = () => gate.advanced(session)
    const { raw, sizeBytes, release } = await collect(stream, {
      ...{ room, network, keepBytes, advanced },
    })
    try {
      if (operator.length > 0 && !bytesQuota.take(network, raw.length)) {
        throw new Refusal('452 4.7.1 Too much mail for the operator, try again in an hour')
      }
      const kept = await spool.keep({
        envelope: { remoteAddress, mailFrom: sender, helo: session.hostNameAppearsAs || '' },
        reports: addressed('report'),
        operator,
        raw,
        sizeBytes,
        forward: deps.mayForward(sender),
      })
      if (!kept) throw new Refusal(noRoom)
    } finally {
      release()
    }
    advanced()
    deps.ring()
  }

  const server = new SMTPServer({
    name: config.name,
    banner: 'Posthorn, for reports about its own mail; relays nothing',
    size: maxMessageBytes,
    rejectOversized: true,
    maxRecipients,
    maxCommandLength: maxCommandBytes,
    socketTimeout: config.idleTimeout,
    authOptional: true,
    disabledCommands: ['AUTH', ...(deps.certificate === undefined ? ['STARTTLS'] : [])],
    ...deps.certificate,
    // A name that others choose, and a wait for it.
    disableReverseLookup: true,
    // Its table has one enhanced code a reply code: 550 would always be 5.1.1.
    hideENHANCEDSTATUSCODES: true,
    // Nothing that we take is ever answered with a report.
    hideDSN: true,
    logger: false,
    closeTimeout: closeTimeoutMs,
    onClose: (session) => gate.left(session),
    onMailFrom: (_address, session, done) => answer(begin(session), done, deps),
    onRcptTo: (address, session, done) => answer(judge(address, session), done, deps),
    onData: (stream, session, done) => answer(receive(stream, session), done, deps),
  })
  boundSessions(server, {
    refused: maxRefusedCommands,
    replies: maxReplies,
    ended: () => deps.meter.count(refusals, { reply: '421 4.7.0' }),
  })
  // Clients that vanish or fail a handshake; nothing that an operator could do about.
  server.on('error', (error) => log.debug({ error }, 'Inbound connection failed'))

  const { server: net } = server
  guard(net, gate, deps)
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
  log.info({ host: config.host, port, tls: deps.certificate !== undefined }, 'Listens for reports')
  return {
    port,
    get connections() {
      return gate.connections
    },
    setCertificate: (certificate) => server.updateSecureContext(certificate),
    async close() {
      await new Promise<void>((resolve) => server.close(resolve))
      gate.closeAll()
    },
  }
}

/** smtp-server counts no addresses and knows no end of a session: both are seen to before it. */
function guard(net: Server, gate: Gate, { meter }: ListenerDeps): void {
  const serve = net.listeners('connection') as ((socket: Socket) => void)[]
  net.removeAllListeners('connection')
  net.on('connection', (socket: Socket) => {
    if (gate.admit(socket)) {
      for (const take of serve) take.call(net, socket)
      return
    }
    meter.count(refusals, { reply: '421 4.7.0' })
    socket.on('error', () => {})
    socket.write('421 4.7.0 Too many connections, try again later\r\n')
    socket.destroySoon()
  })
}

/** smtp-server awaits nothing: a rejected promise would be unhandled and the client left waiting. */
function answer(
  work: Promise<void>,
  done: (error?: Error | null) => void,
  { log, meter }: ListenerDeps,
): void {
  const refuse = (refusal: Refusal) => {
    meter.count(refusals, { reply: refusal.codes })
    done(refusal)
  }
  work.then(
    () => done(),
    (error: unknown) => {
      if (error instanceof Refusal) return refuse(error)
      log.error({ error }, 'Inbound mail could not be taken')
      refuse(new Refusal('451 4.3.0 Not possible just now, try again later'))
    },
  )
}

const refusals = 'posthorn_inbound_refusals_total'
